"""Lower a graph's nodes to the intermediate form: steps of loops, and segments."""

from theano.link.native.lowering.registry import lowers

__all__ = ["lowers"]
