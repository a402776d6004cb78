"""Sums and products of more operands than NumPy's functions take, for engines that run NumPy.

Of more than two operands PyTensor computes each element in Python, where integers do not wrap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Add, Mul
from pytensor.tensor.basic import cast
from pytensor.tensor.elemwise import Elemwise

from theano.pytensor_base.graphs.rewriting import copy_stack_trace, node_rewriter

# PyTensor's Elemwise runs in Python up to so many, the result not included.
MOST_OPERANDS = 31
MOST_INTEGERS = 2


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
    made: Any = node.inputs[0]
    for operand in node.inputs[1:]:
        made = op(made, operand)
    result = old.type.filter_variable(cast(made, old.type.dtype))
    copy_stack_trace(old, result)
    return [result]
