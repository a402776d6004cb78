"""An array of zeros to which something was written, plus an array: a write to that array.

PyTensor's rewrite writes to the rest of the sum whatever its type is: where that is broadcast in
the sum, the sum has its shape, and where the zeros had a wider dtype, its dtype. And it adds
what was set, which at a place that is named twice is more than the last value.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import get_underlying_scalar_constant_value
from pytensor.tensor.math import add, variadic_add
from pytensor.tensor.subtensor import AdvancedIncSubtensor, IncSubtensor

from theano.pytensor_internals.graphs.graph import properties_of
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.operations.tensor import AdvancedIncSubtensor1
from theano.pytensor_internals.operations.tensor_rewrites import has_unique_indices

_WRITES = (IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1)


@node_rewriter([add])
def sum_with_write(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``x + zeros[i].inc(v)`` -> ``x[i].inc(v)``, where x has the type and shape of the sum."""
    for place, operand in enumerate(node.inputs):
        write = operand.owner
        if write is None or not _adds_to_zeros(write):
            continue
        others = [other for k, other in enumerate(node.inputs) if k != place]
        rest: Any = variadic_add(*others)
        # a write to zeros of a narrower type rounds what is written
        if {rest.type.dtype, operand.type.dtype} != {node.outputs[0].type.dtype}:
            continue
        if not any(_has_shape_of(graph, other, write.inputs[0]) for other in others):
            continue
        kind: Any = type(write.op)
        increment = kind(**(properties_of(write.op) | {"set_instead_of_inc": False}))
        result = increment(rest, *write.inputs[1:])
        copy_stack_trace(node.outputs[0], result)
        return [result]
    return None


def _adds_to_zeros(write: Apply) -> bool:
    """Return whether an increment of zeros would be the same: each place is written to once."""
    if not isinstance(write.op, _WRITES):
        return False
    base, _, *indices = write.inputs
    value = get_underlying_scalar_constant_value(base, elemwise=False, raise_not_constant=False)
    if isinstance(value, Variable) or value != 0:
        return False
    if is_a(write.op, IncSubtensor):
        return True
    return all(has_unique_indices(index) for index in indices)


def _has_shape_of(graph: FunctionGraph, variable: Variable, zeros: Any) -> bool:
    """Return whether a variable is known to have the shape of an array of zeros."""
    if variable.type.broadcastable != zeros.type.broadcastable:
        return False
    if None not in variable.type.shape:
        return variable.type.shape == zeros.type.shape
    shapes = getattr(graph, "shape_feature", None)
    return shapes is not None and shapes.same_shape(variable, zeros)
