"""The tangent loop: directional derivatives of a loop, by one that runs alongside it.

Each state and trace has its tangent next to it in the same loop, so that a step computes both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pytensor import tensor as pt
from pytensor.gradient import disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.scan_module.gradient.dependence import dependents
from theano.scan_module.gradient.step_gradient import is_connected, is_differentiable
from theano.scan_module.gradient.tangent.tangents import tangents_of
from theano.scan_module.loop.arguments import (
    Invariant,
    Loop,
    Sequence,
    State,
    Tap,
    Trace,
    Untraced,
    fresh_like,
    unpack,
)


def loop_pushforward(
    node: Apply, tangents: Iterable[Variable], op_class: type[PyTensorScan]
) -> list[Variable]:
    """Directional derivatives of a loop's outputs.

    Parameters
    ----------
    node
        The loop's node.
    tangents
        One for each input of the node; disconnected ones allowed.
    op_class
        The class of the new loop's op.
    """
    loop = unpack(node)
    given = dict(zip(node.inputs, tangents, strict=True))
    constant = _constant_places(loop, given)
    inner_tangents = {
        variable: fresh_like(variable)
        for variable in loop.inner_inputs
        if is_differentiable(variable) and variable not in constant
    }
    alongside, tangent_outputs = _tangent_loop(loop, given, inner_tangents)
    built = alongside.build(op_class)
    return [
        built.outputs[tangent_outputs[entry]]
        if entry in tangent_outputs
        else _of_constant_output(output)
        for entry, output in zip(loop.results, node.outputs, strict=True)
    ]


def _tangent_loop(
    loop: Loop, given: Mapping[Variable, Variable], inner_tangents: dict[Variable, Variable]
) -> tuple[Loop, dict[State | Trace | Untraced, State | Trace]]:
    """Return a loop that computes each state and trace together with its tangent."""
    sequences = [
        Sequence(known_tensor(_tangent_of(entry.outer, given)), inner_tangents[entry.inner])
        for entry in loop.sequences
        if entry.inner in inner_tangents
    ]
    invariants = [
        Invariant(_tangent_of(entry.outer, given), inner_tangents[entry.inner])
        for entry in loop.invariants
        if entry.inner in inner_tangents
    ]
    values = [tap.inner for state in loop.states for tap in state.writes]
    values += [trace.inner for trace in loop.traces]
    values = [value for value in dict.fromkeys(values) if is_differentiable(value)]
    tangents = dict(
        zip(
            values,
            tangents_of(
                values,
                list(inner_tangents),
                list(inner_tangents.values()),
                disconnected_outputs="ignore",
                return_disconnected="zero",
            ),
            strict=True,
        )
    )
    states: dict[State, State] = {}
    for state in loop.ordered_states():
        if is_differentiable(state.writes[0].inner) and state.reads[0].inner in inner_tangents:
            states[state] = State(
                known_tensor(_tangent_of(state.outer, given)),
                tuple(Tap(tap.offset, inner_tangents[tap.inner]) for tap in state.reads),
                tuple(
                    Tap(tap.offset, tangents[tap.inner].astype(tap.inner.type.dtype))
                    for tap in state.writes
                ),
                state.kind,
            )
    traces = {
        trace: Trace(trace.length, tangents[trace.inner])
        for trace in loop.traces
        if is_differentiable(trace.inner)
    }
    alongside = replace(
        loop,
        sequences=(*loop.sequences, *sequences),
        states=(*loop.states, *states.values()),
        traces=(*loop.traces, *traces.values()),
        invariants=(*loop.invariants, *invariants),
        settings=replace(
            loop.settings, name=f"rop_of_{loop.settings.name}" if loop.settings.name else None
        ),
    )
    pairs: dict[State | Trace | Untraced, State | Trace] = dict(states.items())
    pairs.update(traces.items())
    return alongside, pairs


def _constant_places(loop: Loop, given: dict[Variable, Variable]) -> set[Variable]:
    """Return what the step reads that depends on nothing that a direction is given of."""

    def is_given(entry: Sequence | State | Invariant) -> bool:
        return is_connected(given[entry.outer])

    moving = {entry.inner for entry in loop.sequences if is_given(entry)}
    moving |= {entry.inner for entry in loop.invariants if is_given(entry)}
    values = list(ancestors([tap.inner for state in loop.states for tap in state.writes]))
    joining = [state for state in loop.states if is_given(state)]
    still = [state for state in loop.states if not is_given(state)]
    while True:
        moving.update(tap.inner for state in joining for tap in state.reads)
        following = dependents(moving, values)
        joining = [state for state in still if any(tap.inner in following for tap in state.writes)]
        if not joining:
            return {variable for variable in loop.inner_inputs if variable not in moving}
        still = [state for state in still if state not in joining]


def _of_constant_output(output: Variable) -> Variable:
    return pt.zeros_like(output) if is_differentiable(output) else disconnected_type()


def _tangent_of(outer: Variable, given: Mapping[Variable, Variable]) -> Variable:
    tangent = given[outer]
    return tangent if is_connected(tangent) else pt.zeros_like(outer)
