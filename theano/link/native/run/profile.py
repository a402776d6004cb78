"""The profile of a function: the time of its loops, and of the statements of each."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import cache, partial
from typing import Any
from weakref import WeakKeyDictionary

from pytensor.configdefaults import config
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph

from theano.link.native.build.loaded import address_in
from theano.link.native.lowering.segment import SegmentCall
from theano.link.native.render.counters import FIELDS, Counter, Counters, ValueOfNode
from theano.pytensor_internals.functions.compiling import expect_function
from theano.pytensor_internals.functions.profiling import register_profiler_printer
from theano.scan_module.report.step_times import LoopTime, StatementTime, use_step_times
from theano.source_locations.lines import Place, nearest_place
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class StatementProfile:
    """A statement, or a few that compute numbers.

    Attributes
    ----------
    text
        What it does.
    operation
        The operation that it was written for; empty where that is not known.
    operations
        Additions, multiplications and functions, over all calls; with several threads, of all.
    bytes
        What it reads and writes, over all calls.
    line
        The user's line that it is for, or the nearest of what it is computed from.
    of_gradient
        Whether it is for the gradient of that line.
    """

    text: str
    operation: str
    seconds: float
    calls: int
    operations: int
    bytes: int
    line: str = ""
    of_gradient: bool = False

    @property
    def gflops(self) -> float:
        """Thousand millions of operations in a second."""
        return self.operations / self.seconds / 1e9 if self.seconds else 0.0


@dataclass(frozen=True)
class LoopProfile:
    """A loop, over all of its calls.

    Attributes
    ----------
    seconds
        With what is done before and after the steps, such as packing matrices.
    overhead_per_step
        Seconds between the last statement of a step and the first of the next, where threads may
        wait for one another, too.
    """

    name: str
    seconds: float
    calls: int
    steps: int
    overhead_per_step: float
    statements: tuple[StatementProfile, ...]


@dataclass(frozen=True)
class SegmentProfile:
    """A C function that stands for nodes outside of loops.

    Attributes
    ----------
    outputs, work
        The bytes that it keeps for its results and for its own use.
    """

    name: str
    statements: tuple[StatementProfile, ...]
    outputs: int
    work: int


@dataclass(frozen=True)
class NativeProfile:
    """The loops and segments of a function; as text, in the layout of Theano's profiles."""

    loops: tuple[LoopProfile, ...]
    segments: tuple[SegmentProfile, ...]

    def __str__(self) -> str:
        lines: list[str] = []
        for loop in self.loops:
            lines += _titled(f"Native loop {loop.name}")
            lines += [
                f"  {loop.calls} calls of {loop.steps} steps in all: {loop.seconds:.3e}s",
                f"  Overhead per step: {loop.overhead_per_step:.2e}s",
                *_table(loop.statements, loop.seconds),
            ]
        for segment in self.segments:
            lines += _titled(f"Native code outside of loops: {segment.name}")
            lines += _table(segment.statements, sum(s.seconds for s in segment.statements))
            if config.profile_memory:
                lines.append(f"  Bytes kept: {segment.outputs} results, {segment.work} work memory")
        return "\n".join(lines)


@dataclass(frozen=True)
class LoopOfNodes:
    """A loop by the nodes of its step, over all of its calls.

    Attributes
    ----------
    node
        The node of the loop, in the graph around it.
    seconds, calls, steps, overhead
        As in `LoopProfile`; the overhead of all steps together.
    times
        The seconds of each node of the step, in the order in which they run.
    shapes, in_memory
        Of each value of the step the last shape; those that are arrays.
    """

    name: str
    node: Any
    seconds: float
    calls: int
    steps: int
    overhead: float
    times: dict[Any, float]
    shapes: dict[Any, tuple[int, ...]]
    in_memory: frozenset


class Measurements:
    """The counters of a compiled function.

    Parameters
    ----------
    natives
        What runs each segment, and says what memory it keeps.
    """

    def __init__(
        self, fgraph: FunctionGraph, natives: Sequence[Any], counters: Counters, library: Any
    ):
        self._natives, self._counters = natives, counters
        self._address = partial(address_in, library)
        self._seen = [0] * len(counters.table)
        _measured[fgraph] = self
        _print_with_profiles()

    def shares(self, segment: SegmentCall, seconds: float) -> dict[Any, float]:
        """Return what has passed since this was asked last, by node.

        The time that was not counted, or for no node, is shared out in proportion.
        """
        counted = dict.fromkeys(segment.nodes, 0.0)
        for k, (counter, numbers) in enumerate(self.read()):
            if counter.function == segment.name:
                if counter.node is not None:
                    counted[counter.node] += numbers["nanoseconds"] - self._seen[k]
                self._seen[k] = numbers["nanoseconds"]
        total = sum(counted.values())
        if not total:
            return counted | {segment.nodes[0]: seconds}
        return {node: seconds * share / total for node, share in counted.items()}

    def profile(self) -> NativeProfile:
        """Return what was counted since the function was compiled."""
        read = self.read()
        segments = {native.segment.name: native for native in self._natives}
        functions = dict.fromkeys(counter.function for counter, _ in read)
        return NativeProfile(
            tuple(_loop(name, read) for name in functions if name not in segments),
            tuple(
                SegmentProfile(name, _statements(name, read), *native.bytes_kept())
                for name, native in segments.items()
            ),
        )

    def loops(self) -> list[LoopOfNodes]:
        """Return the loops, each by the nodes of its step."""
        read, shapes = self.read(), self.shapes()
        called = {counter.called: counter.node for counter, _ in read if counter.called}
        return [_by_nodes(name, node, read, shapes) for name, node in called.items()]

    def loop_times(self) -> tuple[LoopTime, ...]:
        """Return the loops that ran, each with its node."""
        read = self.read()
        called = {counter.called: counter.node for counter, _ in read if counter.called}
        loops = [(node, _loop(name, read)) for name, node in called.items()]
        return tuple(_loop_time(node, loop) for node, loop in loops if loop.calls)

    def outer_shapes(self) -> dict[Any, tuple[int, ...]]:
        """Return the last shape of each value outside of loops."""
        names = {native.segment.name for native in self._natives}
        return {v.variable: shape for v, shape in self.shapes().items() if v.function in names}

    def outer_in_memory(self) -> frozenset:
        """Return the values outside of loops that are arrays."""
        names = {native.segment.name for native in self._natives}
        return frozenset(
            v.variable for v in self._counters.values if v.function in names and v.in_memory
        )

    def shapes(self) -> dict[ValueOfNode, tuple[int, ...]]:
        """Return the last shape of each value."""
        return self._counters.read_shapes(self._address)

    def read(self) -> list[tuple[Counter, dict[str, int]]]:
        """Return each counter with what it has counted, in the order of the code."""
        return [
            (counter, dict(zip(FIELDS, numbers, strict=True)))
            for counter, numbers in zip(
                self._counters.table, self._counters.read(self._address), strict=True
            )
        ]


_measured: WeakKeyDictionary[Any, Measurements] = WeakKeyDictionary()


def measurements_of(fgraph: FunctionGraph) -> Measurements | None:
    """Return what is counted in a function's graph, if it is native and profiled."""
    return _measured.get(fgraph)


def _loop_time(node: Apply, loop: LoopProfile) -> LoopTime:
    statements = (s for s in loop.statements if s.calls)
    return LoopTime(
        loop.name,
        node,
        loop.seconds,
        loop.calls,
        loop.steps,
        loop.overhead_per_step,
        tuple(
            StatementTime(
                s.text, s.seconds, s.calls, s.gflops, s.bytes // s.calls, s.line, s.of_gradient
            )
            for s in sorted(statements, key=lambda s: -s.seconds)
        ),
    )


def _times_of_loops(fgraph: FunctionGraph) -> tuple[LoopTime, ...]:
    """Return the times of a graph's loops, as a report on loops shows them."""
    measured = _measured.get(fgraph)
    return () if measured is None else measured.loop_times()


use_step_times(_times_of_loops)


def _by_nodes(name: str, node: Apply, read: Any, shapes: Any) -> LoopOfNodes:
    about = _loop(name, read)
    values = [v for v in shapes if v.function == name]
    makers = (v.variable.owner for v in values if v.variable.owner is not None)
    times: dict[Any, float] = dict.fromkeys(makers, 0.0)
    for counter, numbers in read:
        if counter.function == name and counter.node is not None:
            seconds = times.get(counter.node, 0.0)
            times[counter.node] = seconds + numbers["nanoseconds"] / 1e9
    return LoopOfNodes(
        about.name,
        node,
        about.seconds,
        about.calls,
        about.steps,
        about.overhead_per_step * about.steps,
        times,
        {v.variable: shapes[v] for v in values},
        frozenset(v.variable for v in values if v.in_memory),
    )


def _loop(name: str, read: list[tuple[Counter, dict[str, int]]]) -> LoopProfile:
    callers = [(counter, n) for counter, n in read if counter.called == name]
    between = [n for counter, n in read if (counter.function, counter.kind) == (name, "between")]
    steps = sum(n["calls"] for n in between)
    overhead = sum(n["nanoseconds"] for n in between) / 1e9
    return LoopProfile(
        callers[0][0].text.removeprefix("the loop "),
        sum(n["nanoseconds"] for _, n in callers) / 1e9,
        sum(n["calls"] for _, n in callers),
        steps,
        overhead / steps if steps else 0.0,
        _statements(name, read),
    )


def _statements(name: str, read: list[tuple[Counter, dict[str, int]]]) -> tuple:
    return tuple(
        _statement(counter, numbers)
        for counter, numbers in read
        if counter.function == name and counter.kind != "between"
    )


def _statement(counter: Counter, numbers: dict[str, int]) -> StatementProfile:
    known = counter.node is not None
    place = nearest_place(counter.node) if known else Place("", False)
    return StatementProfile(
        counter.text,
        str(counter.node.op) if known else "",
        numbers["nanoseconds"] / 1e9,
        numbers["calls"],
        numbers["operations"],
        numbers["bytes"],
        place.line,
        place.of_gradient,
    )


def profile(function: object) -> NativeProfile:
    """Return where a function has spent its time since it was compiled.

    Parameters
    ----------
    function
        What ``theano.function`` returned, compiled with ``profile=True``.

    Returns
    -------
    NativeProfile

    Raises
    ------
    TypeError
        When the function was compiled with another engine, or without a profile.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> from theano.link import native
    >>> x = T.vector("x")
    >>> profile = theano.ProfileStats(atexit_print=False)
    >>> f = theano.function([x], T.tanh(x), mode="NATIVE", profile=profile)
    >>> f([0.0])
    array([0.])
    >>> type(native.profile(f)).__name__
    'NativeProfile'
    """
    measurements = _measured.get(expect_function(function, "profile").maker.fgraph)
    if measurements is None:
        raise TypeError(
            f"expected a function with native code, compiled with profile=True; got {function}"
        )
    return measurements.profile()


@cache
def _print_with_profiles() -> None:
    """Have PyTensor call this with each profile that it prints, once there is a native one."""
    register_profiler_printer(_print_native)


def _print_native(
    message, compile_time, fct_call_time, apply_time, apply_cimpl, output_size, file=sys.stderr
) -> None:
    for fgraph in dict.fromkeys(fgraph for fgraph, _ in apply_time):
        if fgraph in _measured:
            print(_measured[fgraph].profile(), file=file)


def _titled(title: str) -> list[str]:
    return ["", title, "-" * len(title)]


def _table(statements: Iterable[StatementProfile], total: float) -> list[str]:
    lines = ["<% time> <time> <time per call> <#call> <Gflops/s> <bytes per call> <statement>"]
    for s in sorted(statements, key=lambda s: -s.seconds):
        if s.calls:
            share = 100 * s.seconds / total if total else 0.0
            lines.append(
                f"  {share:5.1f}% {s.seconds:9.3e}s {s.seconds / s.calls:9.2e}s {s.calls:7d} "
                f"{s.gflops:9.1f} {s.bytes // s.calls:11d}  {s.text}  {s.operation}".rstrip()
            )
    return lines
