"""Values of a step, of all steps at once: where the outer graph finds them."""

from __future__ import annotations

from collections.abc import Iterable

from pytensor.graph.basic import Variable

from theano.scan_module.loop import BuiltLoop, Loop, Trace


def readable_outside(loop: Loop) -> set[Variable]:
    """Values of the step of which all steps can be read outside without storing anything more."""
    return {entry.inner for entry in loop.sequences} | {entry.inner for entry in loop.traces}


def further_traces(loop: Loop, values: Iterable[Variable]) -> dict[Variable, Trace]:
    """Traces to add to a loop so that all steps of the values can be read outside."""
    readable = readable_outside(loop)
    traces = {value: Trace(loop.n_steps, value) for value in values if value not in readable}
    stops_early = loop.condition is not None
    if stops_early and not traces and not loop.traces:
        # the number of steps that were run is the length of what was stored
        first = next(iter(values), None)
        if first is not None:
            traces[first] = Trace(loop.n_steps, first)
    return traces


def steps_run(loop: Loop, built: BuiltLoop | None) -> Variable:
    """The number of steps that a loop runs, once it is built."""
    if loop.condition is None or built is None:
        return loop.n_steps
    for entry, output in built.outputs.items():
        if isinstance(entry, Trace):
            return output.shape[0]
    for state in built.loop.states:
        return built.outputs[state].shape[0] - state.span
    return loop.n_steps


def values_of_all_steps(
    value: Variable, loop: Loop, traces: dict[Variable, Trace], built: BuiltLoop | None
) -> Variable:
    """The values of all steps, stacked along a first axis.

    Parameters
    ----------
    value
        A value of the step of ``loop``.
    loop
        The loop before it was edited.
    traces
        What ``further_traces`` gave.
    built
        The edited loop, with these traces; None if nothing of it is left.
    """
    if value in traces:
        return built.outputs[traces[value]]
    for trace in loop.traces:
        if trace.inner is value:
            return built.outputs[trace]
    for sequence in loop.sequences:
        if sequence.inner is value:
            if loop.condition is None:
                return sequence.outer
            return sequence.outer[: steps_run(loop, built)]
    raise KeyError(f"no output of the loop holds {value}")
