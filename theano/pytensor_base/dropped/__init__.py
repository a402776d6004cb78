"""Operators of Theano's that PyTensor 3.3 no longer has: written here, by Theano's names."""
