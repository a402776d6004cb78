"""Helpers on graphs that programs import from here, by Theano 1.0's names."""

from pytensor.graph.basic import equal_computations

__all__ = ["equal_computations"]
