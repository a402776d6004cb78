"""When PyTensor rewrites are right that are not right of all that they match."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.tensor.basic import Alloc
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.math import Dot, Sum, mul, true_div
from pytensor.tensor.shape import Shape

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.shifted import axes_of, less_its_largest
from theano.pytensor_internals.operations.tensor_rewrites import (
    LOGARITHMS_OF_STACKS,
    is_length_of,
    lengths_in,
)

Condition = Callable[[FunctionGraph, Apply], bool]


def of_floats(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether operands and result are real floats, which neither wrap nor have a phase."""
    return all(v.type.dtype.startswith("float") for v in (*node.inputs, *node.outputs))  # type: ignore[attr-defined]


def of_numbers(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a sum is of numbers: one of booleans may be left with one, without negation."""
    return node.outputs[0].type.dtype != "bool"


def of_determinants_that_fit(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether an operator gives the logarithm of a determinant, or of a stack of them."""
    return LOGARITHMS_OF_STACKS or node.outputs[0].type.ndim == 0


def of_signed_numbers(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether -1 can be written in the dtype of the result."""
    return np.dtype(node.outputs[0].type.dtype).kind in "ifc"


def is_elementwise(op: Op, kinds: Collection[type]) -> bool:
    """Return whether it applies a scalar operation of one of these classes to arrays."""
    return is_a(op, Elemwise) and type(op.scalar_op) in kinds


def nested_in_one_dtype(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether the sums in a sum (products in a product) have its dtype, and its overflow."""
    kind, dtype = {type(node.op.scalar_op)}, node.outputs[0].type.dtype  # type: ignore[attr-defined]
    # a sum that several sums read is not looked into: a graph has as many paths as a tree
    waiting: list[Any] = list(node.inputs)
    while waiting:
        variable = waiting.pop()
        owner = variable.owner
        if owner is None or not is_elementwise(owner.op, kind) or len(graph.clients[variable]) > 1:
            continue
        if variable.type.dtype != dtype:
            return False
        waiting.extend(owner.inputs)
    return True


def of_integers_or_true_quotient(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a quotient by one is what is divided: that of floating numbers is rounded."""
    return node.op == true_div or node.outputs[0].type.dtype.startswith(("int", "uint"))


def constants_stay_finite(graph: FunctionGraph, node: Apply, made: list[Variable]) -> bool:
    """Return whether a sum's constants are finite if they were: those of integers wrap as it does."""
    return all(np.isfinite(data).all() for data in _constants(made)) or not all(
        np.isfinite(data).all() for data in _constants(node.outputs)
    )


def constants_stay_in_range(graph: FunctionGraph, node: Apply, made: list[Variable]) -> bool:
    """Return whether a product's constants stay neither zero nor infinite, nor are rounded.

    Integers are multiplied as float64, which does not hold large ones.
    """
    before, after = _constants(node.outputs), _constants(made)
    return (
        all(map(_in_range, after)) or not all(map(_in_range, before))
    ) and _keeps_large_integers(before, after)


def _in_range(data: np.ndarray) -> bool:
    """Return whether numbers are neither infinite nor zero nor, if they are floating, almost zero."""
    if data.dtype.kind not in "fc":
        return bool(data.all())
    return bool((np.isfinite(data) & (abs(data) > np.finfo(data.dtype).tiny)).all())


def _keeps_large_integers(before: list[np.ndarray], after: list[np.ndarray]) -> bool:
    """Return whether nothing was computed from integers that float64 does not hold."""
    exact = all(data.dtype.kind not in "iu" or abs(data.item()) <= 2**53 for data in before)
    known = {data.item() for data in before} if not exact else set()
    return exact or all(data.item() in known for data in after)


def _constants(variables: list[Variable]) -> list[np.ndarray]:
    return [
        v.data
        for v in _nearby(variables)
        if is_a(v, Constant) and isinstance(v.data, np.ndarray) and v.data.size == 1
    ]


def _nearby(variables: list[Variable], levels: int = 8) -> set[Variable]:
    """Return variables, and what few levels of element-wise work compute them from."""
    found, reached = set(variables), set(variables)
    for _ in range(levels):
        reached = {
            v
            for owner in (variable.owner for variable in reached)
            if owner is not None and isinstance(owner.op, Elemwise | DimShuffle | Alloc)
            for v in owner.inputs
        } - found
        found |= reached
    return found


def not_for_a_product_of_matrices(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a new axis of element-wise work is read by more than products of matrices.

    Above the work, an axis that only a product needs would hide from a gradient's factors that they
    are a cost's terms: ``1 - s`` and ``1 - s[:, None]`` do not cancel.
    """
    work = node.inputs[0].owner
    if work is None or not is_a(work.op, Elemwise) or not node.op.is_expand_dims:  # type: ignore[attr-defined]
        return True
    return not all(is_a(client.op, Dot) for client, _ in graph.clients[node.outputs[0]])


# ---- reductions ----


def reductions_of_one_kind(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a reduction and the one that it reduces have and add up in the same dtypes."""
    inner = node.inputs[0].owner
    if inner is None or not is_a(inner.op, CAReduce):
        return True
    kinds = [
        (
            each.outputs[0].type.dtype,
            getattr(each.op, "acc_dtype", None) or each.outputs[0].type.dtype,
        )
        for each in (node, inner)
    ]
    return kinds[0] == kinds[1]


def raised_without_its_largest(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a sum of exponentials, whose logarithm a node takes, is not of ``x - x.max(axis)``.

    Such exponentials are at most one: to subtract the largest again costs a second sum and changes nothing.
    """
    summed = node.inputs[0].owner
    if summed is not None and is_a(summed.op, DimShuffle):
        summed = summed.inputs[0].owner
    if summed is None or not is_a(summed.op, Sum):
        return True
    raised = summed.inputs[0].owner
    return (
        raised is None
        or not raised.inputs
        or less_its_largest(raised.inputs[0], axes_of(summed)) is None
    )


def summed_and_scaled_up(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether what is summed was scaled by numbers that make it no smaller: -1, for instance.

    What is scaled down afterwards may overflow in the sum; powers of a factor, as many as a product
    has values, overflow and vanish.
    """
    scaled = node.inputs[0].owner
    if not is_a(node.op, Sum) or scaled is None or scaled.op != mul:
        return False
    if not of_floats(graph, node):
        return False
    factors = [v for v in scaled.inputs if all(v.type.broadcastable)]
    return bool(factors) and all(_is_no_less_than_one(v) for v in factors)


def terms_of_its_dtype(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether a sum adds up in the dtype of its terms, which may wrap there."""
    return node.inputs[0].type.dtype == node.outputs[0].type.dtype  # type: ignore[attr-defined]


def _is_no_less_than_one(factor: Variable) -> bool:
    return is_a(factor, Constant) and bool((np.abs(factor.data) >= 1).all())


def a_product_of_two_new_axes(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether what is squared and summed is a product of two arrays whose axes were moved."""
    squared = node.inputs[0].owner
    product = squared.inputs[0].owner if squared is not None and squared.inputs else None
    return product is not None and all(
        v.owner is not None and is_a(v.owner.op, DimShuffle) for v in product.inputs
    )


def of_a_column_and_a_row(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether two matrices are known to have no more than one column and one row.

    Else a product of matrices that do not fit has another error than products have.
    """
    left, right = (variable.type for variable in node.inputs)
    return bool(left.shape[-1] == 1 and right.shape[-2] == 1)


# ---- parts of arrays ----


def lengths_of_the_part_are_static(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether the specified shape of what is read has the lengths of all axes left."""
    specified, read = node.inputs[0].owner, len(node.op.idx_list)  # type: ignore[attr-defined]
    return specified is None or all(
        hasattr(length.type, "dtype") for length in specified.inputs[1 + read :]
    )


def filled_to_the_shape_of_another(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether what is filled is known to have the shape of what it is computed with."""
    result: Any = node.outputs[0]
    filled = [v for v in node.inputs if v.owner is not None and is_a(v.owner.op, Alloc)]
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
    """Return whether an axis of one array is known to be as long as an axis of another."""
    lengths = x.type.shape[axis_of_x], y.type.shape[axis_of_y]
    if (x is y and axis_of_x == axis_of_y) or (None not in lengths and lengths[0] == lengths[1]):
        return True
    return shapes is not None and shapes.same_shape(x, y, axis_of_x, axis_of_y)


def lengths_are_its_own(graph: FunctionGraph, node: Apply) -> bool:
    """Return whether an array is given the lengths that it has; one of them may be -1.

    That one length is another is an error only if the array has elements.
    """
    array: Any
    lengths: Any
    array, lengths = node.inputs
    if array.type.ndim != node.outputs[0].type.ndim or array.type.ndim == 1:
        return True
    if lengths.owner is not None and is_a(lengths.owner.op, Shape):
        return lengths.owner.inputs[0] is array
    shapes = getattr(graph, "shape_feature", None)
    others = [
        (axis, length)
        for axis, length in enumerate(lengths_in(lengths))
        if not (is_a(length, Constant) and length.data == -1)
    ]
    return len(others) >= array.type.ndim - 1 and all(
        is_length_of(length, array, axis, shape_feature=shapes) for axis, length in others
    )
