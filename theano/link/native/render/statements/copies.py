"""Views that are written element by element."""

from __future__ import annotations

from theano.link.native.ir.ir import Scalar, View
from theano.link.native.ir.layout import Product
from theano.link.native.ir.sharing import Share
from theano.link.native.ir.sizes import Sizes
from theano.link.native.render.accumulate import ACCUMULATE
from theano.link.native.render.looks import between_looks
from theano.link.native.render.nests import Operands, element, nest
from theano.link.native.render.registry import renders
from theano.link.native.render.writer import Writer
from theano.link.native.statements.copy import Combine, Copy


@renders(Copy)
def copy(statement: Copy, writer: Writer, share: Share | None) -> list[str]:
    lines = written(statement.target, statement.source, None, writer, share, writer.looks)
    if not statement.may_be_same:
        return lines
    assert isinstance(statement.source, View)
    target, source = writer.place(statement.target), writer.place(statement.source)
    return [f"if ({target.pointer} != {source.pointer}) {{", *lines, "}"]


@renders(Combine)
def combine(statement: Combine, writer: Writer, share: Share | None) -> list[str]:
    return written(
        statement.target, statement.source, statement.operation, writer, share, writer.looks
    )


def written(
    target: View,
    source: View | Scalar,
    operation: str | None,
    writer: Writer,
    share: Share | None = None,
    looks: bool = False,
) -> list[str]:
    """Lines that write a view, or combine it with a source; all of it, or a thread's share.

    Where they look up for signals, they end early when one came.
    """
    operands = Operands(writer)
    to = operands.add(target)
    given = None
    if isinstance(source, View):
        given = operands.add(_stretched(source, target, writer.sizes))

    def inner(first: str, end: str, strides: list[Product]) -> list[str]:
        if operation is None and _side_by_side(target, source, given, strides) and not _few(end):
            count = f"({end}) - {first}" if first != "0" else f"({end})"
            return [f"tn_copy(p{to} + {first}, p{given} + {first}, ({count}) * sizeof *p{to});"]
        left = element(to, strides[to])
        if given is None:
            assert isinstance(source, Scalar)
            right = writer.number(source)
        else:
            right = element(given, strides[given])
        if operation is not None:
            right = ACCUMULATE[operation].format(left, right)
        return ["TN_INDEPENDENT", f"for (int64_t i = {first}; i < {end}; i++) {left} = {right};"]

    between = between_looks() if looks else 0
    return nest(target.shape, operands, inner, share, between)


# Up to so many elements are copied where they are: a call takes longer.
FEW = 16


def _few(end: str) -> bool:
    return end.isdigit() and int(end) <= FEW


def _side_by_side(
    target: View, source: View | Scalar, given: int | None, strides: list[Product]
) -> bool:
    """Whether elements of one type lie side by side in both, so that their bytes are copied."""
    if given is None or source.dtype != target.dtype or len(strides) != 2:
        return False
    return all(stride == Product(1) for stride in strides)


def _stretched(source: View, target: View, sizes: Sizes) -> View:
    axes = tuple(
        None if sizes.find(size) == 1 else axis
        for size, axis in zip(source.shape, source.axes, strict=True)
    )
    return View(source.buffer, target.shape, axes, source.steps, source.start)
