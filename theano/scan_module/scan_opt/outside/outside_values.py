"""Values of a step, of all steps at once: where the outer graph finds them."""

from __future__ import annotations

from dataclasses import replace

from pytensor.graph.basic import Variable
from pytensor.tensor.basic import Alloc
from pytensor.tensor.subtensor import IncSubtensor

from theano.scan_module.loop.arguments import BuiltLoop, Loop, Sequence, State, Trace
from theano.scan_module.loop.rows_at_hand import AtHand, rows_of, values_at_hand
from theano.scan_module.scan_opt.outside.all_steps_at_once import AllSteps
from theano.scan_module.scan_opt.outside.rows_of_sequences import all_rows, number_of_steps
from theano.scan_module.step.step_analysis import StepAnalysis
from theano.schedule.allocated import allocated


def readable_outside(loop: Loop) -> dict[Variable, AtHand]:
    """Sequences and traces: what of all steps can be read outside, and no rewrite shortens."""
    return values_at_hand(replace(loop, states=()))


def further_traces(loop: Loop, step: StepAnalysis, values: list[Variable]) -> dict[Variable, Trace]:
    """Traces to add to a loop so that all steps of the values can be had outside.

    What follows from sequences without a product is computed again outside: that takes as much
    memory as a trace, but not while the loop runs.
    """
    readable = readable_outside(loop)
    again = {} if loop.condition is not None else _computed_again(loop, step, values)
    traces = {
        value: Trace(loop.n_steps, value)
        for value in values
        if value not in readable and value not in again
    }
    if loop.condition is not None and values and not traces and not loop.traces:
        # the number of steps that were run is the length of what was kept
        traces[values[0]] = Trace(loop.n_steps, values[0])
    return traces


def _computed_again(
    loop: Loop, step: StepAnalysis, values: list[Variable]
) -> dict[Variable, Variable]:
    """Those of the values that follow from sequences by elementwise work, for all steps."""
    all_steps = AllSteps(step, {entry.inner: all_rows(entry, loop) for entry in loop.sequences})
    cheap = [
        value
        for value in values
        if step.varies(value)
        and step.follows_from_sequences(value)
        and not all_steps.holds_product(value)
    ]
    found = {value: all_steps.value(value) for value in cheap}
    return {value: outer for value, outer in found.items() if outer is not None}


def steps_run(loop: Loop, built: BuiltLoop | None) -> Variable:
    """The number of steps that a loop runs, once it is built; None if nothing is left to build."""
    if loop.condition is None or built is None:
        return number_of_steps(loop)
    return built.steps_run()


def values_of_all_steps(place: AtHand, loop: Loop, built: BuiltLoop | None) -> Variable:
    """The values of all steps, stacked along a first axis.

    Parameters
    ----------
    place
        Where they are.
    loop
        The loop before it was edited.
    built
        The edited loop; None if nothing of it is left.
    """
    if isinstance(place.entry, Sequence) and loop.condition is None:
        return all_rows(place.entry, loop)
    return rows_of(place, built)


def summed_values(
    value: Variable,
    loop: Loop,
    step: StepAnalysis,
    traces: dict[Variable, Trace],
    built: BuiltLoop | None,
) -> Variable:
    """The values of all steps of a value of the step that a sum outside reads.

    Parameters
    ----------
    value
        A value of the step of ``loop``.
    loop
        The loop before it was edited.
    step
        Facts about its step.
    traces
        What ``further_traces`` gave.
    built
        The edited loop, with these traces; None if nothing of it is left.
    """
    added = {value: AtHand(trace) for value, trace in traces.items()}
    place = (readable_outside(loop) | added).get(value)
    if place is not None:
        return values_of_all_steps(place, loop, built)
    return _computed_again(loop, step, [value])[value]


def initial_value(state: State) -> Variable:
    """The value before the first step, without the buffer that the loop would have filled."""
    node = state.outer.owner
    if node is not None and isinstance(node.op, IncSubtensor) and node.op.set_instead_of_inc:
        value = node.inputs[1]
        if value.type.ndim == state.outer.type.ndim and value.type.shape[0] == 1:
            return _only_row(value)
    return state.outer[0]


def _only_row(rows: Variable) -> Variable:
    """The row of what has one, filled by itself where the rows are filled with a number."""
    node = rows.owner
    if node is not None and isinstance(node.op, Alloc) and node.inputs[0].type.ndim == 0:
        number, _, *lengths = node.inputs
        return allocated(number, *lengths)
    return rows[0]
