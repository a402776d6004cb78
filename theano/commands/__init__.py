"""The commands ``theano-cache`` and ``theano-nose``."""
