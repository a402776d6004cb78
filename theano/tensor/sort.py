"""Sorting, by Theano 1.0's names, and the largest or smallest elements."""
# ruff: noqa: F401 -- this file re-exports

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.configdefaults import config
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.sort import ArgSortOp as _PyTensorArgSortOp
from pytensor.tensor.sort import SortOp as _PyTensorSortOp
from pytensor.tensor.type import integer_dtypes
from pytensor.tensor.variable import TensorVariable

from theano.gof.op import Op
from theano.gof.stand_in import StandIn
from theano.pytensor_base.graphs.rewriting import node_rewriter, out2in
from theano.pytensor_base.operations.axes import sorting
from theano.schedule.database import FAST_COMPILE_TAG, FAST_RUN_TAG, optdb


class SortOp(metaclass=StandIn, made=_PyTensorSortOp):
    """The elements in ascending order along an axis, which is the second input.

    Parameters
    ----------
    kind : {'quicksort', 'mergesort', 'heapsort', 'stable'}
        How to sort.
    order : empty sequence or None
        For records, which tensors do not hold.
    """

    @staticmethod
    def make(kind: str, order: Sequence | None = None) -> Any:
        _check_order(order)
        return sorting(_PyTensorSortOp, kind)


class ArgSortOp(metaclass=StandIn, made=_PyTensorArgSortOp):
    """The positions of the elements in ascending order: see `SortOp`."""

    @staticmethod
    def make(kind: str, order: Sequence | None = None) -> Any:
        _check_order(order)
        return sorting(_PyTensorArgSortOp, kind)


def _check_order(order: Sequence | None) -> None:
    if order:
        raise ValueError(f"sort: expected no order, which is for records only, got {order!r}")


def sort(
    a: Any, axis: Any = -1, kind: str = "quicksort", order: Sequence | None = None
) -> TensorVariable:
    """Return the elements of `a` in ascending order along `axis`; None flattens `a` first."""
    return SortOp(kind, order)(*_along(a, axis))


def argsort(
    a: Any, axis: Any = -1, kind: str = "quicksort", order: Sequence | None = None
) -> TensorVariable:
    """Return the positions that put `a` in ascending order along `axis`: see `sort`."""
    return ArgSortOp(kind, order)(*_along(a, axis))


def _along(a: Any, axis: Any) -> tuple[TensorVariable, Any]:
    a = pt.as_tensor_variable(a)
    if axis is None:
        return a.flatten(), 0
    # Theano takes symbolic axes of any dtype, and the gradient needs a constant one.
    return a, axis.astype("int64") if isinstance(axis, Variable) else int(axis)


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
    """The positions of the largest elements, of the smallest for a negative count."""
    length = x.shape[axis]
    if count == 0:
        raise ValueError("topk: expected a number of elements other than 0")
    if abs(count) > length:
        raise ValueError(f"topk: expected at most {length} elements along {axis}, got {abs(count)}")
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


@node_rewriter([TopKOp])
def local_useless_topk(fgraph, node):
    """Compute only the values, or only the positions, where nothing needs the others."""
    if len(node.outputs) == 1:
        return False
    unused = [not fgraph.clients[output] for output in node.outputs]
    if unused.count(True) != 1:
        return False
    op = node.op
    values, indices = (not nobody_needs_it for nobody_needs_it in unused)
    lean = TopKOp(op.axis, op.sorted, op.idx_dtype, return_values=values, return_indices=indices)
    return {node.outputs[0 if values else 1]: lean(*node.inputs)}


# after PyTensor's canonicalize (1)
optdb.register(
    "local_useless_topk", out2in(local_useless_topk), FAST_RUN_TAG, FAST_COMPILE_TAG, position=1.2
)


def topk_and_argtopk(
    x: Any, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> tuple[TensorVariable, TensorVariable]:
    """Return the `kth` largest elements along `axis` and their positions.

    Parameters
    ----------
    x : tensor
    kth : int
        How many elements; a negative number asks for the smallest ones.
    axis : int or None
        The dimension to look along; None flattens `x` first.
    sorted : bool
        Whether the elements come in descending order; otherwise in any order.
    idx_dtype : str
        The dtype of the positions.

    Returns
    -------
    pair of TensorVariable
        Of length ``abs(kth)`` along `axis`.

    Raises
    ------
    ValueError
        When the function runs: `kth` is 0, or larger than the length of `x` along `axis`.
    """
    if axis is None:
        x, axis = pt.as_tensor_variable(x).flatten(), 0
    values, positions = TopKOp(axis, sorted, idx_dtype)(x, kth)
    return values, positions


def topk(
    x: Any, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> TensorVariable:
    """Return the `kth` largest elements along `axis`: see `topk_and_argtopk`."""
    return topk_and_argtopk(x, kth, axis, sorted, idx_dtype)[0]


def argtopk(
    x: Any, kth: Any, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> TensorVariable:
    """Return the positions of the `kth` largest elements: see `topk_and_argtopk`."""
    return topk_and_argtopk(x, kth, axis, sorted, idx_dtype)[1]
