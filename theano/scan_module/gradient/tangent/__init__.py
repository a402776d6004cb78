"""Directional derivatives."""
