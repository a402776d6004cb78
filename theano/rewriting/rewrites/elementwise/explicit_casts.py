"""Element-wise arithmetic of one dtype: casts made explicit before rewriting, implicit after it.

A product of integers and floats computes in floats, whatever the dtype of its operands. PyTensor's
algebra sees the operands and not the conversion: it would move a negation or a sum into integers,
which wrap. With the conversion as a node, each rewrite works within one dtype, and what is beneath
a conversion is a leaf.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Cast, Composite, Second, Switch, get_scalar_type
from pytensor.tensor.basic import cast
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import exp

from theano.pytensor_internals.graphs.graph import compares_replacements
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace

_REASON = "explicit_casts"
# operations of users may compute another value from another dtype
_ARITHMETIC_OF = ("pytensor.scalar.", "theano.scalar")
_NO_ARITHMETIC = (Cast, Composite, Second)


def make_casts_explicit(fgraph: FunctionGraph) -> None:
    """Cast operands of element-wise arithmetic to the dtype in which it computes.

    Examples
    --------
    With ``k`` of int8 and ``x`` of float64, ``k * x`` becomes ``cast(k, "float64") * x``.
    With ``z`` of float32, ``exp(z) + x`` becomes ``exp(cast(z, "float64")) + x``: rewrites look for
    exponentials, and more of them are finite.
    """
    for node, dtype in _arithmetic_nodes(fgraph):
        # a quotient of int64 is float32 where floatX is, and no float32 holds an int64
        wide = _widest(dtype, *(v.type.dtype for v in node.inputs))
        operands = [
            _widened(v, wide) if _is_narrower(v, wide) and not _is_condition(node, k) else v
            for k, v in enumerate(node.inputs)
        ]
        if operands != node.inputs:
            _replace(fgraph, node, operands)


def make_casts_implicit(fgraph: FunctionGraph) -> None:
    """Remove the casts of operands that element-wise arithmetic converts by itself.

    A cast that is left is the one that gives the arithmetic its dtype.
    """
    for node, dtype in _arithmetic_nodes(fgraph):
        casts = [k for k, v in enumerate(node.inputs) if _is_widened(v, dtype)]
        for removed in (casts, casts[1:]):
            operands = [
                v.owner.inputs[0] if k in removed else v  # type: ignore[union-attr]
                for k, v in enumerate(node.inputs)
            ]
            if removed and _replace(fgraph, node, operands):
                break


def _arithmetic_nodes(fgraph: FunctionGraph) -> Iterator[tuple[Apply, str]]:
    """Return the nodes of real arithmetic with conversions, and their dtypes, operands first."""
    found: dict[Apply, str] = {}
    for node in fgraph.apply_nodes:
        op = node.op
        kind: Any = type(getattr(op, "scalar_op", None))
        if is_a(op, Elemwise) and is_arithmetic(kind) and len(node.outputs) == 1:
            dtype = node.outputs[0].type.dtype
            if dtype[0] in "iuf" and any(_is_converted(v, dtype) for v in node.inputs):
                found[node] = dtype
    # a set of nodes has another order in each process, and few graphs need any
    for node in in_order(fgraph) if len(found) > 1 else tuple(found):
        if node in found:
            yield node, found[node]


def _is_converted(operand: Any, dtype: str) -> bool:
    """Return whether an operand is converted to a dtype, by a cast or by the arithmetic."""
    return operand.type.dtype != dtype or _is_cast(operand.owner)


def _is_cast(node: Apply) -> bool:
    return node is not None and is_a(node.op, Elemwise) and is_a(node.op.scalar_op, Cast)


@functools.cache
def is_arithmetic(kind: Any) -> bool:
    """Return whether scalar operations of a class compute the same, whatever dtype holds the operands."""
    return kind.__module__.startswith(_ARITHMETIC_OF) and not issubclass(kind, _NO_ARITHMETIC)


def _is_condition(node: Apply, position: int) -> bool:
    return position == 0 and is_a(node.op.scalar_op, Switch)  # type: ignore[attr-defined]


def _is_narrower(operand: Any, dtype: str) -> bool:
    """Return whether an operand is converted to the dtype, and the dtype holds its values."""
    own = operand.type.dtype
    if own == dtype or own[0] == "c" or _is_constant(operand):
        return False
    return _holds(dtype, own)


def _is_constant(operand: Variable) -> bool:
    """Return whether rewrites read an operand's numbers, which a cast would hide."""
    node = operand.owner
    if node is not None and is_a(node.op, DimShuffle):
        operand = node.inputs[0]
    return is_a(operand, Constant)


def _widened(operand: Any, dtype: str) -> Variable:
    node = operand.owner
    if node is None or node.op != exp:
        return _with_lines_of(operand, cast(operand, dtype))
    exponent = node.inputs[0]
    return _with_lines_of(operand, exp(_with_lines_of(exponent, cast(exponent, dtype))))


def _with_lines_of(old: object, new: object) -> Any:
    copy_stack_trace(old, new)
    return new


@functools.cache
def _widest(*dtypes: str) -> str:
    return str(np.result_type(*dtypes))


@functools.cache
def _holds(wide: str, narrow: str) -> bool:
    return np.promote_types(wide, narrow) == wide


def _is_widened(operand: Any, dtype: str) -> bool:
    node = operand.owner
    return _is_cast(node) and operand.type.dtype == dtype and _is_narrower(node.inputs[0], dtype)


def _replace(fgraph: FunctionGraph, node: Apply, operands: list[Variable]) -> bool:
    """Let a node read other operands, unless what it computes would have fewer digits then."""
    (old,) = node.outputs
    if not compares_replacements(fgraph) and _reads_in_place(node, operands):
        for place, operand in enumerate(operands):
            fgraph.change_node_input(
                node, place, operand, reason=_REASON, import_missing=True, check=False
            )
        return True
    try:
        (new,) = node.op.make_node(*operands).outputs
    except TypeError:
        # booleans have no negation, for one
        return False
    if new.type.dtype != old.type.dtype:
        if not _holds(new.type.dtype, old.type.dtype):
            return False
        new = cast(new, old.type.dtype)
    new.name = old.name
    copy_stack_trace(old, new)
    fgraph.replace(old, new, reason=_REASON, import_missing=True)
    return True


def _reads_in_place(node: Apply, operands: list[Variable]) -> bool:
    """Return whether a node computes the same type from other operands, so that it can be kept."""
    op: Any = node.op
    dtypes = tuple(operand.type.dtype for operand in operands)  # type: ignore[attr-defined]
    return not op.inplace_pattern and _computed(op.scalar_op, dtypes) == node.outputs[0].type.dtype


@functools.cache
def _computed(scalar_op: Any, dtypes: tuple[str, ...]) -> str | None:
    """Return the dtype of what a scalar operation computes; None where it does not."""
    try:
        return scalar_op.make_node(*(get_scalar_type(dtype)() for dtype in dtypes)).outputs[0].dtype
    except TypeError:
        return None
