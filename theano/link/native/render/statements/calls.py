"""Calls of loops that are separate C functions, and of what the runtime computes."""

from __future__ import annotations

from theano.link.native.ir.ir import FIRST_ARRAY, Argument, CannotLower, Scalar
from theano.link.native.ir.layout import Place
from theano.link.native.ir.partitions import Rectangle, Share
from theano.link.native.ir.scalar_types import SUFFIX
from theano.link.native.ir.symbolic import Call
from theano.link.native.render.memory import panels
from theano.link.native.render.numbers_in_c import C_TYPES, in_c
from theano.link.native.render.registry import renders
from theano.link.native.render.writer import Writer
from theano.link.native.statements.call_loop import CallLoop, StepRange
from theano.link.native.statements.correlation import DIRECTIONS, Correlate
from theano.link.native.statements.gemm import Gemm


@renders(CallLoop, about=CallLoop.described)
def call_loop(statement: CallLoop, writer: Writer, share: Share | None) -> list[str]:
    """Fill in where the arrays lie, and call the loop's function."""
    loop, prefix = statement.loop, statement.prefix
    names = (f"{prefix}_{what}" for what in ("numbers", "arrays", "result"))
    numbers, arrays, result = map(writer.rename, names)
    lines = [_if(statement, writer), f"{arrays}[1] = {writer.rename(statement.work.name)};"]
    for k, (argument, operand) in enumerate(zip(loop.arguments, statement.operands, strict=True)):
        at = f"{arrays}[{FIRST_ARRAY + k}]"
        if isinstance(operand, Scalar):
            kind = C_TYPES[operand.dtype]
            lines.append(f"const {kind} {prefix}_value{k} = {writer.number(operand)};")
            lines.append(f"{at} = (void *)&{prefix}_value{k};")
            continue
        place = writer.place(operand)
        lines.append(f"{at} = (void *)({place.pointer});")
        if statement.block is not None:
            lines += _of_block(statement.block, k, argument, place, numbers, writer)
        if argument.kind == "sequence":
            lines.append(f"{numbers}[{argument.first_size}] = {place.strides[0].text};")
        if argument.free_strides:
            first = argument.first_size + 1 + operand.ndim
            for d, stride in enumerate(place.strides):
                lines.append(f"{numbers}[{first + d}] = {stride.text};")
    block = statement.block
    run = "1" if block is None else f"{writer.rename(block.start.name)} ? 2 : 1"
    return [
        *lines,
        f"{numbers}[0] = {run};",
        *([f"{numbers}[1] = {writer.rename(block.count.name)};"] if block is not None else []),
        f"status = {writer.function(loop.step.name)}({numbers}, {arrays}, {result});",
        f"if (status) {{ result[0] = {result}[0]; "
        "status = status > 0 ? TN_REFUSED : status == TN_INTERRUPTED ? status "
        f": status - {statement.first_error}; goto end; }}",
        "}",
    ]


def _of_block(
    block: StepRange, k: int, argument: Argument, place: Place, numbers: str, writer: Writer
) -> list[str]:
    """Return how many rows an operand has in a block of steps; what a state begins with comes first."""
    rows, whole = block.rows[k], block.whole[k]
    if rows is None:
        return []
    lines = [f"{numbers}[{argument.first_size}] = {in_c(writer.size(rows))};"]
    if whole is not None:
        last = f"{numbers}[{argument.first_size}] - {argument.history}"
        row = f"({place.strides[0].text}) * (int64_t)sizeof *{place.name}"
        move = f"runtime->last_rows_first({place.pointer}, {last}, {argument.history}, {row});"
        begun, few = writer.rename(block.start.name), in_c(writer.size(whole))
        lines.append(f"if ({begun} && !{few}) {move}")
    return lines


def _if(statement: CallLoop, writer: Writer) -> str:
    if statement.when is None:
        return "{"
    return (
        f"if ({'' if statement.when.holds else '!'}({writer.number(statement.when.condition)})) {{"
    )


@renders(Gemm)
def gemm(statement: Gemm, writer: Writer, share: Share | None) -> list[str]:
    a, b, out = statement.a, statement.b, statement.out
    rows, inner, columns = (str(writer.size(n)) for n in (*a.shape, b.shape[1]))
    suffix = SUFFIX[out.dtype]
    a_place, out_place = writer.place(a), writer.place(out)
    if out_place.strides[1].text not in ("1", "0") and out.shape[1] != 1:
        raise CannotLower("a product whose result is not stored in rows")
    first_of_a, (row_of_a, column_of_a) = a_place.pointer, (s.text for s in a_place.strides)
    c, c_stride = out_place.pointer, out_place.strides[0].text
    by_rows = share is not None and share.dimension == 0
    if share is not None and by_rows:
        first_of_a = f"{first_of_a} + {share.first} * ({row_of_a})"
        c, rows = f"{c} + {share.first} * ({c_stride})", f"{share.end} - {share.first}"
    elif isinstance(share, Rectangle):
        first_of_a = f"{first_of_a} + {share.top} * ({row_of_a})"
        c, rows = f"{c} + {share.top} * ({c_stride})", f"{share.bottom} - {share.top}"
    left = f"{first_of_a}, {row_of_a}, {column_of_a}"
    function = f"gemm_add_{suffix}" if statement.accumulate else f"gemm_{suffix}"
    if statement.packed is not None:
        # of one column, there is one panel
        mine = f"0, {'1' if by_rows else panels(columns, f'panel_{suffix}')}"
        if share is not None and not by_rows:
            mine = f"{share.first}_panel, {share.end}_panel"
        return [
            f"runtime->gemm_packed_{suffix}({rows}, {columns}, {inner}, {left}, "
            f"packed{statement.packed}, 0, {c}, {c_stride}, {mine});"
        ]
    b_place = writer.place(b)
    row, column = (stride.text for stride in b_place.strides)
    right, mine = b_place.pointer, columns
    if share is not None and not by_rows:
        right, c = f"{right} + {share.first} * ({column})", f"{c} + {share.first}"
        mine = f"{share.end} - {share.first}"
    return [
        f"runtime->{function}({rows}, {mine}, {inner}, {left}, "
        f"{right}, {row}, {column}, {c}, {c_stride});"
    ]


@renders(Correlate)
def correlate(statement: Correlate, writer: Writer, share: Share | None) -> list[str]:
    given = Call("correlation", tuple(map(writer.size, statement.sizes.numbers())))
    out = getattr(statement, statement.computed)
    views = (statement.images, statement.filters, statement.top, out, statement.work)
    pointers = ", ".join(writer.place(view).pointer for view in views)
    threads = "0, 0" if share is None else "thread, threads"
    return [
        f"runtime->correlate_{SUFFIX[out.dtype]}({in_c(given)}, {DIRECTIONS[statement.computed]}, "
        f"{pointers}, {threads});"
    ]
