"""The older place and name of pooling."""

from theano.tensor.signal.pool import pool_2d as max_pool_2d

__all__ = ["max_pool_2d"]
