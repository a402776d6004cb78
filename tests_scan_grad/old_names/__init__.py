"""Theano's names: which there are, and that they do as Theano's did."""
