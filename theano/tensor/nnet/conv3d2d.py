"""Theano 1.0's `theano.tensor.nnet.conv3d2d`: convolutions of films, and diagonals of stacks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor import TensorLike
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.tensor.nnet.abstract_conv import conv3d as conv3d_of_volumes
from theano.tensor.nnet.correlation.geometry import NAMED_BORDERS
from theano.tensor.signal.padding import pad_last

__all__ = [
    "DiagonalSubtensor",
    "IncDiagonalSubtensor",
    "conv3d",
    "diagonal_subtensor",
    "get_diagonal_subtensor_view",
    "inc_diagonal_subtensor",
]


def conv3d(
    signals: Any,
    filters: TensorLike,
    signals_shape: Sequence[int | None] | None = None,
    filters_shape: Sequence[int | None] | None = None,
    border_mode: str | tuple[str, str, str] = "valid",
) -> TensorVariable:
    """Convolve films, whose channels come after the time, with filters.

    Parameters
    ----------
    signals : tensor of shape (B, T, C, H, W)
    filters : tensor of shape (F, KT, C, KH, KW)
    signals_shape, filters_shape : tuple of int or None, optional
        The shapes as far as they are known.
    border_mode : {'valid', 'full', 'half'}, or three of them
        One for each of time, rows and columns.

    Returns
    -------
    tensor of shape (B, T', F, H', W')

    Raises
    ------
    ValueError
        Another border mode.
    NotImplementedError
        Different border modes for rows and columns.

    See Also
    --------
    theano.tensor.nnet.conv3d : the channels come before the time.
    """
    modes = (border_mode,) * 3 if isinstance(border_mode, str) else tuple(border_mode)
    if len(modes) != 3 or not set(modes) <= set(NAMED_BORDERS):
        raise ValueError(
            f"conv3d: invalid border_mode {border_mode!r}: expected one or three of "
            f"{sorted(NAMED_BORDERS)}"
        )
    if modes[1] != modes[2]:
        raise NotImplementedError("conv3d: rows and columns must have the same border mode")
    volumes = _channels_first(pt.as_tensor_variable(signals), signals_shape)
    kernels = _channels_first(pt.as_tensor_variable(filters), filters_shape)
    if len(set(modes)) == 1:
        result = conv3d_of_volumes(volumes, kernels, border_mode=modes[0])
    else:
        sides = [NAMED_BORDERS[mode](kernels.shape[2 + axis]) for axis, mode in enumerate(modes)]
        result = conv3d_of_volumes(pad_last(volumes, sides, sides), kernels)
    return result.dimshuffle(0, 2, 1, 3, 4)


def _channels_first(x: TensorVariable, shape: Sequence[int | None] | None) -> TensorVariable:
    """Return a film or filters of a shape, with the channels before the time."""
    known = x if shape is None else pt.specify_shape(x, tuple(shape))
    return known.dimshuffle(0, 2, 1, 3, 4)


def get_diagonal_subtensor_view(x: Any, i0: int, i1: int) -> Any:
    """Return the diagonals of the matrices along two dimensions that reach across them, as a view.

    Parameters
    ----------
    x : array
    i0, i1 : int
        The dimensions of rows and of columns; at most as many columns as rows.

    Returns
    -------
    array
        With ``result[r, c] = x[columns - 1 + r - c, c]``, of as many columns, and of rows as
        remain.

    Examples
    --------
    >>> import numpy as np
    >>> get_diagonal_subtensor_view(np.arange(6).reshape(3, 2), 0, 1).tolist()
    [[2, 1], [4, 3]]
    """
    i0, i1 = int(i0), int(i1)
    columns = x.shape[i1]
    if x.shape[i0] < columns:
        raise NotImplementedError(
            f"get_diagonal_subtensor_view: expected at least {columns} rows, as many as columns, "
            f"in dimension {i0}, got {x.shape[i0]}"
        )
    index = [slice(None)] * x.ndim
    index[i0] = slice(columns - 1, None)
    below = x[tuple(index)]
    strides = list(below.strides)
    strides[i1] -= strides[i0]
    return np.lib.stride_tricks.as_strided(below, below.shape, strides)


class DiagonalSubtensor(Op):
    """The diagonals of matrices: see `get_diagonal_subtensor_view`.

    Parameters
    ----------
    inplace : bool
        Whether the result is a view.
    """

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False):
        self.inplace = inplace
        if inplace:
            self.view_map = {0: [0]}

    def make_node(self, x, i0, i1):
        """Apply it to a tensor and two of its dimensions."""
        x = pt.as_tensor_variable(x)
        axes = [pt.as_tensor_variable(axis) for axis in (i0, i1)]
        return Apply(self, [x, *axes], [pt.tensor(dtype=x.dtype, shape=(None,) * x.ndim)])

    def perform(self, node, inputs, output_storage):
        view = get_diagonal_subtensor_view(*inputs)
        output_storage[0][0] = view if self.inplace else view.copy()

    def pullback(self, inputs, outputs, cotangents):
        """Return the gradient: it lies on the diagonals."""
        x, i0, i1 = inputs
        gradient = inc_diagonal_subtensor(pt.zeros_like(x), i0, i1, cotangents[0])
        return [gradient, disconnected_type(), disconnected_type()]

    def connection_pattern(self, node):
        """Return that the dimensions have no gradients."""
        return [[True], [False], [False]]


class IncDiagonalSubtensor(Op):
    """Matrices with something added to their diagonals: see `get_diagonal_subtensor_view`.

    Parameters
    ----------
    inplace : bool
        Whether the result takes the memory of the matrices.
    """

    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False):
        self.inplace = inplace
        if inplace:
            self.destroy_map = {0: [0]}

    def make_node(self, x, i0, i1, amt):
        """Apply it to a tensor, two of its dimensions, and what is added."""
        inputs = [pt.as_tensor_variable(value) for value in (x, i0, i1, amt)]
        return Apply(self, inputs, [inputs[0].type()])

    def perform(self, node, inputs, output_storage):
        x, i0, i1, amt = inputs
        total = x if self.inplace else x.copy()
        view = get_diagonal_subtensor_view(total, i0, i1)
        view += amt
        output_storage[0][0] = total

    def pullback(self, inputs, outputs, cotangents):
        """Return the gradients of the matrices and of what is added."""
        _, i0, i1, _ = inputs
        (g,) = cotangents
        return [g, disconnected_type(), disconnected_type(), diagonal_subtensor(g, i0, i1)]

    def connection_pattern(self, node):
        """Return that the dimensions have no gradients."""
        return [[True], [False], [False], [True]]

    @shape_rule
    def infer_shape(self, node, shapes):
        """Return the shape of the matrices."""
        return [shapes[0]]


diagonal_subtensor = DiagonalSubtensor()
inc_diagonal_subtensor = IncDiagonalSubtensor()
