"""Rewrites of PyTensor's that run under a condition: graphs on both sides of each condition."""
