"""Loops of a step without the results that nobody reads.

What such a result begins in would leave a step as memory for all its steps: the gradient by a
matrix, in a Jacobian by a vector. A gradient computes what a sequence gets, whether or not it is
asked for; PyTensor drops that, too, in three times the time.
"""

from __future__ import annotations

from dataclasses import replace

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import graph_inputs

from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop.arguments import Loop, State, Trace, Untraced, unpack


def drop_dead_results(graph: FunctionGraph) -> None:
    """Make the loops of a graph without results that neither the graph nor their steps read."""
    for node in reversed(in_order(graph)):
        if isinstance(node.op, Scan) and not all(map(graph.clients.get, node.outputs)):
            _drop_dead_results_of(graph, node)


def _drop_dead_results_of(graph: FunctionGraph, node: Apply) -> None:
    shorter = without_dead_results(unpack(node), graph)
    if shorter is not None:
        built = shorter.build(type(node.op))
        graph.replace_all(list(built.replacements().items()), reason="drop_dead_results")


def without_dead_results(loop: Loop, graph: FunctionGraph) -> Loop | None:
    """Return the same loop with those results that a graph or its step reads; None if these are all."""
    clients = graph.clients
    read = [v for v in loop.results if v.output is not None and clients[v.output]]
    kept = _read_results(loop, read)
    if len(kept) == len(loop.results):
        return None
    return replace(
        loop,
        states=tuple(state for state in loop.states if state in kept),
        traces=tuple(trace for trace in loop.traces if trace in kept),
        untraced=tuple(entry for entry in loop.untraced if entry in kept),
    ).without_unused_inputs()


def _read_results(
    loop: Loop, read: list[State | Trace | Untraced]
) -> set[State | Trace | Untraced]:
    """Results of a loop, and those that later steps read to compute them."""
    readers: dict[Variable, State | Untraced]
    readers = {tap.inner: state for state in loop.states for tap in state.reads}
    readers |= {entry.inner_input: entry for entry in loop.untraced}
    kept = set(read)
    outputs = [] if loop.condition is None else [loop.condition]
    while True:
        computed = [*outputs, *(v for entry in kept for v in _computed(entry))]
        needed = {readers[leaf] for leaf in graph_inputs(computed) if leaf in readers}
        if needed <= kept:
            return kept
        kept |= needed


def _computed(entry: State | Trace | Untraced) -> list[Variable]:
    """Return what each step computes for a result."""
    if isinstance(entry, State):
        return [tap.inner for tap in entry.writes]
    return [entry.inner if isinstance(entry, Trace) else entry.inner_output]
