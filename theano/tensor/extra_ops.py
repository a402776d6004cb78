"""More functions on tensors, by Theano 1.0's names."""
# ruff: noqa: F401, F403 -- this file re-exports

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.tensor import TensorLike
from pytensor.tensor.extra_ops import *
from pytensor.tensor.extra_ops import (
    Bartlett,
    CpuContiguous,
    FillDiagonal,
    FillDiagonalOffset,
    RavelMultiIndex,
    SearchsortedOp,
    UnravelIndex,
    bartlett_,
    cpu_contiguous,
    fill_diagonal_,
    fill_diagonal_offset_,
)
from pytensor.tensor.type import discrete_dtypes
from pytensor.tensor.variable import TensorVariable

from theano.tensor.as_tensor import as_tensor_variable
from theano.tensor.old.along_any_axis import CumOp, RepeatOp, Unique
from theano.tensor.old.operators import DiffOp


def repeat(x: TensorLike, repeats: Any, axis: int | None = None) -> TensorVariable:
    """Repeat each element of `x` along `axis`, or of the flattened `x` without an axis.

    Parameters
    ----------
    x : tensor
    repeats : int or vector of int
        How often: each, or each along the axis.
    axis : int, optional

    Raises
    ------
    TypeError
        `repeats` are no integers.
    """
    repeats = pt.as_tensor_variable(repeats)
    if repeats.type.dtype not in discrete_dtypes:
        raise TypeError(f"repeat: expected integers as repeats, got {repeats} of {repeats.type}")
    return pt.repeat(as_tensor_variable(x), repeats, axis=axis)


def to_one_hot(y: TensorLike, nb_class: object, dtype: object = None) -> TensorVariable:
    """Turn a vector of class numbers into a matrix with one 1 in each row.

    Parameters
    ----------
    y : integer vector
        The class of each row, at least 0 and below `nb_class`.
    nb_class : int
        The number of classes: the number of columns.
    dtype : str, optional
        The dtype of the result; ``theano.config.floatX`` if it is not given.

    Returns
    -------
    matrix of shape (y.shape[0], nb_class)

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.extra_ops.to_one_hot([1, 0], 3).eval().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    y = pt.as_tensor_variable(y)
    zeros = pt.zeros((y.shape[0], nb_class), dtype=dtype)
    return pt.set_subtensor(zeros[pt.arange(y.shape[0]), y], np.asarray(1, dtype=zeros.dtype))


def unravel_index(indices: TensorLike, dims: Any, order: str = "C", ndim: int | None = None):
    """Turn positions in a flattened array into positions along each dimension.

    Parameters
    ----------
    indices : integer tensor
        The positions in the flattened array.
    dims : sequence of int or vector
        The shape of the array.
    order : {'C', 'F'}
        How it is flattened.
    ndim : int, optional
        The number of dimensions, where `dims` is a vector of unknown length.

    Returns
    -------
    tuple of TensorVariable
    """
    if ndim is not None:
        lengths = pt.as_tensor_variable(dims)
        dims = pt.stack([lengths[axis] for axis in range(ndim)])
    return pt.unravel_index(indices, dims, order=order)
