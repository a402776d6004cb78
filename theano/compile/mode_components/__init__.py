"""Choices that make up a mode, by their names: linkers, and rewrites."""
