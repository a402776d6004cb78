"""Rewrites of nodes that take the place of PyTensor's, or say when those are right."""
