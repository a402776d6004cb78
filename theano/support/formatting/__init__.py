"""Formatting of messages."""
