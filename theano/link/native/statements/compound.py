"""Statements that consist of others, which are done some of their rows at a time."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import Buffer, Size, View
from theano.link.native.ir.partitions import Partition, Serial, Share, Sharing
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class Compound(Statement):
    """A kind of statement with parts, in order."""

    parts: list[Statement]

    as_function = AsFunction.NEVER

    @property
    def may_fail(self) -> bool:  # type: ignore[override]
        return any(part.may_fail for part in self.parts)

    def in_order(self) -> Sequence[Statement]:
        return self.parts

    def values_read(self) -> list[Operand]:
        written: set[Buffer] = set()
        read: list[Operand] = []
        for part in self.parts:
            read += [
                one
                for one in part.values_read()
                if not (isinstance(one, View) and one.buffer.root() in written)
            ]
            written |= {buffer.root() for buffer in part.written()}
        return read

    def values_written(self) -> list[Operand]:
        return [one for part in self.parts for one in part.values_written()]

    def written(self) -> list[Buffer]:
        return [buffer for part in self.parts for buffer in part.written()]

    def results(self) -> list[Buffer]:
        return [buffer for part in self.parts for buffer in part.results()]

    def views(self) -> list[View]:
        return list({id(one): one for part in self.parts for one in part.views()}.values())

    def strict_views(self) -> list[View]:
        return [view for part in self.parts for view in part.strict_views()]

    def views_without_gaps(self) -> list[View]:
        return [view for part in self.parts for view in part.views_without_gaps()]

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        return [pair for part in self.parts for pair in part.sizes_that_agree()]

    def replace_views(self, new: dict[int, View]) -> None:
        for part in self.parts:
            part.replace_views(new)

    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        return Serial("its parts are shared each by itself")

    def touches(self, share: Share | None) -> list[Touch]:
        return [touch for part in self.parts for touch in part.touches(share)]

    def nanoseconds(self) -> list[Work]:
        return [work for part in self.parts for work in part.nanoseconds()]

    def operations(self) -> list[Work]:
        return [work for part in self.parts for work in part.operations()]

    def moved(self) -> list[View]:
        return [view for part in self.parts for view in part.moved()]

    def described(self) -> str:
        return "; ".join(part.described() for part in self.parts)
