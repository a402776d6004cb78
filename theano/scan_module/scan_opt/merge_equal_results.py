"""merge_equal_results: what a loop computes twice is read from the first of its results.

    a, b, f(a), f(b) of states a and b that begin alike and stay alike   ->   a, a, f(a), f(a)

Two states are equal in every step if they begin in the same buffer, are read and written at the
same places, and what the step gives them is equal as long as such states are: the coarsest
partition that the step keeps (Hopcroft 1971, for automata). PyTensor takes all that begin alike to
be equal, whatever the step gives them.
It is legal because equal results are equal; what nobody reads any more leaves the loop elsewhere.

What a step computes of such a state it computes of the first one. Two copies of a state may differ
in the last digit, as they are computed in another order of operations: the gradient of a maximum,
which asks where a value of one copy equals the greatest of another, would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import TypeVar

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import graph_inputs

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, dfs_rewriter, node_rewriter
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop.arguments import Invariant, Loop, Sequence, State, unpack
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.step.equal_values import NumberedValues

T = TypeVar("T")


@node_rewriter([Scan])
def merge_equal_results(graph: FunctionGraph, node: Apply) -> dict[Variable, Variable] | None:
    """Read a result of a loop from another that is equal to it."""
    if not _may_have_equal_results(node):
        return None
    loop = unpack(node)
    classes = _equal_states(loop)
    if any(_is_read_elsewhere(loop, classes, state) for _, *others in classes for state in others):
        return _of_first_states(loop, node, classes)
    merged = [(member.output, first.output) for first, *others in classes for member in others]
    merged += _equal_traces(loop, classes)
    return {
        output: first
        for output, first in merged
        if output is not None and first is not None and graph.clients.get(output)
    } or None


def _is_read_elsewhere(loop: Loop, classes: list[list[State]], state: State) -> bool:
    """Return whether something reads a state in the step but what it becomes itself, and states equal to it."""
    own = {tap.inner for tap in state.reads}
    group = next(group for group in classes if state in group)
    of_group = [tap.inner for member in group for tap in member.writes]
    outputs = [output for output in loop.inner_outputs if output not in of_group]
    return not own.isdisjoint(graph_inputs(outputs))


def _of_first_states(
    loop: Loop, node: Apply, classes: list[list[State]]
) -> dict[Variable, Variable]:
    """Return the results of a loop without the states that are equal to others."""
    first_of = {state: group[0] for group in classes for state in group}
    places = {
        own: first
        for own, first in _first_for_each(loop, classes).items()
        if own.type == first.type
    }
    kept = loop.with_inner_outputs(copied(loop.inner_outputs, places))
    # the same states in the same order, now given what the first of each are
    now = dict(zip(loop.ordered_states(), kept.ordered_states(), strict=True))
    firsts = {now[group[0]] for group in classes}
    built = replace(
        kept, states=tuple(state for state in kept.ordered_states() if state in firsts)
    ).build(type(node.op))
    results: dict[Variable, Variable] = {
        state.output: built.outputs[now[first]]
        for state, first in first_of.items()
        if state.output is not None
    }
    for entry, made in built.outputs.items():
        if entry.output is not None:
            results.setdefault(entry.output, made)
    for output, first_output in _equal_traces(loop, classes):
        if output is not None and first_output is not None:
            results[output] = results[first_output]
    for old, new in results.items():
        copy_stack_trace(old, new)
    return results


def _may_have_equal_results(node: Apply) -> bool:
    """Return whether two arguments are the same, or two results that have the same length."""
    given = node.inputs[1:]
    return len(set(given)) < len(given)


def _equal_states(loop: Loop) -> list[list[State]]:
    """Return the states, each with those that are equal to it in every step."""
    classes = _grouped(
        loop.states,
        lambda state: (state.outer, state.taps, tuple(tap.inner.type for tap in state.reads)),
    )
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
    groups: list[list[Sequence] | list[Invariant]]
    groups = [
        *_grouped(loop.sequences, lambda entry: entry.outer),
        *_grouped(loop.invariants, lambda entry: entry.outer),
    ]
    for one, *same in groups:
        equal |= {entry.inner: one.inner for entry in same}
    return equal


def _grouped(entries: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    groups: dict[Hashable, list[T]] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return list(groups.values())


MERGE_EQUAL_RESULTS = dfs_rewriter(merge_equal_results, ignore_newtrees=True)
