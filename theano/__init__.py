"""Theano 1.0's public names over PyTensor, with a loop whose gradient recomputes nothing."""

# Flags first: some of them must reach PyTensor before it is imported.
from theano import configdefaults  # isort: skip  # noqa: F401
from theano.configparser import change_flags, config
from theano.version import version as __version__

__all__ = ["__version__", "change_flags", "config"]
