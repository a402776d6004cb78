"""Numbers that are lengths of arrays, or computed from such, and so not negative."""

from __future__ import annotations

from pytensor.graph.basic import Constant, Variable
from pytensor.scalar.basic import Add, IntDiv, Maximum, Minimum, Mul
from pytensor.tensor.basic import MakeVector
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.type import lscalar

from theano.pytensor_internals.graphs.kinds import is_a

# how many of the operands of an operation must not be negative for the result not to be
_KEEP_THE_SIGN = {Add: all, IntDiv: all, Maximum: any, Minimum: all, Mul: all}
_IS_LENGTH = "is_length"


def symbol_of_length() -> Variable:
    """Return a number that stands for the length of an array."""
    symbol: Variable = lscalar()
    setattr(symbol.tag, _IS_LENGTH, True)
    return symbol


def is_not_negative(number: Variable) -> bool:
    """Return whether it is known to be zero or more."""
    if is_a(number, Constant):
        return bool(number.data >= 0)
    node = number.owner
    if node is None:
        return hasattr(number.tag, _IS_LENGTH)
    if is_a(node.op, Elemwise):
        enough = _KEEP_THE_SIGN.get(type(node.op.scalar_op))
        return enough is not None and enough(map(is_not_negative, node.inputs))
    if is_a(node.op, Shape_i):
        return True
    read = node.inputs[0].owner if is_a(node.op, Subtensor) else None
    if read is None:
        return False
    if is_a(read.op, MakeVector):
        return all(map(is_not_negative, read.inputs))
    return is_a(read.op, Shape)
