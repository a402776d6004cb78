"""Sums and products of more operands than NumPy's functions take, for engines that run NumPy.

Of more than two operands PyTensor computes each element in Python, where integers do not wrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Add, Composite, Mul
from pytensor.tensor.basic import cast, constant
from pytensor.tensor.elemwise import Elemwise

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter

# PyTensor's Elemwise runs in Python up to so many, and the same with one result.
MOST_WITH_RESULTS = 32
MOST_OPERANDS = MOST_WITH_RESULTS - 1
MOST_INTEGERS = 2


def has_too_many_operands(node: Apply) -> bool:
    """Return whether it is an element-wise operation that Python cannot run."""
    count = len(node.inputs) + len(node.outputs)
    return isinstance(node.op, Elemwise) and count > MOST_WITH_RESULTS


@node_rewriter([Elemwise])
def few_operands(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Replace a sum or product of many by one of two at a time."""
    op: Any = node.op
    variadic = isinstance(op.scalar_op, Add | Mul) and not op.inplace_pattern
    if not variadic:
        return None
    (old,) = node.outputs
    inexact = np.dtype(old.type.dtype).kind in "fc"
    if len(node.inputs) <= (MOST_OPERANDS if inexact else MOST_INTEGERS):
        return None
    result = old.type.filter_variable(cast(_two_at_a_time(op, node.inputs), old.type.dtype))
    copy_stack_trace(old, result)
    return [result]


def _two_at_a_time(op: Elemwise, operands: Sequence[Any]) -> Any:
    made = operands[0]
    for operand in operands[1:]:
        made = op(made, operand)
    return made


@node_rewriter([Elemwise])
def few_fused_operands(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Unpack what was fused of more operands, where the user asked for fusion."""
    op: Any = node.op
    fused = isinstance(op.scalar_op, Composite) and not op.inplace_pattern
    if not fused or not has_too_many_operands(node):
        return None
    known: dict[Any, Any] = dict(zip(op.scalar_op.fgraph.inputs, node.inputs, strict=True))
    for inner in op.scalar_op.fgraph.toposort():
        operands = [
            constant(v.data, dtype=v.type.dtype) if isinstance(v, Constant) else known[v]
            for v in inner.inputs
        ]
        one = Elemwise(inner.op)
        results: Any
        if isinstance(inner.op, Add | Mul) and len(operands) > MOST_OPERANDS:
            results = [cast(_two_at_a_time(one, operands), inner.outputs[0].type.dtype)]
        else:
            results = one(*operands, return_list=True)
        known.update(zip(inner.outputs, results, strict=True))
    pairs = zip(node.outputs, op.scalar_op.fgraph.outputs, strict=True)
    made = [old.type.filter_variable(known[inner]) for old, inner in pairs]
    copy_stack_trace(node.outputs, made)
    return made
