"""merge_equal_results: what a loop computes twice is read from the first of its results.

    a, b, f(a), f(b) of states a and b that begin alike and stay alike   ->   a, a, f(a), f(a)

Two states are equal in every step if they begin in the same buffer, are read and written at the
same places, and what the step gives them is equal as long as such states are: the coarsest
partition that the step keeps (Hopcroft 1971, for automata). PyTensor takes all that begin alike to
be equal, whatever the step gives them.
It is legal because equal results are equal; what nobody reads any more leaves the loop elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from pytensor.graph.basic import Apply, Variable, equal_computations
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import graph_replace

from theano.pytensor_base.graphs.rewriting import dfs_rewriter, node_rewriter
from theano.pytensor_base.graphs.scan import Scan
from theano.scan_module.loop.arguments import Loop, State, take_apart


@node_rewriter([Scan])
def merge_equal_results(graph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | None:
    """Read a result of a loop from another that is equal to it."""
    if not _may_have_equal_results(node):
        return None
    loop = take_apart(node)
    classes = _equal_states(loop)
    merged = [(member.output, first.output) for first, *others in classes for member in others]
    merged += _equal_traces(loop, classes)
    return {
        output: first
        for output, first in merged
        if output is not None and first is not None and graph.clients.get(output)
    } or None


def _may_have_equal_results(node: Apply) -> bool:
    """Whether two arguments are the same, or two results that have the same length."""
    given = node.inputs[1:]
    return len(set(given)) < len(given)


def _equal_states(loop: Loop) -> list[list[State]]:
    """The states, each with those that are equal to it in every step."""
    classes = _grouped(loop.states, lambda state: (state.outer, state.taps))
    while True:
        substituted = _with_first_for_each(loop, classes)
        split = [part for group in classes for part in _split(group, substituted)]
        if len(split) == len(classes):
            return classes
        classes = split


def _split(group: list[State], substituted: dict[Variable, Variable]) -> list[list[State]]:
    """States that were taken to be equal, apart where they are given what is not."""
    parts: list[list[State]] = []
    for state in group:
        updates = [substituted[tap.inner] for tap in state.writes]
        for part in parts:
            if equal_computations(updates, [substituted[tap.inner] for tap in part[0].writes]):
                part.append(state)
                break
        else:
            parts.append([state])
    return parts


def _equal_traces(
    loop: Loop, classes: list[list[State]]
) -> list[tuple[Variable | None, Variable | None]]:
    """Pairs of a trace and the first that is equal to it."""
    substituted = _with_first_for_each(loop, classes)
    pairs = []
    for group in _grouped(loop.traces, lambda trace: (trace.length, trace.inner.type)):
        firsts: list = []
        for trace in group:
            value = substituted[trace.inner]
            for first in firsts:
                if equal_computations([value], [substituted[first.inner]]):
                    pairs.append((trace.output, first.output))
                    break
            else:
                firsts.append(trace)
    return pairs


def _with_first_for_each(loop: Loop, classes: list[list[State]]) -> dict[Variable, Variable]:
    """What the step computes, with one variable for those of its inputs that are equal."""
    equal: dict[Variable, Variable] = {}
    for first, *others in classes:
        for state in others:
            pairs = zip(state.reads, first.reads, strict=True)
            equal |= {own.inner: other.inner for own, other in pairs}
    for entries in (loop.sequences, loop.invariants):
        for first, *others in _grouped(entries, lambda entry: entry.outer):
            equal |= {entry.inner: first.inner for entry in others}
    computed = [tap.inner for state in loop.states for tap in state.writes]
    computed += [trace.inner for trace in loop.traces]
    if not equal:
        return {value: value for value in computed}
    return dict(zip(computed, graph_replace(computed, equal, strict=False), strict=True))


def _grouped(entries: Iterable, key) -> list[list]:
    groups: dict[Hashable, list] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return list(groups.values())


MERGE_EQUAL_RESULTS = dfs_rewriter(merge_equal_results, ignore_newtrees=True)
