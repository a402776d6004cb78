"""Passes over arrays that have their rows in common, some rows at a time.

What one pass has made of a row is in the cache when the next one reads it: of a softmax the largest
element of each row, the exponentials and their sum, and the quotients.
"""

from __future__ import annotations

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Buffer, Size, View
from theano.link.native.ir.sharing import Share, Sharing, Way
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work


@dataclass(eq=False)
class RowByRow(Statement):
    """Statements, each of which reads and writes only rows that the others have of the same number.

    Attributes
    ----------
    parts
        The statements, in order, of which none may fail.
    shape
        That of the largest arrays; the first dimension is the one in common.
    """

    parts: list[Statement]
    shape: tuple[Size, ...]

    as_function = AsFunction.WHERE_IT_REPEATS
    may_fail = False

    def in_order(self) -> list[Statement]:
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

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        return [pair for part in self.parts for pair in part.sizes_that_agree()]

    def replace_views(self, new: dict[int, View]) -> None:
        for part in self.parts:
            part.replace_views(new)

    def way(self, sharing: Sharing, sizes: Sizes) -> Way:
        return sharing.share(0, sizes.find(self.shape[0]), "1")

    def part_of_thread(self, sizes: Sizes) -> Share:
        return Share(0, sizes.find(self.shape[0]), "1", "first", "end")

    def touches(self, share: Share | None) -> list[Touch]:
        return [touch for part in self.parts for touch in part.touches(share)]

    def nanoseconds(self) -> list[Work]:
        return [work for part in self.parts for work in part.nanoseconds()]

    def operations(self) -> list[Work]:
        return [work for part in self.parts for work in part.operations()]

    def moved(self) -> list[View]:
        return [view for part in self.parts for view in part.moved()]

    def described(self) -> str:
        return "row by row: " + "; ".join(part.described() for part in self.parts)
