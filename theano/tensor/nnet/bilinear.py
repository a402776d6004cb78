"""Enlarging images: new pixels lie between old ones, on straight lines."""

from collections.abc import Sequence
from math import gcd
from typing import Any

import pytensor.tensor as pt
from pytensor.tensor import TensorLike
from pytensor.tensor.variable import TensorVariable

from theano.configparser import config

__all__ = [
    "bilinear_kernel_1D",
    "bilinear_kernel_2D",
    "bilinear_upsampling",
    "frac_bilinear_upsampling",
]


def bilinear_kernel_1D(ratio: Any, normalize: bool = True) -> TensorVariable:
    """Return the weights of a pixel around it: they rise to `ratio` and fall again.

    Parameters
    ----------
    ratio : int or symbolic integer
        How many times larger images become.
    normalize : bool
        Whether to divide the weights by `ratio`.
    """
    rising = pt.arange(1, ratio + 1, dtype=config.floatX)
    weights = pt.concatenate([rising, rising[-2::-1]])
    return weights / pt.cast(ratio, config.floatX) if normalize else weights


def bilinear_kernel_2D(ratio: object, normalize: bool = True) -> TensorVariable:
    """Return the products of `bilinear_kernel_1D` with itself, as a matrix."""
    weights = bilinear_kernel_1D(ratio, normalize)
    return weights[:, None] * weights[None, :]


def bilinear_upsampling(
    input: Any,
    ratio: int | None = None,
    frac_ratio: Sequence | None = None,
    batch_size: int | None = None,
    num_input_channels: int | None = None,
    use_1D_kernel: bool = True,
) -> TensorVariable:
    """Enlarge images, with new pixels between the old ones; at the edges, pixels repeat.

    Parameters
    ----------
    input : tensor of shape (images, channels, rows, columns)
    ratio : int, optional
        How many times larger rows and columns become.
    frac_ratio : pair of int, or two such pairs, optional
        The same as a fraction, or one for rows and one for columns.
    batch_size, num_input_channels : int, optional
        The first two lengths, if they are known.
    use_1D_kernel : bool
        Whether rows are enlarged before columns; the result is the same. Fractions need False, as
        in Theano.

    Returns
    -------
    TensorVariable

    Raises
    ------
    ValueError
        Not exactly one of `ratio` and `frac_ratio` is given, or it is none that is positive.

    Examples
    --------
    >>> import numpy as np, theano.tensor as T
    >>> row = np.array([0.0, 2.0]).reshape(1, 1, 1, 2)
    >>> T.nnet.abstract_conv.bilinear_upsampling(T.constant(row), ratio=2).eval()[0, 0, 0].tolist()
    [0.0, 1.0, 2.0, 2.0]
    """
    if (ratio is None) == (frac_ratio is None):
        raise ValueError(
            "bilinear_upsampling: expected either ratio or frac_ratio, got "
            + ("neither" if ratio is None else "both")
        )
    images = pt.specify_shape(input, (batch_size, num_input_channels, None, None))
    if frac_ratio is not None:
        if use_1D_kernel:
            raise ValueError("bilinear_upsampling: frac_ratio needs use_1D_kernel=False")
        return frac_bilinear_upsampling(images, frac_ratio)
    if not isinstance(ratio, int) or ratio < 1:
        raise ValueError(f"bilinear_upsampling: expected a positive integer as ratio, got {ratio}")
    return _enlarged(images, (ratio, 1), (ratio, 1))


def frac_bilinear_upsampling(input: TensorLike, frac_ratio: Sequence) -> TensorVariable:
    """Enlarge images by a fraction: see `bilinear_upsampling`.

    Parameters
    ----------
    input : tensor of shape (images, channels, rows, columns)
    frac_ratio : pair of int, or two such pairs
        Numerator and denominator; for rows and for columns.
    """
    pairs = frac_ratio if isinstance(frac_ratio, tuple | list) else ()
    if len(pairs) == 2 and all(isinstance(pair, tuple | list) for pair in pairs):
        rows, columns = pairs
    else:
        rows = columns = pairs
    for pair in (rows, columns):
        if len(pair) != 2 or not all(isinstance(n, int) and n > 0 for n in pair):
            raise ValueError(
                "frac_bilinear_upsampling: expected a pair of positive integers, or two of them, "
                f"got {frac_ratio}"
            )
    return _enlarged(pt.as_tensor_variable(input), rows, columns)


def _enlarged(images: TensorVariable, rows: Sequence[int], columns: Sequence[int]) -> Any:
    return _along(_along(images, 2, *rows), 3, *columns)


def _along(images: TensorVariable, axis: int, numerator: int, denominator: int) -> Any:
    common = gcd(numerator, denominator)
    numerator, denominator = numerator // common, denominator // common
    length = images.shape[axis]
    new = pt.arange((length * numerator + denominator - 1) // denominator)
    # where the new pixels are among the old ones, times the numerator
    place = pt.clip(new * denominator - (numerator - 1) // 2, 0, (length - 1) * numerator)
    before = place // numerator
    after = pt.minimum(before + 1, length - 1)
    share = (place % numerator).astype(images.dtype) / pt.cast(numerator, images.dtype)
    share = share.dimshuffle(0, *("x",) * (images.ndim - 1 - axis))
    left, right = (pt.take(images, where, axis=axis) for where in (before, after))
    return left + share * (right - left)
