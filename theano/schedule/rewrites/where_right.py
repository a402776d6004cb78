"""When rewrites of PyTensor's are right that are not right of all that they match."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.traversal import ancestors
from pytensor.scalar.basic import Cast, Switch
from pytensor.tensor.basic import Alloc
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.math import Sum, add, mul, neg, reciprocal, sub, true_div
from pytensor.tensor.shape import Shape
from pytensor.tensor.subtensor import AdvancedIncSubtensor, IncSubtensor, Subtensor

from theano.pytensor_base.operations.axes import axis_apart
from theano.pytensor_base.operations.tensor import unflatten_index_variables
from theano.pytensor_base.operations.tensor_rewrites import (
    LOGARITHMS_OF_STACKS,
    is_length_of,
    lengths_in,
)

Condition = Callable[[FunctionGraph, Apply], bool]

# how far the patterns of rewrites of element-wise work reach
LEVELS = 3
_OF_ONE_LEVEL = frozenset({add, sub, neg, mul, true_div, reciprocal})
_WRITES = (IncSubtensor, AdvancedIncSubtensor)
_WALKED_THROUGH = (Elemwise, DimShuffle, CAReduce, Blockwise, OpFromGraph)


def _operands(node: Apply, levels: int = LEVELS) -> Iterator[Variable]:
    """What a node of element-wise work computes from; no constants, no conditions.

    Products and sums within one another count as one level: rewrites make one of them.
    """
    reached: dict[Apply, int] = {}
    waiting = [(node, levels)]
    while waiting:
        now, left = waiting.pop()
        if reached.get(now, -1) >= left:
            continue
        reached[now] = left
        chooses = isinstance(now.op, Elemwise) and isinstance(now.op.scalar_op, Switch)
        for variable in now.inputs[chooses:]:
            owner = variable.owner
            if isinstance(variable, Constant) or (
                owner is not None
                and isinstance(owner.op, DimShuffle)
                and isinstance(owner.inputs[0], Constant)
            ):
                continue
            yield variable
            if owner is not None and isinstance(owner.op, _WALKED_THROUGH):
                further = left - (owner.op not in _OF_ONE_LEVEL)
                if further >= 0:
                    waiting.append((owner, further))


def of_one_dtype(graph: FunctionGraph, node: Apply) -> bool:
    """Whether all that is computed, and all from which it is, has the dtype of the result.

    Else a result may be computed with fewer digits, or in integers that wrap where it did not.
    """
    return _of_one_dtype(node, LEVELS)


def of_one_dtype_nearby(graph: FunctionGraph, node: Apply) -> bool:
    """The same of the products and sums that are the operands, and of what these are made of."""
    return _of_one_dtype(node, 0)


def of_one_float_dtype(graph: FunctionGraph, node: Apply) -> bool:
    """The same, of a dtype in which numbers do not wrap and absolute values are its own."""
    return _is_float(node) and of_one_dtype(graph, node)


def _of_one_dtype(node: Apply, levels: int) -> bool:
    dtype = node.outputs[0].type.dtype
    return all(v.type.dtype == dtype for v in _operands(node, levels) if hasattr(v.type, "dtype"))


def _is_float(node: Apply) -> bool:
    return node.outputs[0].type.dtype.startswith("float")


def of_determinants_that_fit(graph: FunctionGraph, node: Apply) -> bool:
    """Whether an operator gives the logarithm of a determinant, or of a stack of them."""
    return LOGARITHMS_OF_STACKS or node.outputs[0].type.ndim == 0


def of_signed_numbers(graph: FunctionGraph, node: Apply) -> bool:
    """Whether -1 can be written in the dtype of the result."""
    return np.dtype(node.outputs[0].type.dtype).kind in "ifc"


def nested_in_one_dtype(ops: Collection[Op]) -> Condition:
    """Whether the sums in a sum (products in a product) have its dtype, and so its overflow.

    Nor has a sum a boolean term, which alone may be left of it, and has no negation.
    """

    def holds(graph: FunctionGraph, node: Apply) -> bool:
        dtype = node.outputs[0].type.dtype
        waiting = list(node.inputs)
        while waiting:
            variable: Any = waiting.pop()
            owner = variable.owner
            if neg in ops and variable.type.dtype == "bool":
                return False
            if owner is None:
                continue
            if isinstance(owner.op, DimShuffle):
                waiting.extend(owner.inputs)
            elif owner.op in ops:
                if variable.type.dtype != dtype:
                    return False
                waiting.extend(owner.inputs)
        return True

    return holds


def of_integers_or_true_quotient(graph: FunctionGraph, node: Apply) -> bool:
    """Whether a quotient by one is what is divided: that of floating numbers is rounded."""
    return node.op == true_div or node.outputs[0].type.dtype.startswith(("int", "uint"))


def sum_of_its_dtype(graph: FunctionGraph, node: Apply, made: list[Variable]) -> bool:
    """Whether a sum is computed in its dtype, from constants that are finite if they were."""
    before = _constants(node.outputs)
    finite = all(np.isfinite(data).all() for data in _constants(made))
    return (finite or not all(np.isfinite(data).all() for data in before)) and not _is_cast(
        node, made
    )


def product_of_its_dtype(graph: FunctionGraph, node: Apply, made: list[Variable]) -> bool:
    """The same of a product, whose constants do not become zero, either."""
    in_range = all(map(_in_range, _constants(made)))
    return (in_range or not all(map(_in_range, _constants(node.outputs)))) and not _is_cast(
        node, made
    )


def _in_range(data: np.ndarray) -> bool:
    """Whether numbers are neither infinite nor zero nor, if they are floating, almost zero."""
    if data.dtype.kind not in "fc":
        return bool(data.all())
    return bool((np.isfinite(data) & (abs(data) > np.finfo(data.dtype).tiny)).all())


def _is_cast(node: Apply, made: list[Variable], levels: int = 8) -> bool:
    """Whether something that was computed anew, perhaps in a narrower dtype, is cast."""
    old = set(ancestors(node.outputs))

    def found(variable: Variable, levels: int) -> bool:
        owner = variable.owner
        if variable in old or owner is None or not levels:
            return False
        if not isinstance(owner.op, Elemwise | DimShuffle | Alloc):
            return False
        if isinstance(owner.op, Elemwise) and isinstance(owner.op.scalar_op, Cast):
            of: Any = owner.inputs[0]
            return of not in old and not isinstance(of, Constant)
        return any(found(v, levels - 1) for v in owner.inputs)

    return any(found(v, levels) for v in made)


def _constants(variables: list[Variable], levels: int = 8) -> list[np.ndarray]:
    found = []
    for variable in variables:
        if isinstance(variable, Constant):
            if isinstance(variable.data, np.ndarray) and variable.data.size == 1:
                found.append(variable.data)
        elif variable.owner is not None and levels:
            if isinstance(variable.owner.op, Elemwise | DimShuffle | Alloc):
                found += _constants(variable.owner.inputs, levels - 1)
    return found


# ---- reductions ----


def reductions_of_one_kind(graph: FunctionGraph, node: Apply) -> bool:
    """Whether a reduction and the one that it reduces have and add up in the same dtypes."""
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, CAReduce):
        return True
    kinds = [
        (
            each.outputs[0].type.dtype,
            getattr(each.op, "acc_dtype", None) or each.outputs[0].type.dtype,
        )
        for each in (node, inner)
    ]
    return kinds[0] == kinds[1]


def adds_up_as_by_default(graph: FunctionGraph, node: Apply) -> bool:
    """Whether a reduction has the dtypes that it has if none is asked for."""
    op: Any = node.op
    if not hasattr(op, "acc_dtype"):
        return True
    scalar_op = (op.scalar_op,) if type(op) is CAReduce else ()
    default = type(op)(*scalar_op, axis=op.axis).make_node(*node.inputs)
    kinds = [(each.outputs[0].type.dtype, each.op.acc_dtype) for each in (node, default)]
    return kinds[0] == kinds[1]


def part_of_what_adds_up_as_by_default(graph: FunctionGraph, node: Apply) -> bool:
    """The same of a reduction by an operation of its own class, of which a part is read."""
    reduction = node.inputs[0].owner
    if reduction is None or not isinstance(reduction.op, CAReduce):
        return True
    return type(reduction.op) is not CAReduce and adds_up_as_by_default(graph, reduction)


def summed_and_scaled_up(graph: FunctionGraph, node: Apply) -> bool:
    """Whether what is summed was scaled by numbers that make it no smaller: -1, for instance.

    What is scaled down afterwards may overflow in the sum; powers of a factor, as many as a product
    has values, overflow and vanish.
    """
    scaled = node.inputs[0].owner
    if not isinstance(node.op, Sum) or scaled is None or scaled.op != mul:
        return False
    if not _is_float(node) or not of_one_dtype_nearby(graph, node):
        return False
    factors = [v for v in scaled.inputs if all(v.type.broadcastable)]
    return bool(factors) and all(_is_no_less_than_one(v) for v in factors)


def _is_no_less_than_one(factor: Variable) -> bool:
    return isinstance(factor, Constant) and bool((1 <= np.abs(factor.data)).all())


def a_product_of_two_new_axes(graph: FunctionGraph, node: Apply) -> bool:
    """Whether what is squared and summed is a product of two arrays whose axes were moved."""
    squared = node.inputs[0].owner
    product = squared.inputs[0].owner if squared is not None and squared.inputs else None
    return product is not None and all(
        v.owner is not None and isinstance(v.owner.op, DimShuffle) for v in product.inputs
    )


def of_a_column_and_a_row(graph: FunctionGraph, node: Apply) -> bool:
    """Whether two matrices are known to have no more than one column and one row.

    Else a product of matrices that do not fit has another error than products have.
    """
    left, right = (variable.type for variable in node.inputs)
    return bool(left.shape[-1] == 1 and right.shape[-2] == 1)


# ---- parts of arrays ----


def _indices(node: Apply) -> list[Any]:
    """The index of a read, an element for each axis that it names."""
    op: Any = node.op
    return list(unflatten_index_variables(node.inputs[1:], op.idx_list))


def known_indices_are_wide(graph: FunctionGraph, node: Apply) -> bool:
    """Whether arithmetic on the numbers in an index is not that of few bits, which overflows."""
    return all(v.type.dtype == "int64" for v in node.inputs[1:] if isinstance(v, Constant))


def places_exist(graph: FunctionGraph, node: Apply) -> bool:
    """Whether the places that a read names by number are known to be in the array."""
    source: Any = node.inputs[0]
    for length, index in zip(source.type.shape, _indices(node), strict=False):
        if isinstance(index, slice):
            continue
        data = np.asarray(index.data) if isinstance(index, Constant) else None
        if data is None or length is None:
            return False
        if data.dtype.kind in "iu" and data.size and not _within(data, length):
            return False
    return True


def every_place_in_order(graph: FunctionGraph, node: Apply) -> bool:
    """Whether the places that a read names are known to be all that there are, in order."""
    source: Any = node.inputs[0]
    return all(
        isinstance(index, slice)
        or (isinstance(index, Constant) and _counts_up_to(np.asarray(index.data), length))
        for length, index in zip(source.type.shape, _indices(node), strict=False)
    )


def _counts_up_to(places: np.ndarray, length: int | None) -> bool:
    if length is None or places.dtype.kind not in "iu":
        return False
    return np.array_equal(places, np.arange(length))


def _within(places: np.ndarray, length: int) -> bool:
    return bool(-length <= places.min() and places.max() < length)


def places_in_axes_of_length_one_exist(graph: FunctionGraph, node: Apply) -> bool:
    """The same, of axes that are broadcast in what the array is computed from."""
    source: Any = node.inputs[0]
    owner = source.owner
    if owner is None:
        return True
    ndim = source.type.ndim
    if isinstance(owner.op, DimShuffle):
        broadcast = list(source.type.broadcastable)
    else:
        broadcast = [any(_is_one(v, axis, ndim) for v in owner.inputs) for axis in range(ndim)]
    return _single_places_exist(broadcast, _indices(node))


def _is_one(variable: Any, axis: int, ndim: int) -> bool:
    """Whether an operand has length 1 along an axis of the result."""
    own = getattr(variable.type, "broadcastable", None)
    if own is None:
        return False
    place = axis - (ndim - len(own))
    return place < 0 or own[place]


def _single_places_exist(single: list[bool], indices: list[Any]) -> bool:
    return all(
        isinstance(index, slice)
        or (isinstance(index, Constant) and _within_one(np.asarray(index.data)))
        for one, index in zip(single, indices, strict=False)
        if one
    )


def _within_one(places: np.ndarray) -> bool:
    return places.dtype.kind not in "iu" or places.size == 0 or _within(places, 1)


def joined_slices_begin_before_they_end(graph: FunctionGraph, node: Apply) -> bool:
    """Whether no slice among what is joined has its end before its start.

    ``join(0, x[a:b], x[b:c])`` is ``x[a:c]`` only where ``a <= b <= c``.
    """
    given, joined = axis_apart(node, node.inputs)
    if isinstance(given, Variable) and not isinstance(given, Constant):
        return False
    axis = int(given.data) if isinstance(given, Constant) else given
    parts = [v.owner for v in joined if v.owner is not None]
    read = [_indices(part) for part in parts if isinstance(part.op, Subtensor)]
    return all(_begins_before_it_ends(indices[axis]) for indices in read if axis < len(indices))


def _begins_before_it_ends(index: Any) -> bool:
    if not isinstance(index, slice):
        return True
    bounds = [int(v.data) if isinstance(v, Constant) else v for v in (index.start, index.stop)]
    start, stop = bounds
    if start in (None, 0) or stop is None:
        return True
    known = isinstance(start, int) and isinstance(stop, int)
    return known and start <= stop and (start < 0) == (stop < 0)


def stops_are_signed(graph: FunctionGraph, node: Apply) -> bool:
    """Whether the bounds of slices are of types that PyTensor's rewrite expects."""
    return not any(
        isinstance(index, slice)
        and isinstance(index.stop, Variable)
        and index.stop.type.dtype.startswith("uint")
        for index in _indices(node)
    )


def all_lengths_are_told(graph: FunctionGraph, node: Apply) -> bool:
    """Whether the shape that is told of what is read has no unknown length."""
    told = node.inputs[0].owner
    return told is None or all(hasattr(length.type, "dtype") for length in told.inputs[1:])


def writes_slices(graph: FunctionGraph, node: Apply) -> bool:
    """Whether a write names slices only, which are never out of range."""
    op: Any = node.op
    written = getattr(op, "idx_list", None)
    return written is not None and all(
        isinstance(index, slice) for index in unflatten_index_variables(node.inputs[2:], written)
    )


def writes_of_one_dtype(graph: FunctionGraph, node: Apply) -> bool:
    """Whether what is written, now and before, has the dtype of the array."""
    dtype = node.outputs[0].type.dtype
    before = node.inputs[0].owner
    values = [node.inputs[1], *(before.inputs[1:2] if before is not None else ())]
    return all(getattr(v.type, "dtype", dtype) == dtype for v in values)


def what_is_written_fits(graph: FunctionGraph, node: Apply, made: list[Variable]) -> bool:
    """Whether values written to all places, where they become the result, are known to be as many.

    Else nobody asks any more whether they fit.
    """
    if not isinstance(node.op, _WRITES) or isinstance(made[0].owner_op, _WRITES):
        return True
    array: Any
    values: Any
    array, values = node.inputs[:2]
    if array.type.broadcastable != values.type.broadcastable:
        # they are broadcast, which asks
        return True
    shapes = getattr(graph, "shape_feature", None)
    return all(same_length(shapes, array, k, values, k) for k in range(array.type.ndim))


def filled_to_the_shape_of_another(graph: FunctionGraph, node: Apply) -> bool:
    """Whether what is filled is known to have the shape of what it is computed with."""
    result: Any = node.outputs[0]
    filled = [v for v in node.inputs if v.owner is not None and isinstance(v.owner.op, Alloc)]
    others = [v for v in node.inputs if v not in filled]
    shapes = getattr(graph, "shape_feature", None)
    for axis in range(result.type.ndim):
        wide = [v for v in filled if not v.type.broadcastable[axis]]
        fixed = [v for v in others if not v.type.broadcastable[axis]]
        for v in wide:
            against = fixed or wide
            if not any(same_length(shapes, v, axis, other, axis) for other in against):
                return False
    return True


def same_length(shapes: Any, x: Any, axis_of_x: int, y: Any, axis_of_y: int) -> bool:
    """Whether an axis of one array is known to be as long as an axis of another."""
    lengths = x.type.shape[axis_of_x], y.type.shape[axis_of_y]
    if (x is y and axis_of_x == axis_of_y) or (None not in lengths and lengths[0] == lengths[1]):
        return True
    return shapes is not None and shapes.same_shape(x, y, axis_of_x, axis_of_y)


def lengths_are_its_own(graph: FunctionGraph, node: Apply) -> bool:
    """Whether an array is given the lengths that it has; one of them may be -1.

    That one length is another is an error only if the array has elements.
    """
    array: Any
    lengths: Any
    array, lengths = node.inputs
    if array.type.ndim != node.outputs[0].type.ndim or array.type.ndim == 1:
        return True
    if lengths.owner is not None and isinstance(lengths.owner.op, Shape):
        return lengths.owner.inputs[0] is array
    shapes = getattr(graph, "shape_feature", None)
    others = [
        (axis, length)
        for axis, length in enumerate(lengths_in(lengths))
        if not (isinstance(length, Constant) and length.data == -1)
    ]
    return len(others) >= array.type.ndim - 1 and all(
        is_length_of(length, array, axis, shape_feature=shapes) for axis, length in others
    )
