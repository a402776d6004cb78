"""Loops over padded sequences: a traced number of steps, in buffers for the most."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.subtensor import Subtensor

from theano.link.xla.buckets.indexing import selection
from theano.link.xla.buckets.numbers import Varying, each_of
from theano.link.xla.buckets.padding import CannotBucket, Padded
from theano.link.xla.buckets.trace import pads, shape_each
from theano.link.xla.context import Ragged
from theano.link.xla.loop.invariants import invariants_of
from theano.link.xla.loop.known_inputs import known_inputs
from theano.link.xla.loop.lower import Cases, LoopInputs, run_loop
from theano.link.xla.loop.sequences import Sequence
from theano.link.xla.loop.step import as_array
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor import indices_from_subtensor
from theano.scan_module.loop.roles import Roles, given_to, places_of_inputs


@pads(Scan)
def loop(op, node, inputs, trace):
    """Return a loop whose number of steps, or whose sequences, vary."""
    import jax.numpy as jnp

    roles = Roles.of(op)
    given, variables = roles.outer_inputs(inputs), given_to(node)
    steps = each_of(given.n_steps, trace.cases).astype(int)
    if steps.min() < 1:
        raise CannotBucket("for some length it makes no step")
    buffers = [
        _Buffer(value, variable, trace)
        for value, variable in zip(given.states, variables.states, strict=True)
    ]
    lengths = [each_of(length, trace.cases).astype(int) for length in given.trace_lengths]
    _check(roles, steps, [b.lengths for b in buffers], lengths)
    invariants = _invariants(node, given.invariants, trace)
    mit_mots, states = buffers[: roles.mit_mots], buffers[roles.mit_mots :]
    parts = LoopInputs(
        Cases(
            jnp.asarray(trace.number(steps), "int32"), steps, [b.lengths for b in states], lengths
        ),
        [
            _sequence(variable, value, steps, trace)
            for variable, value in zip(variables.sequences, given.sequences, strict=True)
        ],
        [buffer.array for buffer in mit_mots],
        [buffer.array for buffer in states],
        [
            _untraced(value, variable, trace)
            for value, variable in zip(given.untraced, variables.untraced, strict=True)
        ],
        invariants_of(variables.invariants, invariants, trace.known()),
    )
    outputs = run_loop(op, parts, trace.context)
    lengths = [*(b.lengths for b in buffers), *lengths]
    # untraced states come before the traces of results among the inputs, after them as outputs
    padded = [
        Padded(value, 0, each) if np.ptp(each) and not isinstance(value, Ragged) else value
        for value, each in zip(outputs, lengths, strict=False)
    ]
    return [*padded, *outputs[len(padded) :]]


class _Buffer:
    """A buffer of a state, and how many rows it has for each combination of lengths."""

    def __init__(self, value: object, variable: Variable, trace: Any):
        value = trace.data(value)
        if isinstance(value, Padded) and value.axis:
            raise CannotBucket("each row of a state is padded")
        self.lengths = shape_each(value, trace.cases)[:, 0]
        self.array = as_array(value.value if isinstance(value, Padded) else value, variable)


def _untraced(value: object, variable: Variable, trace: Any) -> Any:
    value = trace.data(value)
    if isinstance(value, Padded):
        raise CannotBucket("a state is padded")
    return as_array(value, variable)


def _invariants(node: Apply, values: list[Any], trace: Any) -> list[Any]:
    """Return what the step reads that does not change; numbers that vary as data."""
    wanted = known_inputs(node)
    places = places_of_inputs(node.op).invariants
    for place, value in zip(places, values, strict=True):
        if isinstance(value, Padded):
            raise CannotBucket("its step reads a whole array that is padded")
        if isinstance(value, Varying) and place in wanted:
            raise CannotBucket("its step makes shapes of a length")
    return [trace.data(value) for value in values]


def _check(
    roles: Roles, steps: np.ndarray, buffers: list[np.ndarray], lengths: list[np.ndarray]
) -> None:
    first = roles.mit_mots
    for rows, taps in zip(buffers[:first], roles.states[:first], strict=True):
        if (rows - steps < max(*taps.reads, *taps.writes) - min(taps.reads)).any():
            raise CannotBucket("for some length a state's buffer is too short")
    histories = [*(taps.history for taps in roles.states[first:]), *[0] * len(lengths)]
    for rows, history in zip([*buffers[first:], *lengths], histories, strict=True):
        if np.ptp(rows) and (rows < steps + history).any():
            raise CannotBucket("the last rows that it keeps vary in number")
        if roles.may_stop and rows.max() > history + 1 and (rows != steps + history).any():
            raise CannotBucket("it stops early, and not all rows are kept")


def _sequence(variable: Variable, value: object, steps: np.ndarray, trace: Any) -> Sequence:
    """Return a sequence, where it is a slice as rows of the array that it is a slice of."""
    if isinstance(value, Varying):
        raise CannotBucket("a sequence of lengths")
    if isinstance(value, Padded) and value.axis:
        raise CannotBucket("each row of a sequence is padded")
    lengths = shape_each(value, trace.cases)[:, 0]
    if (lengths < steps).any():
        raise CannotBucket("for some length a sequence is too short")
    array = as_array(value.value if isinstance(value, Padded) else value, variable)
    node = variable.owner
    if node is None or not isinstance(node.op, Subtensor) or node.inputs[0] not in trace.values:
        return Sequence.of(array)
    base, *numbers = (trace.value(v) for v in node.inputs)
    indices = indices_from_subtensor(numbers, node.op.idx_list)
    if len(indices) != 1 or not isinstance(indices[0], slice) or isinstance(base, Varying):
        return Sequence.of(array)
    chosen = selection(indices[0], shape_each(base, trace.cases)[:, 0], trace)
    rows = as_array(base.value if isinstance(base, Padded) else base, node.inputs[0])
    if isinstance(base, Padded) and base.axis:
        return Sequence.of(array)
    return Sequence(rows, trace.number(chosen.starts), chosen.step, len(array))
