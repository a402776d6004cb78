"""Compiled functions: arguments, modes, flags, errors, and what calls leave behind."""
