"""Calls of loops that are C functions of their own."""

from __future__ import annotations

from theano.link.native.ir.ir import FIRST_ARRAY, Scalar
from theano.link.native.ir.sharing import Share
from theano.link.native.render.c_types import C_TYPES
from theano.link.native.render.registry import renders
from theano.link.native.render.writer import Writer
from theano.link.native.statements.call_loop import CallLoop


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
        if argument.kind == "sequence":
            lines.append(f"{numbers}[{argument.first_size}] = {place.strides[0].text};")
        if argument.free_strides:
            first = argument.first_size + 1 + operand.ndim
            for d, stride in enumerate(place.strides):
                lines.append(f"{numbers}[{first + d}] = {stride.text};")
    return [
        *lines,
        f"{numbers}[0] = 1;",
        f"status = {writer.function(loop.step.name)}({numbers}, {arrays}, {result});",
        f"if (status) {{ result[0] = {result}[0]; "
        "status = status > 0 ? TN_REFUSED : status == TN_INTERRUPTED ? status "
        f": status - {statement.first_error}; goto end; }}",
        "}",
    ]


def _if(statement: CallLoop, writer: Writer) -> str:
    if statement.when is None:
        return "{"
    return (
        f"if ({'' if statement.when.holds else '!'}({writer.number(statement.when.condition)})) {{"
    )
