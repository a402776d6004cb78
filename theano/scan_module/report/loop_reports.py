"""Reports on loops, as data and as text."""

from __future__ import annotations

from dataclasses import dataclass

from theano.scan_module.report.headings import (
    HOISTED,
    IN_ORDER,
    LEFT,
    MERGED,
    PUSHED_OUT,
    SHORTENED,
)
from theano.scan_module.report.loop_history import Decision


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
    """

    output: str
    expression: str
    type: str
    bytes: int | str


@dataclass(frozen=True)
class ProductLeft:
    """A product of a compiled step.

    Attributes
    ----------
    expression
        What it computes.
    states
        The values of earlier steps that it waits for. If there are none, it could be computed for
        all steps at once; then a decision says why it is not.
    """

    expression: str
    states: tuple[str, ...]


@dataclass(frozen=True)
class LoopReport:
    """What became of one loop.

    Attributes
    ----------
    name
        The loop's name.
    path
        The names of the loops around it, the outermost first.
    sources
        The names of the recorded loops that it comes from; several if loops became one.
    products_before, products_after
        How many products of vectors, matrices or stacks of them one step computes: as the graph
        was given, and as it was compiled. ``before`` is None if nothing was recorded; ``after`` is
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
    products_left: tuple[ProductLeft, ...]

    @property
    def vanished(self) -> bool:
        """Whether no loop is left."""
        return self.products_after is None

    @property
    def hoisted(self) -> tuple[Decision, ...]:
        """What is computed before the loop."""
        return self.under(HOISTED)

    @property
    def pushed_out(self) -> tuple[Decision, ...]:
        """What is computed after the loop."""
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
        """What stayed as it was; ``detail`` says why."""
        return tuple(decision for decision in self.decisions if not decision.applied)

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of what was done, in the order in which they are printed."""
        return tuple(dict.fromkeys([*IN_ORDER, *(d.heading for d in self.decisions)]))

    def under(self, heading: str) -> tuple[Decision, ...]:
        """What was done that is printed under a heading."""
        return tuple(d for d in self.decisions if d.applied and d.heading == heading)


@dataclass(frozen=True)
class ScanReport:
    """What became of the loops of a compiled function; ``str`` gives it as text.

    Attributes
    ----------
    function
        The function's name.
    recorded
        Whether the loops were recorded when the function was compiled, which Theano's modes do if
        they rewrite graphs. Without a record nothing is known of the loops before, as for a
        function that PyTensor compiled and for a copy of a function.
    loops
        The loops, nested ones after those around them.
    products_outside
        How many products the compiled function computes outside its loops.
    """

    function: str
    recorded: bool
    loops: tuple[LoopReport, ...]
    products_outside: int

    def __str__(self) -> str:
        return report_text(self)


NOT_RECORDED = (
    "Nothing was recorded of these loops: the function is a copy, or its mode lacks Theano's "
    "rewrites of loops\n(those of theano.function in the modes FAST_RUN and FAST_COMPILE have them)."
    " What the loops were before is unknown."
)


def report_text(report: ScanReport) -> str:
    """The whole report, one block of lines per loop."""
    count = sum(not loop.vanished for loop in report.loops)
    loops = f"{count or 'no'} loop{'' if count == 1 else 's'}"
    outside = f"products outside the loops: {report.products_outside}"
    if not report.loops:
        return f"function {report.function}: no loops; products: {report.products_outside}"
    lines = [f"function {report.function}: {loops}; {outside}"]
    if not report.recorded:
        lines.append(NOT_RECORDED)
    for loop in report.loops:
        lines += ["", *_loop_lines(loop)]
    return "\n".join(lines)


def _loop_lines(loop: LoopReport) -> list[str]:
    place = f", in a step of {' > '.join(loop.path)}" if loop.path else ""
    lines = [f"loop {loop.name}{place}"]
    if len(loop.sources) > 1:
        lines.append(f"  made of the loops {', '.join(loop.sources)}")
    if loop.vanished:
        lines.append("  no loop left: everything is computed outside")
    lines.append(f"  products per step: {_change(loop.products_before, loop.products_after)}")
    lines.append(f"  bytes written per step: {_change(loop.bytes_before, loop.bytes_after)}")
    if loop.saved:
        lines.append(f"  saved for the gradient (scan.save={loop.policy}):")
        lines += [
            f"    {value.output} = {value.expression}, {value.type}, {value.bytes} bytes"
            for value in loop.saved
        ]
    parts = [(heading, loop.under(heading)) for heading in loop.headings]
    for title, decisions in (*parts, (LEFT, loop.refused)):
        if decisions:
            lines += [f"  {title}:", *map(_decision_line, decisions)]
    if loop.products_left:
        lines += ["  products in the compiled step:", *map(_product_line, loop.products_left)]
    return lines


def _change(before: int | str | None, after: int | str | None) -> str:
    if after is None:
        return f"{before} -> no loop"
    if before is None:
        return str(after)
    return f"{before} -> {after}" if before != after else f"{after}, as before"


def _product_line(product: ProductLeft) -> str:
    waits = f" (waits for {', '.join(product.states)})" if product.states else ""
    return f"    {product.expression}{waits}"


def _decision_line(decision: Decision) -> str:
    return f"    {decision.subject}: {decision.detail}"
