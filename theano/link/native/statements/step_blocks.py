"""Some steps of a loop at a time, with what is done with as many rows next to the loop."""

from __future__ import annotations

from collections.abc import Iterable

from theano.link.native.ir.ir import Compute, Size
from theano.link.native.ir.symbolic import Name
from theano.link.native.statements.base import Statement, Work, as_kind
from theano.link.native.statements.compound import Compound
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class StepBlocks(Compound):
    """Statements that are repeated for each block of a loop's steps, the call among them.

    Their views begin at the block's rows.

    Attributes
    ----------
    steps, length
        How many steps there are, and how many a block has; the last one may have fewer.
    start, count, back
        The names of the first step of a block, of how many steps it has, and of how many come
        after them.
    takes
        How long all blocks take on one thread.
    """

    steps: Size
    length: Size
    start: Name
    count: Name
    back: Name
    takes: list[Work]

    leaves_work = True

    @property
    def called(self) -> str:  # type: ignore[override]
        return next((part.called for part in self.parts if part.called), "")

    def elementwise(self) -> list[Compute]:
        return [compute for part in self.parts for compute in part.elementwise()]

    def numbers_read(self) -> set[str]:
        own = {self.start.name, self.count.name, self.back.name}
        return {name for part in self.parts for name in part.numbers_read()} - own

    def nanoseconds(self) -> list[Work]:
        return self.takes

    def described(self) -> str:
        return f"blocks of steps: {super().described()}"


@dataclass(frozen=True)
class Moment:
    """A statement that is done after others, and the blocks of steps that it is repeated in, if any."""

    statement: Statement
    blocks: StepBlocks | None


def moments(statements: Iterable[Statement]) -> list[Moment]:
    """Return what is done one after the other: statements, and the parts of blocks of steps."""
    found = []
    for statement in statements:
        blocks = as_kind(statement, StepBlocks)
        parts = [statement] if blocks is None else blocks.parts
        found += [Moment(part, blocks) for part in parts]
    return found
