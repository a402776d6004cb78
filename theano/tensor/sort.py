"""Sorting, by Theano 1.0's names, and the largest or smallest elements."""

from collections.abc import Sequence
from typing import Any

import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.tensor import TensorLike
from pytensor.tensor.sort import ArgSortOp as _PyTensorArgSortOp
from pytensor.tensor.sort import SortOp as _PyTensorSortOp
from pytensor.tensor.variable import TensorVariable

from theano.gof.stand_in import StandIn
from theano.pytensor_internals.graphs.annotations import known_tensor, known_tensors
from theano.pytensor_internals.graphs.rewriting import node_rewriter, out2in
from theano.pytensor_internals.operations.axes import sorting
from theano.rewriting.database import FAST_COMPILE_TAG, FAST_RUN_TAG, optdb
from theano.tensor.largest_elements import TopKOp


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
    a: TensorLike, axis: object = -1, kind: str = "quicksort", order: Sequence | None = None
) -> TensorVariable:
    """Return the elements of `a` in ascending order along `axis`; None flattens `a` first."""
    return known_tensor(SortOp.make(kind, order)(*_along(a, axis)))


def argsort(
    a: TensorLike, axis: object = -1, kind: str = "quicksort", order: Sequence | None = None
) -> TensorVariable:
    """Return the positions that put `a` in ascending order along `axis`: see `sort`."""
    return known_tensor(ArgSortOp.make(kind, order)(*_along(a, axis)))


def _along(a: TensorLike, axis: Any) -> tuple[TensorVariable, Any]:
    a = pt.as_tensor_variable(a)
    if axis is None:
        return a.flatten(), 0
    # Theano takes symbolic axes of any dtype, and the gradient needs a constant one.
    return a, known_tensor(axis).astype("int64") if isinstance(axis, Variable) else int(axis)


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
    x: TensorLike, kth: object, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
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
    values, positions = known_tensors(TopKOp(axis, sorted, idx_dtype)(x, kth))
    return values, positions


def topk(
    x: TensorLike, kth: object, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> TensorVariable:
    """Return the `kth` largest elements along `axis`: see `topk_and_argtopk`."""
    return topk_and_argtopk(x, kth, axis, sorted, idx_dtype)[0]


def argtopk(
    x: TensorLike, kth: object, axis: int | None = -1, sorted: bool = True, idx_dtype: str = "int64"
) -> TensorVariable:
    """Return the positions of the `kth` largest elements: see `topk_and_argtopk`."""
    return topk_and_argtopk(x, kth, axis, sorted, idx_dtype)[1]
