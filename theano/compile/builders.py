"""Operators made of a graph: PyTensor's, under Theano's name."""

from pytensor.compile.builders import OpFromGraph

__all__ = ["OpFromGraph"]
