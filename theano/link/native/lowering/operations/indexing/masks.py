"""Positions where arrays of truth values hold, and updates there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.basic import Nonzero

from theano.link.native.ir.ir import CannotLower, Scalar, Size, Value, View
from theano.link.native.ir.symbolic import Call, Name
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.indexing.indexing import aligned
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.render.arrays import Array, indices, loops
from theano.link.native.render.looks import unless_empty
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import MOVE
from theano.link.native.statements.kernel import Kernel


def is_mask(variable: Variable) -> bool:
    """Whether an index says where elements are picked, and not which."""
    return variable.type.dtype == "bool"


@lowers(Nonzero)
def nonzero(step: Step, node, inputs: list[Value]) -> list[Value]:
    """The positions of what is not zero, one array for each dimension."""
    return list(positions(step, inputs[0], node.inputs[0]))


def positions(step: Step, value: Value, variable: Variable) -> list[View]:
    """Where an array holds: one vector for each of its dimensions.

    Raises
    ------
    CannotLower
        Where the array is not there before the step begins: so many positions have no size.
    """
    if isinstance(variable, Constant):
        return [step.constant_array(found) for found in np.nonzero(np.asarray(variable.data))]
    mask = step.view(value)
    if not (step.invariant(mask) and mask.whole):
        raise CannotLower("a number of elements that a mask of the step decides")
    count = _count(step, mask)
    found = [step.rows_without_gaps("int64", (count,)) for _ in range(mask.ndim)]
    names = indices("i", mask.ndim)

    def lines(*arrays: Array) -> list[str]:
        *outs, given = arrays
        # an array that another thread changes meanwhile must not make it write elsewhere
        holds = f"if ({given.at(*names)} && k < {outs[0].shape[0]}) {{"
        each = [f"{out.at('k')} = {name};" for out, name in zip(outs, names, strict=True)]
        body = loops(names, given.shape, [holds, *each, "k++;", "}"])
        return ["int64_t k = 0;", *body, *_rest(outs)]

    step.append(Kernel([View.of(one) for one in found], [mask], lines), *found)
    return [View.of(one) for one in found]


def _rest(outs: Sequence[Array]) -> list[str]:
    """Lines that fill what such a change left unwritten."""
    zeros = " ".join(f"{out.at('k')} = 0;" for out in outs)
    return [f"for (; k < {outs[0].shape[0]}; k++) {{ {zeros} }}"]


def _count(step: Step, mask: View) -> Size:
    """How many elements of an array that the caller passes hold, found in the prologue."""
    # the function reads them in C order
    mask.buffer.root().packed = True
    elements = step.sizes.product(mask.shape)
    return step.sizes.name(Call("TN_COUNT", (Name(mask.buffer.name), elements)))


def the_only_mask(idx_list, variables: Sequence[Variable]) -> int | None:
    """Where a mask stands among indices that are whole dimensions else, or None."""
    places = [d for d, entry in enumerate(idx_list) if not isinstance(entry, slice)]
    whole = all(entry == slice(None) for entry in idx_list if isinstance(entry, slice))
    if len(places) != 1 or not whole:
        return None
    mask = variables[idx_list[places[0]]]
    return places[0] if is_mask(mask) and not isinstance(mask, Constant) else None


def update_where(step: Step, node, inputs: list[Value], axis: int) -> list[Value]:
    """A copy, elements of which are set or increased where a mask over dimensions from here holds.

    How many these are need not be known: they are counted before anything is written.
    """
    value, change, mask = inputs[0], inputs[1], step.view(inputs[2])
    buffer = step.copied(value)
    same_sizes(step, mask, buffer.shape[axis:])
    source = _values(step, node, cast(step, change, value.dtype), View.of(buffer), axis, mask.ndim)
    operator = "=" if node.op.set_instead_of_inc else "|=" if value.dtype == "bool" else "+="
    lines, checks = _lines_of_update(axis, mask.ndim, operator)
    target, takes = View.of(buffer), [Work(MOVE, buffer.shape)]
    if isinstance(source, Scalar):
        kernel = Kernel([target], [target, mask], lines, [source.symbol], takes=takes)
    else:
        text = f"{node.op}: other than one value for each element where the mask holds"
        failure, reads = (ValueError, text), [target, mask, source]
        kernel = Kernel([target], reads, lines, (), failure, checks, lines, takes)
    step.append(kernel, buffer)
    return [View.of(buffer)]


def same_sizes(step: Step, mask: Value, shape: Sequence[Size]) -> None:
    """State that a mask has the sizes of the first dimensions of what it picks from."""
    for size, own in zip(mask.shape, shape, strict=False):
        step.sizes.equal(size, own, "sizes of a mask and of what it picks from")


def _values(step: Step, node, change: Value, target: View, axis: int, masked: int) -> View | Scalar:
    """The values of an update, where all that the mask covers is one dimension."""
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


def _lines_of_update(axis: int, masked: int, operator: str):
    """What makes lines that update, and lines that only check whether there are enough values."""
    names = indices("i", masked)

    def others(x: Array) -> tuple[list[str], list[str], list[Size]]:
        count = len(x.shape) - masked
        before, after = indices("j", count)[:axis], indices("j", count)[axis:]
        return before, after, [*x.shape[:axis], *x.shape[axis + masked :]]

    def checked(mask: Array, rows: Size | str, fails: str) -> list[str]:
        counted = loops(names, mask.shape, [f"held += {mask.at(*names)};"])
        wrong = f"if ({rows} != 1 && {rows} != held) {{ {fails} }}"
        return ["{", "int64_t held = 0;", *counted, wrong, "}"]

    def lines(x: Array, _: Array, mask: Array, *given: Array | str) -> list[str]:
        source = given[0]
        before, after, sizes = others(x)
        element, one = x.at(*before, *names, *after), source
        if isinstance(source, Array):
            rows = source.shape[axis]
            one = source.at(*before, f"(({rows}) == 1 ? 0 : k)", *after)
        each = loops([*before, *after], sizes, [f"{element} {operator} {one};"])
        body = [f"if ({mask.at(*names)}) {{", *each, "k++;", "}"]
        check = checked(mask, source.shape[axis], given[1]) if len(given) == 2 else []  # type: ignore
        counts = ["int64_t k = 0;", *loops(names, mask.shape, body)]
        return [*check, *unless_empty(sizes, counts)]

    def checks(_: Array, __: Array, mask: Array, source: Array, fails: str) -> list[str]:
        return checked(mask, source.shape[axis], fails)

    return lines, checks
