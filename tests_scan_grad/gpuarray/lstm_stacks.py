"""Small stacks of LSTM layers for the tests of `RNNBlock`."""

import numpy as np

import theano.tensor as T

STEPS, LAYERS, SIZE = 4, 2, [3, 5]


def variables(dtype):
    """Symbols of the parameters, the input, the first states and the first memories."""
    return [T.vector("w", dtype), *(T.tensor3(name, dtype) for name in ("x", "h0", "c0"))]


def values_of(block, dtype):
    """Values for them."""
    batch, width = SIZE
    start = (block.layout.pseudo_layers, batch, block.layout.hidden_size)
    shapes = [(block.get_param_size(SIZE),), (STEPS, batch, width), start, start]
    rng = np.random.default_rng(5)
    return [(0.5 * rng.standard_normal(shape)).astype(dtype) for shape in shapes]
