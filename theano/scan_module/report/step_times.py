"""Times of a profiled function's loops: whichever engine measures them says so here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.graph.fg import FunctionGraph

from theano.source_locations.lines import format_line
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class StatementTime:
    """A statement of a step, over all calls.

    Attributes
    ----------
    text
        What it does.
    gflops
        Thousand millions of operations in a second.
    bytes_per_call
        What it reads and writes each time.
    line
        The user's line that it is for, or the nearest of what it is computed from.
    of_gradient
        Whether it is for the gradient of that line.
    """

    text: str
    seconds: float
    calls: int
    gflops: float
    bytes_per_call: int
    line: str
    of_gradient: bool = False

    @property
    def where(self) -> str:
        """The line as text, as seen from the folder that the process is in."""
        return format_line(self.line, self.of_gradient)


@dataclass(frozen=True)
class LoopTime:
    """A loop of a profiled function, over all calls.

    Attributes
    ----------
    node
        The loop in its graph; of a loop that is inside another, in what the engine made from that.
    overhead_per_step
        Seconds between the last statement of a step and the first of the next.
    """

    name: str
    node: Any
    seconds: float
    calls: int
    steps: int
    overhead_per_step: float
    statements: tuple[StatementTime, ...]


# Gives the times of a compiled graph's loops; nothing where they are not measured.
Measure = Callable[[Any], "tuple[LoopTime, ...]"]

_measures: list[Measure] = []


def use_step_times(measure: Measure) -> None:
    """Say who measures loops, once for each engine."""
    _measures.append(measure)


def step_times(graph: FunctionGraph) -> tuple[LoopTime, ...]:
    """Return the times of the loops of a compiled graph, of those that were measured."""
    return tuple(time for measure in _measures for time in measure(graph))
