"""Constant arrays of the dtype in which element-wise arithmetic reads them.

    switch(c, float32[-inf, 0, ...], x)   ->   switch(c, float64[-inf, 0, ...], x)
    switch(int64[0, 1, ...], x, y)        ->   switch(bool[False, True, ...], x, y)

A constant that was computed ahead keeps the narrow dtype of its parts. To convert it in each call takes little,
but a pass over elements of two dtypes does not run on vectors, and functions take many times as long one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import LogicalComparison, Switch
from pytensor.tensor.basic import constant
from pytensor.tensor.elemwise import Elemwise

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.rewriting.rewrites.elementwise.explicit_casts import is_arithmetic

# more memory than that is not taken for the sake of time, unless it is at most twice the constant's
_MOST_BYTES = 1 << 20


@node_rewriter([Elemwise])
def constants_as_read(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Convert constant operands once that floating-point arithmetic, or a choice, converts in each call."""
    op: Any = node.op
    kind: Any = type(op.scalar_op)
    if op.inplace_pattern or len(node.outputs) != 1 or not is_arithmetic(kind):
        return None
    (old,) = node.outputs
    dtype = _computed_in(node)
    if dtype not in ("float32", "float64"):
        return None
    condition = isinstance(op.scalar_op, Switch)
    operands = [
        _as_boolean(v) if condition and not k else _converted(v, dtype)
        for k, v in enumerate(node.inputs)
    ]
    if all(a is b for a, b in zip(operands, node.inputs, strict=True)):
        return None
    (new,) = op.make_node(*operands).outputs
    if new.type.dtype != old.type.dtype:  # type: ignore[attr-defined]
        return None
    copy_stack_trace(old, new)
    return [old.type.filter_variable(new)]


def _computed_in(node: Apply) -> str:
    """Return the dtype to which a node converts its operands."""
    op: Any = node.op
    if isinstance(op.scalar_op, LogicalComparison):
        return str(np.result_type(*(v.type.dtype for v in node.inputs)))  # type: ignore[attr-defined]
    return node.outputs[0].type.dtype  # type: ignore[attr-defined]


def _as_boolean(operand: Any) -> Variable:
    """Return the booleans of a constant condition; else the operand."""
    if not isinstance(operand, Constant) or operand.type.dtype == "bool":
        return operand
    return constant(np.asarray(operand.data) != 0, name=operand.name)


def _converted(operand: Any, dtype: str) -> Variable:
    """Return a constant array of a dtype that holds its numbers; else the operand."""
    if not isinstance(operand, Constant) or operand.type.dtype in (dtype, "bool"):
        return operand
    data: Any = operand.data
    size = data.size * np.dtype(dtype).itemsize
    if (
        data.size < 2
        or not np.can_cast(data.dtype, dtype, "safe")
        or size > max(_MOST_BYTES, 2 * data.nbytes)
    ):
        return operand
    return constant(data.astype(dtype), name=operand.name)
