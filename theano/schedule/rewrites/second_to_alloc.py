"""A filled value becomes an array of its shape, whose type is that of the filled value.

PyTensor asks for the type by rewriting what computes the lengths, which in a stack of loops is the
whole graph below: a time that grows with the square of the graph.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import Alloc, as_tensor_variable, cast, second
from pytensor.tensor.type import TensorType

from theano.pytensor_base.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_base.operations.tensor_rewrites import (
    broadcasted_by,
    get_simplified_broadcast_shape,
)


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
        lengths = [as_tensor_variable(length) for length in shape]
        known = [
            int(length.data) if isinstance(length, Constant) else size
            for length, size in zip(lengths, filled.type.shape, strict=True)
        ]
        kind = TensorType(filled.type.dtype, known)
        result = Apply(Alloc(), [value, *lengths], [kind()]).out
    copy_stack_trace(filled, result)
    return [result]
