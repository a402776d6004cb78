"""Rewrites by Theano 1.0's names."""
