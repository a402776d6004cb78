"""The older place of `conv2d`."""

from typing import Any

from pytensor.tensor.variable import TensorVariable

from theano.tensor.nnet import abstract_conv

# In Theano, False without SciPy.
imported_scipy_signal = True


def conv2d(
    input: Any,
    filters: Any,
    image_shape: Any = None,
    filter_shape: Any = None,
    border_mode: Any = "valid",
    subsample: Any = (1, 1),
) -> TensorVariable:
    """Convolve a batch of images: `theano.tensor.nnet.conv2d` with its older arguments."""
    return abstract_conv.conv2d(input, filters, image_shape, filter_shape, border_mode, subsample)
