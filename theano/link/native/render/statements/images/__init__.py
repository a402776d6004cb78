"""Statements that work on one image after the other, in C."""
