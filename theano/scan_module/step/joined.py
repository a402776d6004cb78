"""The parts of which a value is joined along one of its axes, through transposes."""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.basic import Join
from pytensor.tensor.elemwise import DimShuffle

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.operations.axes import axis_apart

# of more parts each is too narrow for its own product
MOST_PARTS = 4


def parts_along(value: Variable, axis: int) -> list[Variable] | None:
    """Return the values that, joined along an axis, are a value; None if it is not joined."""
    node = value.owner
    if node is None:
        return None
    if is_a(node.op, DimShuffle):
        order = list(node.op.new_order)
        if node.op.drop or order[axis] == "x":
            return None
        parts = parts_along(node.inputs[0], int(order[axis]))
        return None if parts is None else [_in_order(part, order) for part in parts]
    if not is_a(node.op, Join):
        return None
    along, parts = axis_apart(node, node.inputs)
    if isinstance(along, Variable):
        if not is_a(along, Constant):
            return None
        along = int(along.data)
    rank = value.type.ndim
    others = [_known_to_be_one(part, along % rank) for part in (value, *parts)]
    # of what is stretched in a sum, a join complains
    same = all(one == others[0] for one in others)
    return parts if along % rank == axis and same else None


def _known_to_be_one(value: Variable, but_for: int) -> tuple[bool, ...]:
    flags = value.type.broadcastable
    return (*flags[:but_for], *flags[but_for + 1 :])


def _in_order(part: Variable, order: Sequence[int | str]) -> Variable:
    """Return a part with its axes in another order, by one operation."""
    node = part.owner
    if node is not None and is_a(node.op, DimShuffle) and not node.op.drop:
        before = node.op.new_order
        composed = ("x" if isinstance(k, str) else before[k] for k in order)
        return known_tensor(node.inputs[0]).dimshuffle(*composed)
    return known_tensor(part).dimshuffle(*order)
