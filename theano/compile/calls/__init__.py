"""Calls of functions: threads that take turns, and what a call that fails leaves."""
