"""Dependences between the statements of a step."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from theano.link.native.ir.ir import Buffer, View
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.statements.base import Statement


class Dependence:
    """The memory that the statements of a loop or segment read and write.

    A row of a buffer that a loop updates is one memory, whether it is read or written: the
    backward loop adds to the rows of cotangents in place.
    """

    def __init__(self, lowered: Loop | Segment):
        self._updated: dict[Buffer, Hashable] = {}
        if isinstance(lowered, Loop):
            rows = [*lowered.rows, *((w.row, w.argument, w.tap) for w in lowered.writes)]
            self._updated = {
                row: (argument.name, tap)
                for row, argument, tap in rows
                if isinstance(row, Buffer) and argument.kind == "mit_mot"
            }
        self._reads: dict[Statement, set[Hashable]] = {}
        self._writes: dict[Statement, set[Hashable]] = {}
        # the names of the numbers that a statement defines, and of those that it reads
        self._numbers: dict[Statement, tuple[set[str], set[str]]] = {}

    def memory(self, buffer: Buffer) -> Hashable:
        """Return what stands for the memory of a buffer."""
        root = buffer.root()
        return self._updated.get(root, root)

    def is_updated(self, buffer: Buffer) -> bool:
        """Return whether a loop reads and writes the memory of a buffer, row by row."""
        return buffer.root() in self._updated

    def forget(self, *statements: Statement) -> None:
        """Take in that statements were changed."""
        for statement in statements:
            self._reads.pop(statement, None)
            self._writes.pop(statement, None)
            self._numbers.pop(statement, None)

    def reads(self, statement: Statement) -> set[Hashable]:
        """Return the memory that a statement reads."""
        if statement not in self._reads:
            views = [one for one in statement.values_read() if isinstance(one, View)]
            self._reads[statement] = {self.memory(view.buffer) for view in views}
        return self._reads[statement]

    def writes(self, statement: Statement) -> set[Hashable]:
        """Return the memory that a statement writes, or may."""
        if statement not in self._writes:
            self._writes[statement] = {self.memory(buffer) for buffer in statement.written()}
        return self._writes[statement]

    def _numbers_of(self, statement: Statement) -> tuple[set[str], set[str]]:
        if statement not in self._numbers:
            self._numbers[statement] = statement.numbers_defined(), statement.numbers_read()
        return self._numbers[statement]

    def ordered(self, one: Statement, other: Statement) -> bool:
        """Return whether two statements must keep their order.

        One needs what the other does, or both may raise an error, of which the first counts.
        """
        written, others = self.writes(one), self.writes(other)
        (defined, read), (other_defined, other_read) = map(self._numbers_of, (one, other))
        return bool(
            not written.isdisjoint(others)
            or not written.isdisjoint(self.reads(other))
            or not others.isdisjoint(self.reads(one))
            or not defined.isdisjoint(other_read)
            or not other_defined.isdisjoint(read)
            or (one.errors() and other.errors())
            or (one.called and other.called)
        )

    def any_ordered(self, earlier: Iterable[Statement], statement: Statement) -> bool:
        """Return whether a statement must stay behind one of some others."""
        return any(self.ordered(one, statement) for one in earlier)
