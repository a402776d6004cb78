"""Views that are written element by element: copies, and what is combined with what is there."""

from __future__ import annotations

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Scalar, View
from theano.link.native.ir.layout import Product
from theano.link.native.ir.sharing import Share, Sharing, Way
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.link.native.statements.costs import MOVE
from theano.link.native.text.accumulate import ACCUMULATE
from theano.link.native.text.looks import between_looks
from theano.link.native.text.nests import Operands, element, nest
from theano.link.native.text.writer import Writer


@dataclass(eq=False)
class Copy(Statement):
    """``target[...] = source`` element by element; the source is broadcast.

    Attributes
    ----------
    may_be_same
        Whether the caller may have both lie in the same memory; then nothing is copied.
    """

    target: View
    source: View | Scalar
    may_be_same: bool = False

    as_function = AsFunction.WHERE_IT_REPEATS
    may_fail = False

    def values_read(self) -> list[Operand]:
        return [self.source]

    def values_written(self) -> list[View]:
        return [self.target]

    def way(self, sharing: Sharing, sizes: Sizes) -> Way:
        return sharing.by_elements(sizes, self.target.shape, self.target.dtype)

    def touches(self, share: Share | None) -> list[Touch]:
        return _touches(self.target, self.source, share)

    def nanoseconds(self) -> list[Work]:
        return [Work(MOVE, self.target.shape)]

    def operations(self) -> list[Work]:
        return []

    def lines(self, writer: Writer, share: Share | None) -> list[str]:
        lines = written(self.target, self.source, None, writer, share, writer.looks)
        if not self.may_be_same:
            return lines
        assert isinstance(self.source, View)
        target, source = writer.place(self.target), writer.place(self.source)
        return [f"if ({target.pointer} != {source.pointer}) {{", *lines, "}"]


@dataclass(eq=False)
class Combine(Statement):
    """``target = operation(target, source)`` element by element."""

    target: View
    source: View | Scalar
    operation: str

    as_function = AsFunction.WHERE_IT_REPEATS
    may_fail = False

    def values_read(self) -> list[Operand]:
        return [self.target, self.source]

    def values_written(self) -> list[View]:
        return [self.target]

    def way(self, sharing: Sharing, sizes: Sizes) -> Way:
        return sharing.by_elements(sizes, self.target.shape, self.target.dtype)

    def touches(self, share: Share | None) -> list[Touch]:
        return _touches(self.target, self.source, share)

    def nanoseconds(self) -> list[Work]:
        return [Work(MOVE, self.target.shape)]

    def operations(self) -> list[Work]:
        return [Work(1, self.target.shape)]

    def lines(self, writer: Writer, share: Share | None) -> list[str]:
        return written(self.target, self.source, self.operation, writer, share, writer.looks)


def _touches(target: View, source: View | Scalar, share: Share | None) -> list[Touch]:
    d = None if share is None else share.dimension
    reads = [Touch(source, d)] if isinstance(source, View) else []
    return [*reads, Touch(target, d, True)]


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
