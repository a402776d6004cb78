"""Elements picked by arrays of indices, and updates of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor

from theano.link.native.ir.ir import CannotLower, Scalar, Size, Value, View
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.indexing import (
    add_to_rows,
    aligned,
    indexed,
    is_integer_vector,
)
from theano.link.native.lowering.operations.kernels import indices, loops
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import MOVE
from theano.link.native.statements.kernel import Array, Kernel
from theano.link.native.text.expressions import signed


@dataclass(frozen=True)
class _Pick:
    """What arrays of indices pick from a view that basic indices were applied to before.

    Attributes
    ----------
    axes
        The dimensions of the view that have an array, or a number, of indices.
    common
        The shape that the arrays of indices have together.
    first
        The dimension of the result where those of the arrays begin.
    """

    view: View
    axes: tuple[int, ...]
    arrays: tuple[View | Scalar, ...]
    common: tuple[Size, ...]
    first: int

    @property
    def others(self) -> list[int]:
        return [d for d in range(self.view.ndim) if d not in self.axes]

    @property
    def shape(self) -> tuple[Size, ...]:
        kept = [self.view.shape[d] for d in self.others]
        return (*kept[: self.first], *self.common, *kept[self.first :])

    @property
    def operands(self) -> list[View]:
        return [array for array in self.arrays if isinstance(array, View)]


@lowers(AdvancedSubtensor)
def pick(step: Step, node, inputs: list[Value]) -> list[Value]:
    value, *given = inputs
    picked = _picked(step, step.view(value), node.op.idx_list, given, node.inputs[1:])
    out = step.temporary(value.dtype, picked.shape)
    result = View.of(out)

    def lines(y: Array, x: Array, *arrays: Array) -> list[str]:
        return _for_each(step, picked, x, arrays, y, lambda row, one: f"{one} = {row};")

    reads, takes = [picked.view, *picked.operands], [Work(MOVE, picked.shape)]
    step.append(Kernel([result], reads, lines, may_fail=True, takes=takes), out)
    return [result if result.ndim else step.load(result)]


@lowers(AdvancedIncSubtensor)
def update(step: Step, node, inputs: list[Value]) -> list[Value]:
    """A copy, picked elements of which are set, or increased once for each time they are named."""
    value, change, *given = inputs
    if node.op.idx_list == (0,) and is_integer_vector(node.inputs[2]):
        return add_to_rows(step, node, inputs)
    buffer = step.copied(value)
    picked = _picked(step, View.of(buffer), node.op.idx_list, given, node.inputs[2:])
    ndim = len(picked.shape)
    like = View(buffer, picked.shape, (None,) * ndim, (0,) * ndim, (0,) * len(buffer.shape))
    source = aligned(step, cast(step, change, value.dtype), node.inputs[1], like)
    operator = "=" if node.op.set_instead_of_inc else "|=" if value.dtype == "bool" else "+="
    sources = [source] if isinstance(source, View) else []

    def lines(x: Array, _: Array, *arrays: Array, checked: bool = False) -> list[str]:
        number = source.expression if isinstance(source, Scalar) else ""
        given = None if number else arrays[0]
        return _for_each(
            step,
            picked,
            x,
            arrays[len(sources) :],
            given,
            lambda row, one: f"{row} {operator} {number or one};",
            checked,
        )

    def checks(x: Array, _: Array, *arrays: Array) -> list[str]:
        rows = _rows(step, picked, x, arrays[len(sources) :], False)
        return loops(indices("i", len(picked.common)), picked.common, rows)

    reads = [picked.view, *sources, *picked.operands]
    unchecked = partial(lines, checked=True)
    takes = [Work(MOVE, picked.shape)]
    step.append(Kernel([picked.view], reads, lines, True, checks, unchecked, takes), buffer)
    return [View.of(buffer)]


def _picked(step: Step, view: View, idx_list, given: list[Value], variables) -> _Pick:
    basic = tuple(entry if isinstance(entry, slice) else slice(None) for entry in idx_list)
    axes = tuple(d for d, entry in enumerate(idx_list) if not isinstance(entry, slice))
    values = [given[idx_list[d]] for d in axes]
    if any(value.dtype == "bool" for value in values):
        raise CannotLower("an index that is an array of truth values")
    ndim = max(value.ndim for value in values)
    flags = [variables[idx_list[d]].type.broadcastable for d in axes]
    common: list[Size] = [1] * ndim
    for value, known in zip(values, flags, strict=True):
        for d in range(1, value.ndim + 1):
            if not known[-d]:
                size = value.shape[-d]
                one = common[-d] == 1
                common[-d] = size if one else step.sizes.equal(common[-d], size, "sizes of indices")
    shape = tuple(common)
    arrays = tuple(
        value if isinstance(value, Scalar) else _stretched(step.view(value), shape, known)
        for value, known in zip(values, flags, strict=True)
    )
    consecutive = axes == tuple(range(axes[0], axes[0] + len(axes)))
    first = axes[0] if consecutive else 0
    step.error(IndexError, "index out of range")
    return _Pick(indexed(step, view, basic, given), axes, arrays, shape, first)


def _stretched(view: View, shape: tuple[Size, ...], flags) -> View:
    lead = len(shape) - view.ndim
    axes = [None if known else axis for axis, known in zip(view.axes, flags, strict=True)]
    return View(view.buffer, shape, (*[None] * lead, *axes), (*[0] * lead, *view.steps), view.start)


def _for_each(
    step: Step, picked: _Pick, x: Array, arrays, other: Array | None, one, checked: bool = False
) -> list[str]:
    """Loops over what is picked: first over the arrays of indices, then over whole dimensions."""
    outer = indices("i", len(picked.common))
    inner = indices("j", len(picked.others))
    at: dict[int, str] = dict(zip(picked.others, inner, strict=True))
    at |= {axis: f"r{k}" for k, axis in enumerate(picked.axes)}
    element = x.at(*(at[d] for d in range(picked.view.ndim)))
    place = [*inner[: picked.first], *outer, *inner[picked.first :]]
    line = one(element, other.at(*place) if other is not None else "")
    body = loops(inner, [x.shape[d] for d in picked.others], [line])
    return loops(outer, picked.common, [*_rows(step, picked, x, arrays, checked), *body])


def _rows(step: Step, picked: _Pick, x: Array, arrays, checked: bool) -> list[str]:
    """Lines that name what is picked at one place of the arrays of indices."""
    outer = indices("i", len(picked.common))
    error = step.error(IndexError, "index out of range")
    views = iter(arrays)
    lines = []
    for k, (axis, array) in enumerate(zip(picked.axes, picked.arrays, strict=True)):
        text = array.expression if isinstance(array, Scalar) else next(views).at(*outer)
        size = x.shape[axis]
        lines.append(f"int64_t r{k} = {signed(Scalar(text, array.dtype))};")
        if not checked:
            lines.append(
                f"if (r{k} < -({size}) || r{k} >= {size}) {{ status = {error}; goto end; }}"
            )
        lines.append(f"if (r{k} < 0) r{k} += {size};")
    return lines
