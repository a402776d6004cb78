"""The report on one loop, as data."""

from __future__ import annotations

from dataclasses import field

from theano.scan_module.report.headings import (
    HOISTED,
    IN_ORDER,
    MERGED,
    PUSHED_OUT,
    SHORTENED,
)
from theano.scan_module.report.loop_history import Decision
from theano.scan_module.report.step_products import StepProduct
from theano.scan_module.report.step_times import LoopTime
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class SavedValue:
    """A value of each step that a forward loop stores for a gradient.

    Attributes
    ----------
    output
        The output of the loop that holds it, as other expressions of the report name it.
    expression
        What it is.
    type
        Its dtype and rank, such as ``float64 matrix``.
    bytes
        Its size in each step: a number, or an expression of the arguments' shapes.
    reason
        Why it is kept, and not computed again.
    """

    output: str
    expression: str
    type: str
    bytes: int | str
    reason: str = ""


@dataclass(frozen=True)
class LoopReport:
    """The report on one loop.

    Attributes
    ----------
    name
        The loop's name.
    path
        The names of the loops around it, the outermost first.
    sources
        The names of the recorded loops that it comes from; several if loops became one.
    products_before, products_after
        How many products of vectors, matrices or stacks of them, and correlations, one step
        computes: as the graph was given, and as it was compiled. ``before`` is None if nothing was recorded; ``after`` is
        None if no loop is left.
    bytes_before, bytes_after
        How much one step writes to memory, states and traces together: a number, or an expression
        of the arguments' shapes.
    saved
        What the loop stores for gradients alone.
    policy
        The flag ``scan.save`` that chose it.
    decisions
        What the rewrites did, and what they did not do and why.
    products_left
        The products of the compiled step.
    products_given
        Those of the step as it was given; empty if nothing was recorded.
    time
        What its steps took, if the function was profiled and called; it is no part of what makes
        two reports equal.
    """

    name: str
    path: tuple[str, ...]
    sources: tuple[str, ...]
    products_before: int | None
    products_after: int | None
    bytes_before: int | str | None
    bytes_after: int | str | None
    saved: tuple[SavedValue, ...]
    policy: str | None
    decisions: tuple[Decision, ...]
    products_left: tuple[StepProduct, ...]
    products_given: tuple[StepProduct, ...] = ()
    time: LoopTime | None = field(default=None, compare=False)

    @property
    def vanished(self) -> bool:
        """Return whether no loop is left."""
        return self.products_after is None

    @property
    def hoisted(self) -> tuple[Decision, ...]:
        """Return what is computed before the loop."""
        return self.under(HOISTED)

    @property
    def pushed_out(self) -> tuple[Decision, ...]:
        """Return what is computed after the loop."""
        return self.under(PUSHED_OUT)

    @property
    def merged(self) -> tuple[Decision, ...]:
        """Products that became one."""
        return self.under(MERGED)

    @property
    def shortened(self) -> tuple[Decision, ...]:
        """Steps that are not run, and rows that are not kept."""
        return self.under(SHORTENED)

    @property
    def refused(self) -> tuple[Decision, ...]:
        """Return what stayed as it was; ``detail`` says why."""
        return tuple(decision for decision in self.decisions if not decision.applied)

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of what was done, in the order in which they are printed."""
        return tuple(dict.fromkeys([*IN_ORDER, *(d.heading for d in self.decisions)]))

    def under(self, heading: str) -> tuple[Decision, ...]:
        """Return what was done that is printed under a heading."""
        return tuple(d for d in self.decisions if d.applied and d.heading == heading)
