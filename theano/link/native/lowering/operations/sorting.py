"""Elements in ascending order, and their positions."""

from __future__ import annotations

from collections.abc import Callable

from pytensor.tensor.sort import ArgSortOp, SortOp

from theano.link.native.ir.ir import CannotLower, Value, View
from theano.link.native.ir.scalar_types import C_TYPES
from theano.link.native.lowering.operations.kernels import looks_of
from theano.link.native.lowering.operations.shapes import constant_axis
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.render.arrays import Array, indices, loops
from theano.link.native.render.looks import declared, look_after, unless_empty
from theano.link.native.statements.base import Work
from theano.link.native.statements.kernel import Kernel
from theano.pytensor_base.operations.axes import axis_apart

# nanoseconds for an element
_SORT = 60.0


@lowers(SortOp)
def in_order(step: Step, node, inputs: list[Value]) -> list[Value]:
    """The elements along an axis, NaN last."""
    axis, (value,) = axis_apart(node, inputs)
    return [sorted_along(step, value, constant_axis(step, axis, "a sort"), positions=False)]


@lowers(ArgSortOp)
def positions_in_order(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Their positions; equal elements keep their order."""
    axis, (value,) = axis_apart(node, inputs)
    return [sorted_along(step, value, constant_axis(step, axis, "a sort"), positions=True)]


def sorted_along(step: Step, value: Value, axis: int, positions: bool) -> View:
    """The elements, or their positions, in ascending order along an axis."""
    view = step.view(value)
    axis %= view.ndim
    if view.dtype not in C_TYPES:
        raise CannotLower(f"a sort of {view.dtype}")
    length = view.shape[axis]
    out = step.temporary("int64" if positions else view.dtype, view.shape)
    orders = [step.rows_without_gaps("int64", (length,)) for _ in range(2)]
    names, looks = indices("i", view.ndim), looks_of(step)
    at = names[axis]

    def lines(y: Array, order: Array, merged: Array, x: Array) -> list[str]:
        def element(position: str) -> str:
            return x.at(*(position if name == at else name for name in names))

        place = y.at(*names)
        body = [
            *_merge_sort(C_TYPES[view.dtype], str(x.shape[axis]), order.name, merged.name, element),
            f"for (int64_t {at} = 0; {at} < {x.shape[axis]}; {at}++)",
            f"    {place} = {'from[' + at + ']' if positions else element('from[' + at + ']')};",
            *look_after(str(x.shape[axis]), looks),
        ]
        others = [d for d in range(view.ndim) if d != axis]
        around = [names[d] for d in others], [y.shape[d] for d in others]
        return [*declared(looks), *unless_empty(y.shape, loops(*around, body, looks))]

    writes = [View.of(out), *map(View.of, orders)]
    step.append(Kernel(writes, [view], lines, takes=[Work(_SORT, view.shape)]), out, *orders)
    return View.of(out)


def _merge_sort(
    kind: str, length: str, order: str, merged: str, element: Callable[[str], str]
) -> list[str]:
    """Lines that leave in ``from`` the positions in order (Knuth 1998, section 5.2.4)."""
    # NaN differs from itself, and comes after all numbers
    return [
        f"int64_t *from = {order}, *to = {merged};",
        f"for (int64_t k = 0; k < {length}; k++) from[k] = k;",
        f"for (int64_t width = 1; width < {length}; width *= 2) {{",
        f"for (int64_t first = 0; first < {length}; first += 2 * width) {{",
        f"const int64_t middle = tn_smaller(first + width, {length});",
        f"const int64_t end = tn_smaller(first + 2 * width, {length});",
        "int64_t left = first, right = middle;",
        "for (int64_t k = first; k < end; k++) {",
        "int second = left == middle;",
        "if (!second && right < end) {",
        f"const {kind} a = {element('from[left]')}, b = {element('from[right]')};",
        "second = b < a || (a != a && b == b);",
        "}",
        "to[k] = second ? from[right++] : from[left++];",
        "}",
        "}",
        "int64_t *const swapped = from;",
        "from = to;",
        "to = swapped;",
        "}",
    ]
