"""Recognising arrays of zeros."""

from __future__ import annotations

from pytensor.graph.basic import Constant, Variable
from pytensor.scalar.basic import Second
from pytensor.tensor.basic import Alloc
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import Subtensor


def is_zero(variable: Variable) -> bool:
    """Return whether a value is known to be zero everywhere."""
    while variable.owner is not None:
        node = variable.owner
        if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, Second):
            variable = node.inputs[1]
        elif isinstance(node.op, Alloc | DimShuffle | SpecifyShape | Reshape | Subtensor):
            variable = node.inputs[0]
        else:
            return False
    return isinstance(variable, Constant) and not variable.data.any()
