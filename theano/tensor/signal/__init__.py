"""Theano 1.0's `theano.tensor.signal`: convolution and pooling."""

from theano.support.lazy_names import lazy_names

_LAZY = {"conv": ".conv", "downsample": ".downsample", "pool": ".pool"}
__getattr__, __dir__ = lazy_names(__name__, _LAZY)

__all__ = [*_LAZY]
