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

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_base.graphs.rewriting import dfs_rewriter, node_rewriter
from theano.pytensor_base.graphs.scan import Scan
from theano.scan_module.loop.arguments import Loop, State, take_apart
from theano.scan_module.step.equal_values import NumberedValues


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
        numbered = NumberedValues(_first_for_each(loop, classes))
        split = [part for group in classes for part in _split(group, numbered)]
        if len(split) == len(classes):
            return classes
        classes = split


def _split(group: list[State], numbered: NumberedValues) -> list[list[State]]:
    """States that were taken to be equal, apart where they are given what is not."""
    if len(group) == 1:
        return [group]
    return _grouped(
        group,
        lambda state: tuple((tap.inner.type, numbered.of(tap.inner)) for tap in state.writes),
    )


def _equal_traces(
    loop: Loop, classes: list[list[State]]
) -> list[tuple[Variable | None, Variable | None]]:
    """Pairs of a trace and the first that is equal to it."""
    numbered = NumberedValues(_first_for_each(loop, classes))
    groups = _grouped(
        loop.traces,
        lambda trace: (trace.length, trace.inner.type, numbered.of(trace.inner)),
    )
    return [(trace.output, first.output) for first, *others in groups for trace in others]


def _first_for_each(loop: Loop, classes: list[list[State]]) -> dict[Variable, Variable]:
    """For those inputs of the step that are equal to others, the first of these."""
    equal: dict[Variable, Variable] = {}
    for first, *others in classes:
        for state in others:
            pairs = zip(state.reads, first.reads, strict=True)
            equal |= {own.inner: other.inner for own, other in pairs}
    for entries in (loop.sequences, loop.invariants):
        for first, *others in _grouped(entries, lambda entry: entry.outer):
            equal |= {entry.inner: first.inner for entry in others}
    return equal


def _grouped(entries: Iterable, key) -> list[list]:
    groups: dict[Hashable, list] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return list(groups.values())


MERGE_EQUAL_RESULTS = dfs_rewriter(merge_equal_results, ignore_newtrees=True)
