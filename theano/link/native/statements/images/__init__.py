"""Kinds of statements that work on one image after the other."""
