"""Theano 1.0's `theano.sparse.sandbox`: sparse matrices of random numbers."""
