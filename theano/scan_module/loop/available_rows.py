"""Values of a step that can be read for all steps from a loop's inputs and results.

A place of a buffer that several steps write holds the last value only. A value that was overwritten
can be read from the buffer that the loop was given if no step wrote it before, else not at all.
"""

from __future__ import annotations

from pytensor.graph.basic import Variable
from pytensor.tensor.variable import TensorVariable

from theano.scan_module.loop.arguments import BuiltLoop, Loop, Sequence, State, Trace
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Available:
    """The arrays that hold the values of all steps.

    Attributes
    ----------
    entry
        What of the loop holds them.
    offset
        The place in a state's buffer that the first step's value has.
    as_given
        Whether they are in the buffer that the loop is given, not in the one that it gives.
    """

    entry: Sequence | State | Trace
    offset: int = 0
    as_given: bool = False


def available_values(loop: Loop) -> dict[Variable, Available]:
    """Return where to read each value of a step, of all steps, without keeping anything more.

    A trace that nobody reads goes, so that what is elsewhere too is read there.
    """
    found = {sequence.inner: Available(sequence) for sequence in loop.sequences}
    for state in loop.states:
        written = [tap.offset for tap in state.writes]
        for tap in state.writes:
            if min(written) >= tap.offset:
                found.setdefault(tap.inner, Available(state, tap.offset))
        for tap in state.reads:
            if min(written) > tap.offset:
                found.setdefault(tap.inner, Available(state, tap.offset))
            elif max(written) <= tap.offset:
                found.setdefault(tap.inner, Available(state, tap.offset, as_given=True))
    for trace in loop.traces:
        found.setdefault(trace.inner, Available(trace))
    return found


def rows_of(place: Available, run: BuiltLoop) -> TensorVariable:
    """Return the values of all steps that a loop ran, one after the other.

    A sequence of a loop that does not stop early is read as it is, however many rows it has.
    """
    entry = place.entry
    if isinstance(entry, Sequence):
        stopped = run.loop.condition is not None
        return entry.outer[: run.steps_run()] if stopped else entry.outer
    if isinstance(entry, Trace):
        return run.rows(entry)
    if place.as_given:
        return entry.outer[place.offset : place.offset + run.steps_run()]
    return run.loop.rows_at(entry, run.outputs[entry], place.offset)
