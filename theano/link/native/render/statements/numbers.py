"""Statements on single numbers."""

from __future__ import annotations

from theano.link.native.ir.ir import Scalar
from theano.link.native.ir.partitions import Share
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.render.numbers_in_c import C_TYPES
from theano.link.native.render.registry import renders
from theano.link.native.render.scalar_functions import scalar_text
from theano.link.native.render.writer import Writer
from theano.link.native.statements.numbers import Assign, Check, Load


@renders(Assign, libraries=lambda statement: {statement.operation.library})
def assign(statement: Assign, writer: Writer, share: Share | None) -> list[str]:
    text = _text(writer, statement.operation, statement.operands)
    return [f"const {C_TYPES[statement.result.dtype]} {writer.number(statement.result)} = {text};"]


@renders(Load)
def load(statement: Load, writer: Writer, share: Share | None) -> list[str]:
    pointer = writer.place(statement.view).pointer
    return [
        f"const {C_TYPES[statement.result.dtype]} {writer.number(statement.result)} = *({pointer});"
    ]


@renders(Check)
def check(statement: Check, writer: Writer, share: Share | None) -> list[str]:
    condition = _text(writer, statement.condition, statement.operands)
    return [f"if (!({condition})) {writer.fails(statement.kind, statement.text)}"]


def _text(writer: Writer, operation: Expression, operands: list[Scalar]) -> str:
    texts = [writer.number(operand) for operand in operands]
    return scalar_text(operation, texts, [operand.dtype for operand in operands])
