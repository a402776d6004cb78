"""Loops: what ``scan`` takes, what it returns, and what its states do."""
