"""The rows of sequences, states and traces in a loop's C function."""

from __future__ import annotations

import numpy as np

from theano.link.native.ir.ir import FIRST_RESULT, Argument, Scalar
from theano.link.native.lowering.loop import Loop
from theano.link.native.render.memory import elements
from theano.link.native.render.numbers_in_c import C_TYPES, in_c, number_in_c


def ring_sizes(loop: Loop) -> list[str]:
    """States of which fewer rows are kept than a step needs get their own ring."""
    lines = []
    for argument in loop.rings:
        name, materialized = argument.name, f"numbers[{argument.first_size}]"
        lines += [
            f"const int64_t {name}_ring_rows = tn_ring_rows({materialized}, {argument.history});",
            f"const int64_t {name}_rows = {name}_ring_rows ? {name}_ring_rows : {materialized};",
        ]
    return lines


def trace_shapes(loop: Loop) -> list[str]:
    """Return the lines that return the shapes of the rows of traces."""
    sizes = [size for a in loop.arguments if a.kind == "trace" for size in a.shape]
    return [f"result[{k}] = {in_c(size)};" for k, size in enumerate(sizes, FIRST_RESULT)]


def starts(loop: Loop) -> list[str]:
    """Return where states and traces lie, and which row is the first."""
    lines, first_rows = [], []
    for argument in loop.rings:
        name, history = argument.name, argument.history
        lines.append(
            f"{C_TYPES[argument.dtype]} *const {name} = tn_begin_ring({name}_ring_rows ? {name}_ring "
            f": 0, {name}_out, {_bytes(loop, argument, history)}, thread);"
        )
        if argument.in_place:
            # all steps but the last write over the first row, which they read
            lines.append(f"const int {name}_stays = {name}_rows == 2;")
        first_rows.append(f"{name}_at_row = {history}")
    for argument in loop.arguments:
        name, materialized = argument.name, f"numbers[{argument.first_size}]"
        if argument.kind in ("trace", "mit_mot"):
            lines.append(f"const int64_t {name}_rows = {materialized};")
            first = "0"
            if argument.kind == "mit_mot":
                first = f"tn_wrapped({argument.history} % {name}_rows, {name}_rows)"
            first_rows.append(f"{name}_at_row = {first}")
    return [*lines, f"int64_t {', '.join(first_rows)};"] if first_rows else lines


def _bytes(loop: Loop, argument: Argument, count: int = 1) -> str:
    """Return the bytes of so many rows."""
    return elements(loop.step, argument.shape, count * np.dtype(argument.dtype).itemsize)


def row_pointers(loop: Loop) -> list[str]:
    """Return where the rows of a step lie."""
    lines = []
    for row, argument, tap in loop.rows:
        address, kind = _address(loop, argument, tap), C_TYPES[argument.dtype]
        if isinstance(row, Scalar):
            lines.append(f"const {kind} {row.expression} = *({address});")
        else:
            lines.append(f"{kind} *const {row.name} = {address};")
    for write in loop.writes:
        if write.row is not None:
            address = _address(loop, write.argument, write.tap)
            lines.append(f"{C_TYPES[write.argument.dtype]} *const {write.row.name} = {address};")
    return lines


def _address(loop: Loop, argument: Argument, tap: int) -> str:
    name, size = argument.name, elements(loop.step, argument.shape)
    if argument.kind == "sequence":
        return f"{name} + step * numbers[{argument.first_size}]"
    row = f"{name}_at_row"
    if tap:
        row = f"tn_wrapped({row} {'+' if tap > 0 else '-'} {abs(tap)}, {name}_rows)"
    elif argument.in_place:
        row = f"({name}_stays && step + 1 < steps ? 0 : {row})"
    return f"{name} + {row} * ({size})" if size != "1" else f"{name} + {row}"


def number_writes(loop: Loop) -> list[str]:
    """Return the lines that write results that are single numbers."""
    lines = []
    for write in loop.writes:
        if write.row is None:
            address = _address(loop, write.argument, write.tap)
            assert isinstance(write.value, Scalar)
            lines.append(f"if (!thread) *({address}) = {number_in_c(write.value)};")
    return lines


def next_rows(loop: Loop) -> list[str]:
    """Go on to the next row of each."""
    return [
        f"if ({f'!{a.name}_stays && ' if a.in_place else ''}"
        f"++{a.name}_at_row == {a.name}_rows) {a.name}_at_row = 0;"
        for a in loop.arguments
        if a.kind in ("ring", "untraced", "mit_mot", "trace")
    ]


def ends(loop: Loop) -> list[str]:
    """Have the rows of states and traces in order, where the caller polls for them."""
    lines = []
    for argument in loop.arguments:
        name, materialized = argument.name, f"numbers[{argument.first_size}]"
        size = _bytes(loop, argument)
        if argument.kind in ("ring", "untraced"):
            written = f"step + {argument.history}"
            if argument.in_place:
                written = f"{name}_stays && step ? 2 : {written}"
            lines.append(
                f"runtime->end_ring({name}, {name}_out, {name}_rows, {materialized}, {size}, {written});"
            )
        elif argument.kind == "trace":
            lines.append(f"runtime->order_rows({name}, {materialized}, {size}, step);")
    return lines
