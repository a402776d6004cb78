"""The operator of the largest elements along an axis, and their positions."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
from pytensor.configdefaults import config
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Apply
from pytensor.tensor.type import integer_dtypes

from theano.gof.op import Op


class TopKOp(Op):
    """The k largest elements along an axis, and their positions; the smallest for negative k.

    Parameters
    ----------
    axis : int
        The dimension to look along.
    sorted : bool
        Whether the elements come in descending order; otherwise in any order.
    idx_dtype : str
        The dtype of the positions.
    return_values, return_indices : bool
        Which of the two results there are.

    Raises
    ------
    TypeError, ValueError
        A parameter is not of its kind, or there is no result at all.
    IndexError
        The input does not have the axis.
    """

    __props__ = ("axis", "sorted", "return_values", "return_indices", "idx_dtype")

    def __init__(
        self,
        axis: int = -1,
        sorted: bool = True,
        idx_dtype: str = "int64",
        return_values: bool = True,
        return_indices: bool = True,
    ):
        if not isinstance(axis, int | np.integer):
            raise TypeError(f"topk: expected an integer axis, got {axis!r}")
        if idx_dtype not in integer_dtypes:
            raise TypeError(f"topk: expected an integer dtype of positions, got {idx_dtype!r}")
        if not (return_values or return_indices):
            raise ValueError("topk: expected values, positions or both to be returned, got neither")
        self.axis, self.sorted, self.idx_dtype = int(axis), sorted, idx_dtype
        self.return_values, self.return_indices = return_values, return_indices

    def make_node(self, inp, kth):
        inp, kth = pt.as_tensor_variable(inp), pt.as_tensor_variable(kth)
        ndim = inp.type.ndim
        if ndim == 0:
            raise ValueError("topk: expected a dimension to look along, got a scalar")
        if not -ndim <= self.axis < ndim:
            raise IndexError(f"topk: expected an axis of {inp.type}, got {self.axis}")
        if kth.type.ndim or kth.type.dtype not in integer_dtypes:
            raise TypeError(f"topk: expected an integer number of elements, got {kth.type}")
        shape = list(inp.type.shape)
        if shape[self.axis] != 1:
            shape[self.axis] = None
        dtypes = [inp.type.dtype] * self.return_values + [self.idx_dtype] * self.return_indices
        return Apply(self, [inp, kth], [pt.TensorType(dtype, shape=shape)() for dtype in dtypes])

    def perform(self, node, inputs, output_storage):
        x, count = inputs[0], int(inputs[1])
        positions = _positions_of_largest(x, count, self.axis, self.sorted)
        results = [np.take_along_axis(x, positions, self.axis)] if self.return_values else []
        if self.return_indices:
            results.append(positions.astype(self.idx_dtype))
        for storage, result in zip(output_storage, results, strict=True):
            storage[0] = result

    def infer_shape(self, node, input_shapes):
        shape = list(input_shapes[0])
        shape[self.axis] = abs(node.inputs[1])
        return [tuple(shape)] * len(node.outputs)

    def connection_pattern(self, node):
        return [[True] * len(node.outputs), [False] * len(node.outputs)]

    def L_op(self, inputs, outputs, output_grads):
        x, kth = inputs
        disconnected = DisconnectedType()()
        if not self.return_values:
            return [x.zeros_like(dtype=config.floatX), disconnected]
        if isinstance(output_grads[0].type, DisconnectedType):
            return [disconnected, disconnected]
        positions = outputs[1] if self.return_indices else self._positions(x, kth)
        if x.type.dtype in pt.type.discrete_dtypes:
            return [x.zeros_like(dtype=config.floatX), disconnected]
        axis, ndim = self.axis % x.type.ndim, x.type.ndim
        index = [
            positions
            if dimension == axis
            else pt.arange(x.shape[dimension]).dimshuffle(0, *["x"] * (ndim - dimension - 1))
            for dimension in range(ndim)
        ]
        return [pt.set_subtensor(x.zeros_like()[tuple(index)], output_grads[0]), disconnected]

    def _positions(self, x, kth):
        return TopKOp(self.axis, self.sorted, self.idx_dtype, return_values=False)(x, kth)


def _positions_of_largest(x: np.ndarray, count: int, axis: int, in_order: bool) -> np.ndarray:
    """Return the positions of the largest elements, of the smallest for a negative count."""
    length = x.shape[axis]
    check_count(count, length, axis)
    first = length - count if count > 0 else 0
    if abs(count) == length:
        order = np.broadcast_to(
            np.arange(length).reshape([-1] + [1] * (x.ndim - 1 - axis % x.ndim)), x.shape
        )
    else:
        order = np.argpartition(x, first if count > 0 else -count - 1, axis=axis)
    chosen = np.take(order, np.arange(first, first + abs(count)), axis=axis)
    if not in_order:
        return chosen
    ascending = np.argsort(np.take_along_axis(x, chosen, axis), axis=axis, kind="stable")
    return np.take_along_axis(chosen, np.flip(ascending, axis), axis)


def check_count(count: int, length: int, axis: int) -> None:
    """Check that so many elements, or so many of the smallest, can be had.

    Raises
    ------
    ValueError
        If it is none of them, or more than there are.
    """
    if count == 0:
        raise ValueError("topk: expected a number of elements other than 0")
    if abs(count) > length:
        raise ValueError(f"topk: expected at most {length} elements along {axis}, got {abs(count)}")
