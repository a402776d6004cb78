"""What Python 2.6 lacked, by the name under which programs before Theano 0.8 imported it."""

from collections import Counter, OrderedDict

__all__ = ["Counter", "OrderedDict"]
