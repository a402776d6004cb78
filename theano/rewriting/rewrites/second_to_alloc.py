"""A filled value becomes an array of its shape, whose type is that of the filled value.

PyTensor asks for the type by rewriting what computes the lengths, which in a stack of loops is the
whole graph below: a time that grows with the square of the graph.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import cast, second

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.operations.tensor_rewrites import (
    broadcasted_by,
    get_simplified_broadcast_shape,
)
from theano.rewriting.filled_arrays import allocated


@node_rewriter([second])
def second_to_alloc(fgraph: FunctionGraph, node: Apply) -> list[Variable]:
    """``second(a, b)`` -> ``b``, or ``alloc(b, *shape)`` where ``b`` is broadcast."""
    model: Any = node.inputs[0]
    value: Any = node.inputs[1]
    filled: Any = node.outputs[0]
    if value.type.dtype != filled.type.dtype:
        value = cast(value, filled.type.dtype)
    result: Any = value
    if broadcasted_by(value, filled):
        shape = get_simplified_broadcast_shape(value, model, fgraph=fgraph)
        known = zip(shape, filled.type.shape, strict=True)
        result = allocated(value, *(length if size is None else size for length, size in known))
    copy_stack_trace(filled, result)
    return [result]
