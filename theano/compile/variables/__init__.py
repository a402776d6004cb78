"""Behaviour of variables: their boolean value, new axes, and `eval`."""
