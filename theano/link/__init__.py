"""Engines: what turns a rewritten graph into a program."""
