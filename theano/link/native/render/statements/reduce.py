"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Scalar, View
from theano.link.native.ir.layout import Product
from theano.link.native.ir.scalar_types import FLOATS, SUFFIX
from theano.link.native.ir.sharing import Share
from theano.link.native.ir.symbolic import Size
from theano.link.native.render.accumulate import ACCUMULATE, added_row, cleared, stored_row
from theano.link.native.render.looks import (
    between_looks,
    declared,
    going_on,
    in_blocks,
    unless_empty,
)
from theano.link.native.render.numbers_in_c import C_TYPES, literal
from theano.link.native.render.registry import renders
from theano.link.native.render.writer import Writer
from theano.link.native.statements.reduce import Reduce

IDENTITY = {"add": 0, "multiply": 1, "multiply without zeros": 0, "or": 0, "exclusive or": 0}


def libraries_of_reduction(statement: Reduce) -> set[str]:
    return {"vectors"} if in_vectors(statement) else set()


@renders(Reduce, libraries=libraries_of_reduction)
def lines_of_reduction(statement: Reduce, writer: Writer, share: Share | None) -> list[str]:
    """In rows where the last dimension stays, else one result at a time.

    Rows are added up in the results, or, where these have another type, in so many sums at a time.

    A thread's share is a range of one of the dimensions that stay. Where it looks up for
    signals, it ends early when one came.
    """
    view, kept = statement.source, statement.kept
    place = writer.place(view)
    lines = ["{", f"{C_TYPES[view.dtype]} *const x = {place.pointer};"]
    target = [Product(0)] * view.ndim
    if isinstance(statement.target, View):
        out = writer.place(statement.target)
        for d, stride in zip(kept, out.strides, strict=True):
            target[d] = stride
        lines.append(f"{C_TYPES[statement.target.dtype]} *const y = {out.pointer};")
    else:
        lines.insert(0, f"{C_TYPES[statement.target.dtype]} {writer.number(statement.target)};")
    in_rows = bool(kept) and bool(statement.axes) and kept[-1] == view.ndim - 1
    apart = in_rows and statement.target.dtype != statement.dtype
    between = between_looks(COLUMNS if apart else 0) if writer.looks else 0
    shape = writer.shape(view)
    loops = [_Loop(d, size, share, between) for d, size in enumerate(shape)]
    working = C_TYPES[statement.dtype]
    lines += declared(between)
    if apart:
        lines += _reduce_in_columns(statement, loops, kept, place.strides, target, working)
    elif in_rows:
        lines += _reduce_in_rows(statement, loops, kept, place.strides, target, working)
    elif isinstance(statement.target, Scalar):
        number = writer.number(statement.target)
        lines += _reduce_one_by_one(statement, loops, kept, place.strides, number, working)
    else:
        to = f"y[{_offset(target, kept)}]"
        lines += _reduce_one_by_one(statement, loops, kept, place.strides, to, working)
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
    def bounds(self) -> tuple[str, Size | str]:
        if self.share is not None and self.dimension == self.share.dimension:
            return self.share.first, self.share.end
        return "0", self.size

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


def neutral(statement: Reduce) -> str:
    """What a reduction begins with, in C."""
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
    first = [loops[d].head for d in kept[:-1]]
    first += loops[kept[-1]].innermost([f"{left} = {neutral(statement)};"])
    first += ["}"] * len(kept[:-1])
    right = f"({working})x[{_offset(source, range(len(loops)))}]"
    one = f"{left} = {ACCUMULATE[statement.operation].format(left, right)};"
    rest = [loop.head for loop in loops[:-1]]
    rest += loops[-1].innermost([one], "TN_INDEPENDENT")
    rest += ["}"] * len(loops[:-1])
    return [
        *unless_empty([loops[d].size for d in kept[1:]], first),
        *unless_empty([loop.size for loop in loops[1:]], rest),
    ]


# Neighbouring results whose sums lie in the first cache.
COLUMNS = 1024


def _reduce_in_columns(statement, loops, kept, source, target, working) -> list[str]:
    last, axes = kept[-1], [d for d in range(len(loops)) if d not in kept]
    first, end = loops[last].bounds
    added = _added(statement, last, _offset(source, range(len(loops))), source[last], working)
    rows = [
        *[loops[d].head for d in axes[:-1]],
        *loops[axes[-1]].innermost([added]),
        *["}"] * (len(axes) - 1),
    ]
    return unless_empty(
        [loops[d].size for d in kept[1:]],
        [
            *[loops[d].head for d in kept[:-1]],
            f"for (int64_t column = {first}; column < {end}; column += {COLUMNS}) {{",
            f"const int64_t many = tn_smaller({COLUMNS}, {end} - column);",
            f"{working} sums[{COLUMNS}];",
            cleared(statement.operation, neutral(statement)),
            *unless_empty([loops[d].size for d in axes[1:]], rows),
            _stored(statement, last, _offset(target, kept), target[last], working),
            "}",
            *["}"] * len(kept[:-1]),
        ],
    )


def _added(statement, last: int, place: str, stride: Product, working: str) -> str:
    """The line that adds the elements of a row to the sums of their columns."""
    row = C_TYPES[statement.source.dtype], f"&x[{place}]"
    added = added_row(statement.operation, (working, "sums"), row, stride)
    if added is not None:
        return f"{{ const int64_t i{last} = column; {added} }}"
    one = ACCUMULATE[statement.operation].format("sums[k]", f"({working})x[{place}]")
    return (
        f"TN_INDEPENDENT for (int64_t k = 0; k < many; k++) "
        f"{{ const int64_t i{last} = column + k; sums[k] = {one}; }}"
    )


def _stored(statement, last: int, place: str, stride: Product, working: str) -> str:
    """The line that stores the sums of columns."""
    row = C_TYPES[statement.target.dtype], f"&y[{place}]"
    stored = stored_row((working, "sums"), row, stride)
    if stored is not None:
        return f"{{ const int64_t i{last} = column; {stored} }}"
    return (
        f"for (int64_t k = 0; k < many; k++) "
        f"{{ const int64_t i{last} = column + k; y[{place}] = sums[k]; }}"
    )


# Partial results of a reduction along neighbouring elements, so that they need not wait for
# one another; TN_LANES in vectors.inc.
LANES = 16


def _are_few(size: Size) -> bool:
    """Whether elements are known to be so few that one after the other is sooner done."""
    return isinstance(size, int) and size <= LANES // 2


def in_vectors(statement: Reduce) -> bool:
    """Whether vectors.inc has functions for it: the compiler keeps their partial results in registers."""
    if _widens(statement):
        return statement.operation in ("add", "multiply")
    of_numbers = statement.operation in ("add", "multiply", "maximum", "minimum")
    return of_numbers and statement.dtype in SUFFIX and statement.dtype == statement.source.dtype


def _widens(statement: Reduce) -> bool:
    return (statement.source.dtype, statement.dtype) == ("float32", "float64")


def vector_function(statement: Reduce, part: str) -> str:
    """The function of vectors.inc that begins, goes on with a row, or ends."""
    kind = "f32_in_f64" if part == "row" and _widens(statement) else SUFFIX[statement.dtype]
    return f"tn_{statement.operation}_{part}_{kind}"


def lanes_in_vectors(statement: Reduce) -> list[str]:
    """Partial results in vectors, before the first element."""
    suffix = SUFFIX[statement.dtype]
    return [
        f"tn_{suffix}v lanes[TN_LANES / TN_WIDTH_{suffix.upper()}];",
        f"{vector_function(statement, 'begin')}(lanes);",
    ]


def _reduce_one_by_one(statement, loops, kept, source, target, working) -> list[str]:
    lines = [loops[d].head for d in kept]
    axes = [d for d in range(len(loops)) if d not in kept]
    accumulate = ACCUMULATE[statement.operation]
    in_lanes = bool(axes) and source[axes[-1]].text == "1" and not _are_few(loops[axes[-1]].size)
    total, first = ("lanes[0]" if in_lanes else "total"), neutral(statement)
    if in_lanes and in_vectors(statement):
        total = f"{vector_function(statement, 'end')}(lanes)"
        row = f"x + {_offset(source, [*kept, *axes[:-1]])}"

        def block(first: str, end: str) -> list[str]:
            return [f"{vector_function(statement, 'row')}(lanes, {row}, {first}, {end});"]

        last: _Loop = loops[axes[-1]]
        within = [
            *[loops[d].head for d in axes[:-1]],
            *in_blocks(last.looks, *last.bounds, block),
            *["}"] * (len(axes) - 1),
        ]
        lines += [
            *lanes_in_vectors(statement),
            *unless_empty([loops[d].size for d in axes[1:]], within),
        ]
    elif in_lanes:
        each = f"for (int lane = 0; lane < {LANES}; lane++)"
        lines += [f"{working} lanes[{LANES}];", f"{each} lanes[lane] = {first};"]
        within = [
            *[loops[d].head for d in axes[:-1]],
            *_in_lanes(statement, loops[axes[-1]], _offset(source, [*kept, *axes[:-1]]), working),
            *["}"] * (len(axes) - 1),
        ]
        lines += [
            *unless_empty([loops[d].size for d in axes[1:]], within),
            f"for (int count = {LANES} / 2; count; count /= 2)",
            "for (int lane = 0; lane < count; lane++) "
            f"lanes[lane] = {accumulate.format('lanes[lane]', 'lanes[lane + count]')};",
        ]
    else:
        one = f"const {working} x_ = ({working})x[{_offset(source, range(len(loops)))}];"
        body = [one, f"total = {accumulate.format('total', 'x_')};"]
        lines.append(f"{working} total = {first};")
        if axes:
            heads = [loops[d].head for d in axes[:-1]]
            body = [*heads, *loops[axes[-1]].innermost(body), *["}"] * (len(axes) - 1)]
            body = unless_empty([loops[d].size for d in axes[1:]], body)
        lines += body
    lines.append(f"{target} = {total};")
    return unless_empty([loops[d].size for d in kept[1:]], [*lines, *["}"] * len(kept)])


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
