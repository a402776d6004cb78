"""Theano 1.0.5's own tests, run against this ``theano``."""
