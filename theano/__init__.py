"""Theano 1.0's public names over PyTensor, with a loop whose gradient recomputes nothing."""

from theano.version import version as __version__

__all__ = ["__version__"]
