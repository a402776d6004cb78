"""``scan_report``: a report on the loops of a compiled function, with reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import toposort

from theano.pytensor_internals.functions.compiling import Function, expect_function
from theano.scan_module.loop.arguments import Loop, unpack
from theano.scan_module.loop.roles import Roles
from theano.scan_module.report.describe import describe, input_names
from theano.scan_module.report.function_report import ScanReport
from theano.scan_module.report.input_values import arrays_of_shapes, input_values
from theano.scan_module.report.lengths import (
    Length,
    as_number,
    evaluated,
    simplified,
    with_shapes,
)
from theano.scan_module.report.loop_bytes import (
    Shapes,
    Written,
    input_shapes,
    total_bytes,
    traces_of,
    written_by,
)
from theano.scan_module.report.loop_history import (
    Decision,
    LoopHistory,
    LoopRecord,
    find_history,
    origins_of,
)
from theano.scan_module.report.loop_reports import LoopReport, SavedValue
from theano.scan_module.report.memory_use import MemoryUse, UnknownMemory
from theano.scan_module.report.saved_because import reason_to_save
from theano.scan_module.report.step_products import StepProduct, products_of_step
from theano.scan_module.report.step_times import LoopTime, step_times
from theano.scan_module.scan_opt.loop_rewriter import loops_of
from theano.scan_module.step.products import products_among
from theano.support.data_classes import dataclass


def scan_report(
    function: Function,
    arguments: Sequence[Any] | Mapping[str, Any] | None = None,
    shapes: Sequence[Any] | Mapping[str, Any] | None = None,
) -> ScanReport:
    """Report what was done to the loops of a compiled function.

    Parameters
    ----------
    function
        What ``theano.function`` returned.
    arguments
        Arguments that the function could be called with, by position or by name. With them sizes
        are numbers; without, those that depend on arguments are expressions. The function is not
        called.
    shapes
        Instead of arguments, their shapes, by position or by name; a number in place of a shape
        is the argument itself, such as a number of steps.

    Returns
    -------
    ScanReport
        Print it, look at it in a notebook, write it as a page or picture, or read its fields.

    Raises
    ------
    TypeError
        If ``function`` is not a compiled function, or the arguments are not as many as it takes.

    Examples
    --------
    >>> import theano, theano.tensor as T
    >>> from theano.scan_module import scan_report
    >>> x, w = T.tensor3("x"), T.matrix("w")
    >>> total, _ = theano.scan(lambda x, h, w: T.tanh(x.dot(w) + h), sequences=x,
    ...                        outputs_info=T.zeros((2, 3)), non_sequences=w, name="rnn")
    >>> report = scan_report(theano.function([x, w], total))
    >>> report.loops[0].products_before, report.loops[0].products_after, report.products_outside
    (1, 0, 1)
    """
    graph = expect_function(function, "scan_report").maker.fgraph
    if arguments is not None and shapes is not None:
        raise TypeError("scan_report: give arguments or their shapes, not both")
    if shapes is not None:
        arguments = arrays_of_shapes(function, shapes)
    values = None if arguments is None else input_values(function, arguments, "scan_report")
    # before the steps are compiled by themselves, as the report looks at them
    memory = None if values is None else _memory(function, values)
    report = report_of_graph(graph, function.name or "unnamed", values)
    return report if memory is None else replace(report, memory=memory)


def _memory(function: Function, values: list[Any]) -> MemoryUse | None:
    """Return the memory of a call, where the engine knows it."""
    memory_use = getattr(function.vm, "memory_use", None)
    try:
        return None if memory_use is None else memory_use(values)
    except UnknownMemory:
        return None


def report_of_graph(
    graph: FunctionGraph,
    name: str,
    values: list[Any] | None = None,
    shapes: Mapping[Variable, tuple[int, ...]] | None = None,
) -> ScanReport:
    """Return the same of a compiled graph.

    Parameters
    ----------
    name
        The function's.
    values
        Of the graph's inputs; without, sizes are expressions.
    shapes
        Instead of values, the shapes of inputs; sizes that follow from them are numbers.
    """
    history = find_history(graph)
    found = _loops(graph, _Surroundings((), {}, None, step_times(graph)))
    wanted = list(dict.fromkeys(length for loop in found for length in loop.lengths()))
    if values is None:
        numbers = simplified(with_shapes(wanted, shapes or {}))
        # in simple terms they may be sizes of what is known
        numbers = [
            as_number(with_shapes([n], shapes or {})[0]) if isinstance(n, Variable) else n
            for n in numbers
        ]
    else:
        numbers = [*evaluated(wanted, graph.inputs, values)]
    lengths = dict(zip(wanted, numbers, strict=True))
    return ScanReport(
        function=name,
        recorded=history is not None,
        loops=tuple(loop.report(lengths) for loop in found),
        products_outside=len(products_among(graph.toposort())),
        graph=graph,
    )


@dataclass(frozen=True)
class _Surroundings:
    """The surroundings of a graph: the loops around it, and what is known of its inputs."""

    path: tuple[str, ...]
    names: Mapping[Variable, str]
    shapes: Mapping[Variable, tuple] | None
    times: tuple[LoopTime, ...]

    def time_of(self, node: Apply | None, name: str) -> LoopTime | None:
        """Return the time of a loop: by its node, or where that is not known by a name that no other has."""
        if node is None:
            return None
        own = [time for time in self.times if time.node is node]
        named = own or [time for time in self.times if time.name == name]
        return named[0] if len(named) == 1 else None


@dataclass(frozen=True)
class _Found:
    """A loop, with sizes still as expressions."""

    name: str
    path: tuple[str, ...]
    sources: tuple[str, ...]
    products_before: int | None
    products_given: tuple[StepProduct, ...]
    products_left: tuple[StepProduct, ...] | None
    written_before: tuple[Written, ...] | None
    written_after: tuple[Written, ...] | None
    saved: tuple[tuple[SavedValue, Written], ...]
    policy: str | None
    decisions: tuple[Decision, ...]
    time: LoopTime | None

    def lengths(self) -> Iterable[Variable]:
        values = [*(self.written_before or ()), *(self.written_after or ())]
        for value in [*values, *(entry[-1] for entry in self.saved)]:
            yield from (length for length in value.shape if isinstance(length, Variable))

    def report(self, lengths: Mapping[Variable, Length]) -> LoopReport:
        def size(values):
            return None if values is None else total_bytes(values, lengths)

        return LoopReport(
            name=self.name,
            path=self.path,
            sources=self.sources,
            products_before=self.products_before,
            products_after=None if self.products_left is None else len(self.products_left),
            bytes_before=size(self.written_before),
            bytes_after=size(self.written_after),
            saved=tuple(
                replace(value, bytes=total_bytes([written], lengths))
                for value, written in self.saved
            ),
            policy=self.policy,
            decisions=self.decisions,
            products_left=self.products_left or (),
            products_given=self.products_given,
            time=self.time,
        )


def _loops(graph: FunctionGraph, around: _Surroundings) -> list[_Found]:
    """Return the loops of a compiled graph, and those that were in it and are gone."""
    history = find_history(graph)
    survivors = _origins(history, list(loops_of(graph)))
    records = [] if history is None else history.records
    gone = set(range(len(records))) - {k for origins in survivors.values() for k in origins}
    # in the order in which they were recorded; a loop that came from elsewhere is last
    places: list[tuple[tuple[int, ...], Apply | None]]
    places = [(origins or (len(records),), node) for node, origins in survivors.items()]
    places += [((number,), None) for number in gone]
    found = []
    for origins, node in sorted(places, key=lambda place: place[0]):
        known = [records[k] for k in origins if k < len(records)]
        made = history.decisions if history is not None and known else ()
        decisions = [d for d in made if set(d.origins) & set(origins)]
        loop = _found(known, node, decisions, around)
        found.append(loop)
        if node is not None:
            found += _loops(node.op.fn.maker.fgraph, _inside(node, around))
    return found


def _origins(history: LoopHistory | None, nodes: list[Apply]) -> dict[Apply, tuple[int, ...]]:
    """Return which recorded loops each loop comes from; by name if a rewrite's trail was lost."""
    if history is None:
        return dict.fromkeys(nodes, ())
    origins = {node: origins_of(node) for node in nodes}
    free = [r for r in history.records if not any(r.number in o for o in origins.values())]
    for node in nodes:
        match = next((r for r in free if r.name == node.op.name), None)
        if not origins[node] and match is not None:
            origins[node] = (match.number,)
            free.remove(match)
    return origins


def _inside(node: Apply, around: _Surroundings) -> _Surroundings:
    """Return the surroundings of the step that a loop compiled."""
    loop = unpack(node)
    inputs = node.op.fn.maker.fgraph.inputs
    names = input_names(loop, around.names)
    shapes = input_shapes(loop, Shapes(loop.outer_inputs, around.shapes))
    pairs = list(zip(loop.inner_inputs, inputs, strict=False))
    return _Surroundings(
        path=(*around.path, node.op.name or "scan"),
        names={own: names[inner] for inner, own in pairs if inner in names},
        shapes={own: shapes[inner] for inner, own in pairs if inner in shapes},
        times=around.times,
    )


def _found(
    records: list[LoopRecord],
    node: Apply | None,
    decisions: list[Decision],
    around: _Surroundings,
) -> _Found:
    left = after = None
    if node is not None:
        inside = _inside(node, around)
        left = _products_left(node, inside)
        after = _written_by(unpack(node), around)
    name = "&".join(record.name for record in records) if node is None else node.op.name
    name = name or "scan"
    policies = dict.fromkeys(record.policy for record in records if record.saved)
    return _Found(
        name=name,
        path=around.path,
        sources=tuple(record.name for record in records),
        products_before=sum(record.products for record in records) if records else None,
        products_given=tuple(p for record in records for p in _products_given(record, around)),
        products_left=left,
        written_before=sum((_written_by(r.loop, around) for r in records), ()) if records else None,
        written_after=after,
        saved=tuple(value for record in records for value in _saved(record, around)),
        policy=" and ".join(p for p in policies if p) or None,
        decisions=tuple(decisions),
        time=around.time_of(node, name),
    )


def _products_given(record: LoopRecord, around: _Surroundings) -> tuple[StepProduct, ...]:
    loop = record.loop
    states = [tap.inner for state in loop.states for tap in state.reads]
    return products_of_step(toposort(loop.inner_outputs), states, input_names(loop, around.names))


def _products_left(node: Apply, inside: _Surroundings) -> tuple[StepProduct, ...]:
    step = node.op.fn.maker.fgraph
    taps = Roles.of(node.op).inner_inputs(step.inputs).states
    states = [tap for state in taps for tap in state]
    return products_of_step(step.toposort(), states, inside.names)


def _written_by(loop: Loop, around: _Surroundings) -> tuple[Written, ...]:
    return written_by(loop, Shapes(loop.outer_inputs, around.shapes))


def _saved(record: LoopRecord, around: _Surroundings) -> Iterable[tuple[SavedValue, Written]]:
    loop = record.loop
    names = input_names(loop, around.names)
    traces = traces_of(loop, Shapes(loop.outer_inputs, around.shapes))
    ranks = {0: "scalar", 1: "vector", 2: "matrix"}
    for trace in record.saved:
        position = loop.results.index(trace)
        kind = trace.inner.type
        rank = ranks.get(kind.ndim, f"tensor of rank {kind.ndim}")
        saved = SavedValue(
            output=f"{record.name}.{position}",
            expression=describe(trace.inner, names),
            type=f"{kind.dtype} {rank}",
            bytes=0,
            reason=reason_to_save(trace.inner, record.policy),
        )
        yield saved, traces[trace]
