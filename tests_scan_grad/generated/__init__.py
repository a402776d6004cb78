"""Loops that are drawn at random, and what they agree with."""
