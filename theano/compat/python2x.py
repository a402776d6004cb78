"""Classes that Python 2.6 lacked, by the name under which programs before Theano 0.8 imported them."""

from collections import Counter, OrderedDict

__all__ = ["Counter", "OrderedDict"]
