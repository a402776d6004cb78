"""The times of a program's functions, as data: taken from their profiles when it has ended."""

from __future__ import annotations

import linecache
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pytensor.graph.fg import FunctionGraph

from theano.compile.profiling import ProfileStats
from theano.link.native.run.profile import SegmentProfile, StatementProfile, measurements_of
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.report.function_report import ScanReport
from theano.scan_module.report.scan_report import report_of_graph
from theano.scan_module.report.step_times import LoopTime, StatementTime, step_times
from theano.source_locations.lines import Place, nearest_line, nearest_place
from theano.support.data_classes import dataclass

SMALLEST_SHARE = 0.001


@dataclass(frozen=True)
class Compilation:
    """Seconds that compiling a function took, by stage.

    Attributes
    ----------
    whole
        From the call of ``theano.function`` to its end.
    rewriting
        What rewrites took.
    code
        What writing code took, and the C compiler for as long as it was waited for.
    """

    whole: float
    rewriting: float
    code: float

    @property
    def rest(self) -> float:
        """Return what copying the graph took, and all else."""
        return max(0.0, self.whole - self.rewriting - self.code)


@dataclass(frozen=True)
class PythonCall:
    """An operation that Python runs, in a function whose other ones are native."""

    operation: str
    seconds: float
    line: str


@dataclass(frozen=True)
class LineTime:
    """The time of a user's line, over all functions.

    Attributes
    ----------
    forward, gradient
        Seconds of its own work, and of its gradient's.
    """

    line: str
    forward: float
    gradient: float

    @property
    def seconds(self) -> float:
        """Both together."""
        return self.forward + self.gradient


@dataclass(frozen=True)
class FunctionTimes:
    """A compiled function, over all of its calls.

    Attributes
    ----------
    name
        Its name, or the line that compiled it.
    seconds, calls
        Of all calls.
    inside
        Of these seconds, those in the program that was compiled; the rest is Python's, which
        checks and converts what is given.
    loops
        Its loops; ``report`` describes their compiled form.
    statements
        What it does outside of loops.
    python
        What Python runs, the longest first.
    lines
        The seconds of each of the user's lines, and apart from them those of its gradient.
    bytes
        What it keeps for results and for work.
    """

    name: str
    seconds: float
    calls: int
    inside: float
    compilation: Compilation
    loops: tuple[LoopTime, ...]
    statements: tuple[StatementProfile, ...]
    python: tuple[PythonCall, ...]
    lines: dict[Place, float]
    bytes: int
    report: ScanReport | None


@dataclass(frozen=True)
class Findings:
    """The times of a whole program.

    Attributes
    ----------
    program
        How it was called.
    seconds
        From its beginning to its end.
    functions
        Those that were compiled, the longest first.
    peak_bytes
        The most memory that the process had.
    best
        Thousand millions of operations in a second that a large product reaches here, of float32
        and of float64, measured when the program had ended.
    error
        What ended the program, if it failed.
    """

    program: str
    seconds: float
    functions: tuple[FunctionTimes, ...]
    peak_bytes: int
    best: dict[str, float]
    error: str = ""

    @property
    def calling(self) -> float:
        """Seconds in calls of functions."""
        return sum(function.seconds for function in self.functions)

    @property
    def compilation(self) -> Compilation:
        """Return what compiling all functions took."""
        each = [function.compilation for function in self.functions]
        return Compilation(
            sum(one.whole for one in each),
            sum(one.rewriting for one in each),
            sum(one.code for one in each),
        )

    @property
    def compiling(self) -> float:
        """Seconds in which functions were compiled."""
        return self.compilation.whole

    @property
    def elsewhere(self) -> float:
        """Seconds of the program itself, outside of functions and their compilation."""
        return max(0.0, self.seconds - self.calling - self.compiling)

    @property
    def best_text(self) -> str:
        """Return what a large product reaches here; empty where it was not measured."""
        return ", ".join(f"{rate:.0f} GFLOP/s of {dtype}" for dtype, rate in self.best.items())

    @property
    def lines(self) -> list[LineTime]:
        """Return what each of the user's lines took, the longest first."""
        total: dict[Place, float] = defaultdict(float)
        for function in self.functions:
            for place, seconds in function.lines.items():
                total[place] += seconds
        times = [
            LineTime(line, total.get(Place(line, False), 0.0), total.get(Place(line, True), 0.0))
            for line in dict.fromkeys(place.line for place in total)
        ]
        return sorted(times, key=lambda time: -time.seconds)


def share_of(findings: Findings, seconds: float) -> float:
    """Return a part of the program's time."""
    return seconds / findings.seconds if findings.seconds else 0.0


def statements_of(findings: Findings) -> list[tuple[StatementTime | StatementProfile, str]]:
    """Return the statements that take time, the longest first, each with the loop or function it is in."""
    found: list[tuple[StatementTime | StatementProfile, str]] = []
    for f in findings.functions:
        found += [(s, f"loop {loop.name}") for loop in f.loops for s in loop.statements]
        found += [(s, f.name) for s in f.statements]
    shown = [pair for pair in found if share_of(findings, pair[0].seconds) >= SMALLEST_SHARE]
    return sorted(shown, key=lambda pair: -pair[0].seconds)


def source_of(line: str) -> str:
    """Return the text of a user's line, given as ``file:line``; empty where it is not known."""
    path, _, number = line.rpartition(":")
    return linecache.getline(path, int(number)).strip() if number.isdigit() else ""


def function_times(stats: ProfileStats) -> FunctionTimes:
    """Return the findings of a profile about a function."""
    graphs = stats.graphs
    loops = tuple(time for graph in graphs for time in step_times(graph))
    segments = tuple(part for graph in graphs for part in _segments(graph))
    return FunctionTimes(
        name=str(stats.message or "a function without a name"),
        seconds=stats.fct_call_time,
        calls=stats.fct_callcount,
        inside=stats.vm_call_time,
        compilation=Compilation(stats.compile_time, stats.rewriting_time, stats.linker_time),
        loops=loops,
        statements=tuple(s for part in segments for s in part.statements if _is_work(s)),
        python=tuple(_by_python(stats)),
        lines=_seconds_by_line(stats),
        bytes=sum(part.outputs + part.work for part in segments),
        report=_report(graphs[0], str(stats.message)) if loops else None,
    )


def _report(graph: FunctionGraph, name: str) -> ScanReport:
    """Return the reports on a graph's loops, with sizes as they were in the last call."""
    measured = measurements_of(graph)
    shapes = {} if measured is None else measured.outer_shapes()
    return report_of_graph(graph, name, shapes=shapes)


def _segments(graph: FunctionGraph) -> Sequence[SegmentProfile]:
    measured = measurements_of(graph)
    return () if measured is None else measured.profile().segments


def _is_work(statement: StatementProfile) -> bool:
    """Return whether a statement outside of loops is none of the loops themselves."""
    return bool(statement.calls) and not statement.text.startswith("the loop ")


def _by_python(stats: ProfileStats) -> Iterable[PythonCall]:
    times: dict[tuple[str, str], float] = defaultdict(float)
    in_c = stats.apply_cimpl or {}
    for (_, node), seconds in stats.apply_time.items():
        if not in_c.get(node) and seconds:
            times[str(node.op), nearest_line(node)] += seconds
    for (operation, line), seconds in sorted(times.items(), key=lambda item: -item[1]):
        yield PythonCall(operation, seconds, line)


def _seconds_by_line(stats: ProfileStats) -> dict[Place, float]:
    """Of a loop that is native the seconds of its steps, of all else those of nodes."""
    inside = {loop.node: loop for loop in stats.loops()}
    lines: dict[Place, float] = defaultdict(float)
    for (_, node), seconds in stats.apply_time.items():
        loop = inside.get(node) if isinstance(node.op, Scan) else None
        counted = sum(loop.times.values()) if loop is not None else 0.0
        if loop is None or not counted:
            lines[nearest_place(node)] += seconds
            continue
        for step_node, share in loop.times.items():
            place = nearest_place(step_node)
            lines[place if place.line else nearest_place(node)] += seconds * share / counted
    return dict(lines)
