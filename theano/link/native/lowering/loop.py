"""A loop: the step of a PyTensor Scan in the intermediate form, and what it reads and writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from theano.link.native.ir.ir import Argument, Buffer, Scalar, Value, View
from theano.link.native.ir.memory_plan import MemoryPlan
from theano.link.native.ir.partitions import Serial, Sharing
from theano.link.native.lowering.step import Step
from theano.pytensor_internals.graphs.scan import Scan
from theano.support.data_classes import dataclass


@dataclass(eq=False)
class RowWrite:
    """A result of the step and the row it goes to."""

    argument: Argument
    tap: int
    value: Value
    row: Buffer | None = None


@dataclass(eq=False)
class Loop:
    """All that is needed to write a loop in C.

    Attributes
    ----------
    sharing
        What each of several threads does of its step, or why it has one: known after the passes.
    memory
        Where what lies in work memory lies there: known after the passes.
    """

    name: str
    step: Step
    arguments: list[Argument]
    writes: list[RowWrite]
    rows: list[tuple[Buffer | Scalar, Argument, int]] = field(default_factory=list)
    condition: Scalar | None = None
    number_count: int = 0
    sharing: Sharing | Serial | None = None
    memory: MemoryPlan | None = None

    @property
    def passed(self) -> list[Argument]:
        """The arrays that the caller passes."""
        return self.arguments

    def arrays_read(self) -> set[str]:
        """Return the names of the arrays of which elements are read, and not only sizes."""
        views = [view for statement in self.step.statements for view in statement.views()]
        views += [write.value for write in self.writes if isinstance(write.value, View)]
        roots = {view.buffer.root() for view in [*views, *self.step.packed]}
        of_rows = {of.name for row, of, _ in self.rows if isinstance(row, Scalar) or row in roots}
        return of_rows | {root.name for root in roots} | self.step.sizes.names_read()

    @property
    def rings(self) -> list[Argument]:
        """The states of which rows are read and written, and the caller may keep fewer than that."""
        return [one for one in self.arguments if one.kind in ("ring", "untraced")]

    @property
    def flushes_denormals(self) -> bool:
        """Return whether denormals are zeros while it runs: not where NumPy draws, to the bit."""
        loops = [*loops_of(self.step), self]
        return not any("generators" in each.step.libraries for each in loops)

    @property
    def results(self) -> list[Argument]:
        """The arrays that the caller makes when it knows their sizes: of a loop it knows them."""
        return []


# from a Scan, the names of its arrays, and what calls it as which loop, to the loop
LowerLoop = Callable[[Scan, Sequence[str | None], str], "Loop"]


def loops_of(step: Step) -> list[Loop]:
    """Return the loops that a step calls, and those that these call, each after those that it calls."""
    found: list[Loop] = []
    for loop in step.loops:
        found += [*loops_of(loop.step), loop]
    return found
