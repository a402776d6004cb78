"""Values of a step, of all steps at once: where the outer graph finds them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from pytensor.graph.basic import Variable
from pytensor.tensor.basic import Alloc
from pytensor.tensor.subtensor import IncSubtensor
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.rewriting.filled_arrays import allocated
from theano.scan_module.loop.arguments import BuiltLoop, Loop, Sequence, State, Trace
from theano.scan_module.loop.available_rows import Available, available_values, rows_of
from theano.scan_module.scan_opt.push_out.all_steps_at_once import AllSteps
from theano.scan_module.scan_opt.push_out.rows_of_sequences import all_rows, number_of_steps
from theano.scan_module.step.step_analysis import StepAnalysis


def readable_outside(loop: Loop) -> dict[Variable, Available]:
    """Sequences and traces: what of all steps can be read outside, and no rewrite shortens."""
    return available_values(replace(loop, states=()))


def further_traces(loop: Loop, step: StepAnalysis, values: list[Variable]) -> dict[Variable, Trace]:
    """Traces to add to a loop so that all steps of the values can be had outside.

    What follows from sequences without a product is computed again outside: that takes as much
    memory as a trace, but not while the loop runs.
    """
    readable = readable_outside(loop)
    again = None if loop.condition is not None else ComputedAgain(loop, step)
    traces = {
        value: Trace(loop.n_steps, value)
        for value in values
        if value not in readable and (again is None or again.value(value) is None)
    }
    if loop.condition is not None and values and not traces and not loop.traces:
        # the number of steps that were run is the length of what was kept
        traces[values[0]] = Trace(loop.n_steps, values[0])
    return traces


class ComputedAgain:
    """Values that follow from sequences by elementwise work, for all steps, each computed once."""

    def __init__(self, loop: Loop, step: StepAnalysis):
        self._step = step
        rows = {entry.inner: all_rows(entry, loop) for entry in loop.sequences}
        self._all_steps = AllSteps(step, rows)

    def value(self, variable: Variable) -> Variable | None:
        """Return the values of all steps of a value of the step; None if they are not to be had so."""
        step = self._step
        if not step.varies(variable) or not step.follows_from_sequences(variable):
            return None
        return None if self._all_steps.holds_product(variable) else self._all_steps.value(variable)


def steps_run(loop: Loop, built: BuiltLoop | None) -> TensorVariable:
    """Return the number of steps that a loop runs, once it is built; None if nothing is left to build."""
    if loop.condition is None or built is None:
        return number_of_steps(loop)
    return built.steps_run()


def values_of_all_steps(place: Available, loop: Loop, built: BuiltLoop | None) -> TensorVariable:
    """Return the values of all steps, stacked along a first axis.

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
    assert built is not None
    return rows_of(place, built)


class SummedValues:
    """The values of all steps of values of a step that sums outside read.

    Parameters
    ----------
    loop
        The loop before it was edited.
    step
        Facts about its step.
    traces
        What ``further_traces`` gave.
    built
        The edited loop, with these traces; None if nothing of it is left.
    """

    def __init__(
        self,
        loop: Loop,
        step: StepAnalysis,
        traces: dict[Variable, Trace],
        built: BuiltLoop | None,
    ):
        self._loop, self._step, self._built = loop, step, built
        added = {value: Available(trace) for value, trace in traces.items()}
        self._places = readable_outside(loop) | added
        self._found: dict[Variable, TensorVariable] = {}

    def of(self, value: Variable) -> TensorVariable:
        """Those of a value of the step."""
        if value not in self._found:
            place = self._places.get(value)
            self._found[value] = (
                known_tensor(self._again.value(value))
                if place is None
                else values_of_all_steps(place, self._loop, self._built)
            )
        return self._found[value]

    @cached_property
    def _again(self) -> ComputedAgain:
        return ComputedAgain(self._loop, self._step)


def initial_value(state: State) -> TensorVariable:
    """Return the value before the first step, without the buffer that the loop would have filled."""
    node = state.outer.owner
    if node is not None and isinstance(node.op, IncSubtensor) and node.op.set_instead_of_inc:
        value = known_tensor(node.inputs[1])
        if value.type.ndim == state.outer.type.ndim and value.type.shape[0] == 1:
            return _only_row(value)
    return state.outer[0]


def _only_row(rows: TensorVariable) -> TensorVariable:
    """Return the row of what has one, filled by itself where the rows are filled with a number."""
    node = rows.owner
    if node is not None and isinstance(node.op, Alloc) and node.inputs[0].type.ndim == 0:
        number, _, *lengths = node.inputs
        return allocated(number, *lengths)
    return rows[0]
