"""C loops of reductions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theano.link.native.emit.looks import between_looks, declared, going_on, in_blocks
from theano.link.native.emit.maps import ACCUMULATE
from theano.link.native.ir.ir import Reduce, Scalar, Size, View
from theano.link.native.ir.layout import Product, place_of
from theano.link.native.ir.scalar_types import C_TYPES, FLOATS, literal
from theano.link.native.ir.sizes import Sizes
from theano.link.native.passes.work_sharing import Share

IDENTITY = {"add": 0, "multiply": 1, "multiply without zeros": 0, "or": 0, "exclusive or": 0}


def emit_reduce(
    statement: Reduce, sizes: Sizes, share: Share | None = None, looks: bool = False
) -> list[str]:
    """A reduction: in rows where the last dimension stays, else one result at a time.

    A thread's share is a range of one of the dimensions that stay. Where it looks up for signals, it
    ends early when one came.
    """
    view, axes = statement.source, statement.axes
    place = place_of(view, sizes)
    kept = [d for d in range(view.ndim) if d not in axes]
    if isinstance(statement.target, Scalar):
        target = [Product(0)] * view.ndim
        pointer = ""
    else:
        out = place_of(statement.target, sizes)
        pointer = out.pointer
        strides = iter(out.strides)
        target = [next(strides) if d in kept else Product(0) for d in range(view.ndim)]
    working = C_TYPES[statement.dtype]
    lines = ["{", f"{C_TYPES[view.dtype]} *const x = {place.pointer};"]
    if isinstance(statement.target, View):
        lines.append(f"{C_TYPES[statement.target.dtype]} *const y = {pointer};")
    rows = (
        bool(kept)
        and bool(axes)
        and kept[-1] == view.ndim - 1
        and statement.target.dtype == statement.dtype
    )
    writer = _reduce_in_rows if rows else _reduce_one_by_one
    shape = [sizes.find(size) for size in view.shape]
    between = between_looks() if looks else 0
    loops = [_Loop(d, size, share, between) for d, size in enumerate(shape)]
    lines += declared(between)
    lines += writer(statement, loops, kept, place.strides, target, working)
    return [*lines, "}"]


def _offset(strides: Sequence[Product], dims: Sequence[int]) -> str:
    terms = [f"i{d} * ({strides[d].text})" for d in dims if strides[d].factor]
    return " + ".join(terms) or "0"


@dataclass(frozen=True)
class _Loop:
    """The loop over one dimension, all of it or a thread's share; ``looks`` as in looks.py."""

    dimension: int
    size: Size
    share: Share | None
    looks: int

    @property
    def bounds(self) -> tuple[str, str]:
        if self.share is not None and self.dimension == self.share.dimension:
            return self.share.first, self.share.end
        return "0", str(self.size)

    @property
    def head(self) -> str:
        """As one of the loops around the innermost."""
        first, end = self.bounds
        i = f"i{self.dimension}"
        return f"for (int64_t {i} = {first}; {i} < {end}{going_on(self.looks)}; {i}++) {{"

    def innermost(self, body: Sequence[str], before: str = "") -> list[str]:
        """As the loop over single elements."""
        i = f"i{self.dimension}"

        def block(first: str, end: str) -> list[str]:
            head = f"for (int64_t {i} = {first}; {i} < {end}; {i}++) {{"
            return [*([before] if before else []), head, *body, "}"]

        return in_blocks(self.looks, *self.bounds, block)


def _first(statement: Reduce) -> str:
    if statement.operation in IDENTITY:
        return literal(IDENTITY[statement.operation], statement.dtype)
    if statement.operation == "and":
        # all bits set
        return "1" if statement.dtype == "bool" else f"({C_TYPES[statement.dtype]})~0ll"
    low = statement.operation == "maximum"
    if statement.dtype in FLOATS:
        return "(-__builtin_inf())" if low else "__builtin_inf()"
    if statement.dtype == "bool":
        return "0" if low else "1"
    info = np.iinfo(statement.dtype)
    return literal(info.min if low else info.max, statement.dtype)


def _reduce_in_rows(statement, loops, kept, source, target, working) -> list[str]:
    left = f"y[{_offset(target, kept)}]"
    lines = [loops[d].head for d in kept[:-1]]
    lines += loops[kept[-1]].innermost([f"{left} = {_first(statement)};"])
    lines += ["}"] * len(kept[:-1])
    lines += [loop.head for loop in loops[:-1]]
    right = f"({working})x[{_offset(source, range(len(loops)))}]"
    one = f"{left} = {ACCUMULATE[statement.operation].format(left, right)};"
    lines += loops[-1].innermost([one], "TN_INDEPENDENT")
    return [*lines, *["}"] * len(loops[:-1])]


# Partial results of a reduction along neighbouring elements, so that they need not wait for
# one another.
LANES = 16


def _reduce_one_by_one(statement, loops, kept, source, target, working) -> list[str]:
    lines = [loops[d].head for d in kept]
    axes = [d for d in range(len(loops)) if d not in kept]
    accumulate = ACCUMULATE[statement.operation]
    in_lanes = bool(axes) and source[axes[-1]].text == "1"
    total, first = ("lanes[0]" if in_lanes else "total"), _first(statement)
    if in_lanes:
        each = f"for (int lane = 0; lane < {LANES}; lane++)"
        lines += [f"{working} lanes[{LANES}];", f"{each} lanes[lane] = {first};"]
        lines += [
            *[loops[d].head for d in axes[:-1]],
            *_in_lanes(statement, loops[axes[-1]], _offset(source, [*kept, *axes[:-1]]), working),
            *["}"] * (len(axes) - 1),
            f"for (int count = {LANES} / 2; count; count /= 2)",
            "for (int lane = 0; lane < count; lane++) "
            f"lanes[lane] = {accumulate.format('lanes[lane]', 'lanes[lane + count]')};",
        ]
    else:
        one = f"const {working} x_ = ({working})x[{_offset(source, range(len(loops)))}];"
        body = [one, f"total = {accumulate.format('total', 'x_')};"]
        lines.append(f"{working} total = {first};")
        if axes:
            lines += [loops[d].head for d in axes[:-1]]
            body = [*loops[axes[-1]].innermost(body), *["}"] * (len(axes) - 1)]
        lines += body
    if isinstance(statement.target, Scalar):
        lines.append(f"{statement.target.expression} = {total};")
    else:
        lines.append(f"y[{_offset(target, kept)}] = {total};")
    return [*lines, *["}"] * len(kept)]


def _in_lanes(statement: Reduce, loop: _Loop, offset: str, working: str) -> list[str]:
    """Neighbouring elements, so many at a time; blocks between looks hold whole numbers of lanes."""
    accumulate = ACCUMULATE[statement.operation]
    one = accumulate.format("lanes[lane]", f"({working})row[i + lane]")

    def block(first: str, end: str) -> list[str]:
        return [
            f"int64_t i = {first};",
            f"for (; i + {LANES} <= {end}; i += {LANES})",
            f"for (int lane = 0; lane < {LANES}; lane++) lanes[lane] = {one};",
            f"for (int lane = 0; i + lane < {end}; lane++) lanes[lane] = {one};",
        ]

    row = f"{C_TYPES[statement.source.dtype]} *const row = x + {offset};"
    return [row, *in_blocks(loop.looks, *loop.bounds, block)]
