"""Some steps of a loop at a time, with what is done with as many rows beside the loop."""

from __future__ import annotations

from itertools import chain

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Buffer, Compute, Size, View
from theano.link.native.ir.sharing import Serial, Share, Sharing, Way
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Name
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work


@dataclass(eq=False)
class StepBlocks(Statement):
    """Statements that are repeated for each block of a loop's steps.

    Attributes
    ----------
    parts
        The statements, the call of the loop among them; their views begin at the block's rows.
    steps, length
        How many steps there are, and how many a block has; the last one may have fewer.
    start, count, back
        The names of the first step of a block, of how many steps it has, and of how many come
        after them.
    takes, counts
        How long all blocks take on one thread, and how many operations they are.
    """

    parts: list[Statement]
    steps: Size
    length: Size
    start: Name
    count: Name
    back: Name
    takes: list[Work]
    counts: list[Work]

    as_function = AsFunction.NEVER
    leaves_work = True

    @property
    def may_fail(self) -> bool:  # type: ignore[override]
        return any(part.may_fail for part in self.parts)

    @property
    def called(self) -> str:  # type: ignore[override]
        return next((part.called for part in self.parts if part.called), "")

    def in_order(self) -> list[Statement]:
        return self.parts

    def elementwise(self) -> list[Compute]:
        return [compute for part in self.parts for compute in part.elementwise()]

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

    def numbers_read(self) -> set[str]:
        own = {self.start.name, self.count.name, self.back.name}
        return set(chain.from_iterable(part.numbers_read() for part in self.parts)) - own

    def replace_views(self, new: dict[int, View]) -> None:
        for part in self.parts:
            part.replace_views(new)

    def way(self, sharing: Sharing, sizes: Sizes) -> Way:
        return Serial("blocks of steps are shared by the statements in them")

    def touches(self, share: Share | None) -> list[Touch]:
        return [touch for part in self.parts for touch in part.touches(share)]

    def nanoseconds(self) -> list[Work]:
        return self.takes

    def operations(self) -> list[Work]:
        return self.counts

    def moved(self) -> list[View]:
        return []

    def described(self) -> str:
        return "blocks of steps: " + "; ".join(part.described() for part in self.parts)
