"""Calls of compiled functions."""
