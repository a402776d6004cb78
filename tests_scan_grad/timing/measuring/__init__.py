"""Measurement of times, and what they depend on."""
