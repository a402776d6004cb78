"""Behaviour of variables: their truth, new axes, and `eval`."""
