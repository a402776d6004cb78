"""Positions where arrays of booleans hold, and updates there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.basic import Nonzero

from theano.link.native.ir.ir import CannotLower, Scalar, Size, Value, View
from theano.link.native.ir.symbolic import Call, Name
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.indexing.indexing import aligned
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import MOVE
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.tasks import FindPositions, UpdateWhere


def is_mask(variable: Variable) -> bool:
    """Return whether an index says where elements are selected, and not which."""
    return variable.type.dtype == "bool"


@lowers(Nonzero)
def nonzero(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return the positions of what is not zero, one array for each dimension."""
    return list(positions(step, inputs[0], node.inputs[0]))


def positions(step: Step, value: Value, variable: Variable) -> list[View]:
    """Return where an array holds: one vector for each of its dimensions.

    Raises
    ------
    CannotLower
        Where the array is not there before the step begins: so many positions have no size.
    """
    if isinstance(variable, Constant):
        return [step.constant_array(found) for found in np.nonzero(np.asarray(variable.data))]
    mask = step.view(value)
    if not (step.invariant(mask) and mask.whole):
        raise CannotLower("a number of elements that depends on a mask of the step")
    count = _count(step, mask)
    found = [step.rows_without_gaps("int64", (count,)) for _ in range(mask.ndim)]
    step.append(Kernel([View.of(one) for one in found], [mask], FindPositions()), *found)
    return [View.of(one) for one in found]


def _count(step: Step, mask: View) -> Size:
    """Return how many elements of an array that the caller passes hold, found in the prologue."""
    # the function reads them in C order
    mask.buffer.root().packed = True
    elements = step.sizes.product(mask.shape)
    return step.sizes.name(Call("count", (Name(mask.buffer.name), elements)))


def the_only_mask(idx_list, variables: Sequence[Variable]) -> int | None:
    """Return where a mask stands among indices that are whole dimensions else, or None."""
    places = [d for d, entry in enumerate(idx_list) if not isinstance(entry, slice)]
    whole = all(entry == slice(None) for entry in idx_list if isinstance(entry, slice))
    if len(places) != 1 or not whole:
        return None
    mask = variables[idx_list[places[0]]]
    return places[0] if is_mask(mask) and not isinstance(mask, Constant) else None


def update_where(step: Step, node, inputs: list[Value], axis: int) -> list[Value]:
    """Return a copy, elements of which are set or increased where a mask over dimensions from here holds.

    How many these are need not be known: they are counted before anything is written.
    """
    value, change, mask = inputs[0], inputs[1], step.view(inputs[2])
    buffer = step.copied(value)
    same_sizes(step, mask, buffer.shape[axis:])
    source = _values(step, node, cast(step, change, value.dtype), View.of(buffer), axis, mask.ndim)
    task = UpdateWhere(axis, mask.ndim, operation_of_update(node.op, value.dtype))
    target, takes = View.of(buffer), [Work(MOVE, buffer.shape)]
    if isinstance(source, Scalar):
        kernel = Kernel([target], [target, mask], task, [source.symbol], takes=takes)
    else:
        text = f"{node.op}: other than one value for each element where the mask holds"
        failure, reads = (ValueError, text), [target, mask, source]
        kernel = Kernel([target], reads, task, (), failure, checks_apart=True, takes=takes)
    step.append(kernel, buffer)
    return [View.of(buffer)]


def operation_of_update(op: Any, dtype: str) -> str:
    """Return how an indexing operation changes elements."""
    return "set" if op.set_instead_of_inc else "or" if dtype == "bool" else "add"


def same_sizes(step: Step, mask: Value, shape: Sequence[Size]) -> None:
    """State that a mask has the sizes of the first dimensions of what it selects from."""
    for size, own in zip(mask.shape, shape, strict=False):
        step.sizes.equal(size, own, "sizes of a mask and of what it selects from")


def _values(step: Step, node, change: Value, target: View, axis: int, masked: int) -> View | Scalar:
    """Return the values of an update, where all that the mask covers is one dimension."""
    after = target.shape[axis + masked :]
    own = len(after) + 1
    broadcast = change.ndim < own or node.inputs[1].type.broadcastable[-own]
    rows: Size = 1 if broadcast else change.shape[-own]
    shape = (*target.shape[:axis], rows, *after)
    if change.ndim > len(shape):
        raise CannotLower("values of an update with more dimensions than what they update")
    ndim = len(shape)
    like = View(target.buffer, shape, (None,) * ndim, (0,) * ndim, (0,) * target.ndim)
    return aligned(step, change, node.inputs[1], like)
