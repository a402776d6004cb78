"""The statements of a step as C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from theano.link.native.emit.counters import Counters
from theano.link.native.emit.maps import emit_copy, emit_map
from theano.link.native.emit.reductions import emit_reduce
from theano.link.native.ir.emit_expressions import scalar_text
from theano.link.native.ir.ir import (
    FIRST_ARRAY,
    Array,
    Assign,
    CallLoop,
    CannotLower,
    CheckRows,
    Combine,
    Copy,
    Gather,
    Gemm,
    Kernel,
    Line,
    Load,
    Map,
    Reduce,
    Scalar,
    Scatter,
    Size,
    Statement,
    View,
)
from theano.link.native.ir.layout import place_of
from theano.link.native.ir.scalar_types import C_TYPES, SUFFIX
from theano.link.native.lowering.step import Step, signed
from theano.link.native.passes.work_sharing import ONE, Share, Sharing, Way

MEET = "TN_MEET"


def emit_statements(
    step: Step, sharing: Sharing | None = None, counters: Counters | None = None
) -> list[str]:
    """All statements of a step, in order, and the barriers between them.

    A barrier before the first of them is for who writes what stands before it.
    """
    lines = counters.between_steps(step) if counters else []
    for position, statement in enumerate(step.statements):
        if sharing is None:
            lines += emit_statement(step, statement)
        else:
            if position and position in sharing.barriers:
                lines += [MEET, *(counters.waiting(step) if counters else [])]
            lines += emit_statement(step, statement, sharing.ways[position])
        if counters:
            lines += counters.after(step, position)
    if sharing is not None and step.statements and len(step.statements) in sharing.barriers:
        lines.append(MEET)
    return lines


def emit_statement(step: Step, statement: Statement, way: Way | None = None) -> list[str]:
    """One statement of a step: all of it, or what one of several threads does of it."""
    if isinstance(statement, CheckRows):
        return [*_row(step, statement.index, statement.rows, checked=False), "}"]
    if isinstance(statement, Gather | Scatter):
        return _rows_by_index(step, statement, way)
    share = way if isinstance(way, Share) else None
    lines = _EMITTERS[type(statement)](step, statement, share)
    return ["if (!thread) {", *lines, "}"] if way == ONE else lines


def _map(step: Step, statement: Map, share: Share | None) -> list[str]:
    stored = [compute.name for compute in statement.body if compute.stored]
    return [f"/* {', '.join(stored)} */", *emit_map(statement, step.sizes, share, not step.repeats)]


def _copy(step: Step, statement: Copy | Combine, share: Share | None) -> list[str]:
    lines = emit_copy(statement, step.sizes, share, not step.repeats)
    if isinstance(statement, Copy) and statement.may_be_same:
        assert isinstance(statement.source, View)
        target, source = (place_of(v, step.sizes) for v in (statement.target, statement.source))
        return [f"if ({target.pointer} != {source.pointer}) {{", *lines, "}"]
    return lines


def _assign(step: Step, statement: Assign, share: Share | None) -> list[str]:
    text = scalar_text(
        statement.operation,
        [operand.expression for operand in statement.operands],
        [operand.dtype for operand in statement.operands],
    )
    result = statement.result
    return [f"const {C_TYPES[result.dtype]} {result.expression} = {text};"]


def _load(step: Step, statement: Load, share: Share | None) -> list[str]:
    pointer = place_of(statement.view, step.sizes).pointer
    result = statement.result
    return [f"const {C_TYPES[result.dtype]} {result.expression} = *({pointer});"]


def _reduce(step: Step, statement: Reduce, share: Share | None) -> list[str]:
    declared = []
    if isinstance(statement.target, Scalar):
        kind = C_TYPES[statement.target.dtype]
        declared = [f"{kind} {statement.target.expression};"]
    return declared + emit_reduce(statement, step.sizes, share, not step.repeats)


def _line(step: Step, statement: Line, share: Share | None) -> list[str]:
    return [statement.text]


def _gemm(step: Step, statement: Gemm, share: Share | None) -> list[str]:
    a, b, out = statement.a, statement.b, statement.out
    suffix = SUFFIX[out.dtype]
    a_place, out_place = place_of(a, step.sizes), place_of(out, step.sizes)
    if out_place.strides[1].text not in ("1", "0") and out.shape[1] != 1:
        raise CannotLower("a product whose result is not stored in rows")
    left = f"{a_place.pointer}, {a_place.strides[0].text}, {a_place.strides[1].text}"
    c, c_stride = out_place.pointer, out_place.strides[0].text
    if statement.packed is not None:
        panels = f"packed{statement.packed}_first, packed{statement.packed}_end"
        return [
            f"runtime->gemm_packed_{suffix}({a.shape[0]}, {b.shape[1]}, {a.shape[1]}, {left}, "
            f"packed{statement.packed}, 0, {c}, {c_stride}, {panels});"
        ]
    b_place = place_of(b, step.sizes)
    row, column = (stride.text for stride in b_place.strides)
    right, columns = b_place.pointer, b.shape[1]
    if share is not None:
        right, c = f"{right} + {share.first} * ({column})", f"{c} + {share.first}"
        columns = f"{share.end} - {share.first}"
    return [
        f"runtime->gemm_{suffix}({a.shape[0]}, {columns}, {a.shape[1]}, {left}, "
        f"{right}, {row}, {column}, 0, {c}, {c_stride});"
    ]


def _rows_by_index(step: Step, statement: Gather | Scatter, way: Way | None) -> list[str]:
    """Each thread checks all of the indices, so that all of them stop."""
    table = statement.source if isinstance(statement, Gather) else statement.target
    assert isinstance(table, View)
    checked = isinstance(statement, Scatter) and statement.checked
    lines = _row(step, statement.index, table.shape[0], checked)
    picked, turn = _row_of(table, "row"), "k"
    if isinstance(statement, Gather):
        inner: Copy | Combine = Copy(_row_of(statement.target, turn), picked)
    else:
        source = statement.source
        source = _row_of(source, turn) if isinstance(source, View) else source
        inner = Combine(picked, source, "add") if statement.add else Copy(picked, source)
    share = None
    if isinstance(way, Share):
        if way.dimension:
            share = replace(way, dimension=way.dimension - 1)
        else:
            lines.append(f"if (k < {way.first} || k >= {way.end}) continue;")
    elif way == ONE:
        lines.append("if (thread) continue;")
    return [*lines, *emit_copy(inner, step.sizes, share), "}"]


def _row(step: Step, indices: View, count: Size, checked: bool) -> list[str]:
    """The beginning of a loop over indices, each of them as the number of a row."""
    index = place_of(indices, step.sizes)
    given = Scalar(f"({index.pointer})[k * ({index.strides[0].text})]", indices.dtype)
    lines = [
        f"for (int64_t k = 0; k < {indices.shape[0]}; k++) {{",
        f"int64_t row = {signed(given)};",
    ]
    if not checked:
        error = step.error(IndexError, "index out of range")
        lines.append(f"if (row < -({count}) || row >= {count}) {{ status = {error}; goto end; }}")
    return [*lines, f"if (row < 0) row += {count};"]


def _row_of(view: View, index: str) -> View:
    """Row ``index`` of a view, which begins at the front of its first axis."""
    axis = view.axes[0]
    start = list(view.start)
    if axis is not None:
        if start[axis] != 0 or view.steps[0] != 1:
            start[axis] = f"({start[axis]} + {view.steps[0]} * {index})"
        else:
            start[axis] = index
    return View(view.buffer, view.shape[1:], view.axes[1:], view.steps[1:], tuple(start))


def _call_loop(step: Step, statement: CallLoop, share: Share | None) -> list[str]:
    """Fill in where the arrays lie, and call the loop's function."""
    loop, prefix = statement.loop, statement.prefix
    numbers, arrays = f"{prefix}_numbers", f"{prefix}_arrays"
    lines = [f"/* the loop {loop.name} */", "{", f"{arrays}[1] = {statement.work.name};"]
    for k, (argument, operand) in enumerate(zip(loop.arguments, statement.operands, strict=True)):
        at = f"{arrays}[{FIRST_ARRAY + k}]"
        if isinstance(operand, Scalar):
            kind = C_TYPES[operand.dtype]
            lines.append(f"const {kind} {prefix}_value{k} = {operand.expression};")
            lines.append(f"{at} = (void *)&{prefix}_value{k};")
            continue
        place = place_of(operand, step.sizes)
        lines.append(f"{at} = (void *)({place.pointer});")
        if argument.kind == "sequence":
            lines.append(f"{numbers}[{argument.first_size}] = {place.strides[0].text};")
        if argument.free_strides:
            first = argument.first_size + 1 + operand.ndim
            for d, stride in enumerate(place.strides):
                lines.append(f"{numbers}[{first + d}] = {stride.text};")
    return [
        *lines,
        f"{numbers}[0] = 1;",
        f"status = {loop.step.name}({numbers}, {arrays}, {prefix}_result);",
        "}",
        f"if (status) {{ result[0] = {prefix}_result[0]; "
        "status = status > 0 ? TN_REFUSED : status == TN_INTERRUPTED ? status "
        f": status - {statement.first_error}; goto end; }}",
    ]


def _kernel(step: Step, statement: Kernel, share: Share | None) -> list[str]:
    lines, arrays = ["{"], []
    for k, view in enumerate([*statement.writes, *statement.reads]):
        place = place_of(view, step.sizes)
        shape = tuple(step.sizes.find(size) for size in view.shape)
        arrays.append(Array(f"x{k}", shape, tuple(stride.text for stride in place.strides)))
        lines.append(f"{C_TYPES[view.dtype]} *const x{k} = {place.pointer};")
    return [*lines, *statement.lines(*arrays), "}"]


_EMITTERS: dict[type, Callable[[Step, Any, Share | None], list[str]]] = {
    Assign: _assign,
    CallLoop: _call_loop,
    Combine: _copy,
    Copy: _copy,
    Gemm: _gemm,
    Kernel: _kernel,
    Line: _line,
    Load: _load,
    Map: _map,
    Reduce: _reduce,
}
