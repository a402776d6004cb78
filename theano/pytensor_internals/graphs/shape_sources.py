"""The operand that a result has the shape of, whatever the others are."""

from __future__ import annotations

from pytensor.graph.basic import Variable
from pytensor.scalar.basic import second
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.subtensor import IncSubtensor


def has_the_shape_of(variable: Variable) -> Variable:
    """Return what a variable has the shape of, as the nodes that compute it say themselves."""
    while (source := _source_of_shape(variable)) is not None:
        variable = source
    return variable


def _source_of_shape(variable: Variable) -> Variable | None:
    """Return the operand that has the shape of a result, if there is one whatever the others are."""
    node = variable.owner
    if node is None:
        return None
    if isinstance(node.op, IncSubtensor):
        return node.inputs[0]
    if isinstance(node.op, Elemwise) and node.op.scalar_op == second:
        filled, value = node.inputs
        return filled if all(value.type.broadcastable) else None
    return None
