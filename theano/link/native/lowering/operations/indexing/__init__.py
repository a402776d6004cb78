"""Reads and writes at positions."""
