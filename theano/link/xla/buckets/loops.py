"""Loops over padded sequences: a traced number of steps, in buffers for the most."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Variable
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
from theano.pytensor_base.scan import Scan
from theano.pytensor_base.tensor import indices_from_subtensor
from theano.scan_module.loop.initial_rows import rows_of_states


@pads(Scan)
def loop(op, node, inputs, trace):
    """A loop whose number of steps, or whose sequences, vary."""
    import jax.numpy as jnp

    info = op.info
    first = op.seqs_arg_offset
    first_untraced = op.untraced_sit_sot_arg_offset
    first_length = op.nit_sot_arg_offset
    first_invariant = first_length + info.n_nit_sot
    steps = each_of(inputs[0], trace.cases).astype(int)
    if steps.min() < 1:
        raise CannotBucket("for some length it makes no step")
    buffers = [_Buffer(inputs[k], node.inputs[k], trace) for k in range(first, first_untraced)]
    lengths = [each_of(x, trace.cases).astype(int) for x in inputs[first_length:first_invariant]]
    _check(op, steps, [b.lengths for b in buffers], lengths)
    given = _invariants(op, node, inputs, trace)
    states = range(first + info.n_mit_mot, first_untraced)
    parts = LoopInputs(
        Cases(
            jnp.asarray(trace.number(steps), "int32"),
            steps,
            [buffers[k - first].lengths for k in states],
            lengths,
        ),
        [_sequence(node.inputs[1 + k], inputs[1 + k], steps, trace) for k in range(info.n_seqs)],
        [buffer.array for buffer in buffers[: info.n_mit_mot]],
        [buffer.array for buffer in buffers[info.n_mit_mot :]],
        [_untraced(inputs[k], node.inputs[k], trace) for k in range(first_untraced, first_length)],
        invariants_of(node.inputs[first_invariant:], given, trace.known()),
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

    def __init__(self, value: Any, variable: Variable, trace: Any):
        value = trace.data(value)
        if isinstance(value, Padded) and value.axis:
            raise CannotBucket("each row of a state is padded")
        self.lengths = shape_each(value, trace.cases)[:, 0]
        self.array = as_array(value.value if isinstance(value, Padded) else value, variable)


def _untraced(value: Any, variable: Variable, trace: Any) -> Any:
    value = trace.data(value)
    if isinstance(value, Padded):
        raise CannotBucket("a state is padded")
    return as_array(value, variable)


def _invariants(op: Scan, node: Any, inputs: list[Any], trace: Any) -> list[Any]:
    """What the step reads that does not change; numbers that vary as data."""
    first = op.nit_sot_arg_offset + op.info.n_nit_sot
    wanted = known_inputs(node)
    for k in range(first, len(inputs)):
        if isinstance(inputs[k], Padded):
            raise CannotBucket("its step reads a whole array that is padded")
        if isinstance(inputs[k], Varying) and k in wanted:
            raise CannotBucket("its step makes shapes of a length")
    return [trace.data(x) for x in inputs[first:]]


def _check(
    op: Scan, steps: np.ndarray, buffers: list[np.ndarray], lengths: list[np.ndarray]
) -> None:
    info, n_mit_mot = op.info, op.info.n_mit_mot
    taps = zip(info.mit_mot_in_slices, info.mit_mot_out_slices, strict=True)
    for rows, (reads, writes) in zip(buffers, taps, strict=False):
        if (rows - steps < max(*reads, *writes) - min(reads)).any():
            raise CannotBucket("for some length a state's buffer is too short")
    histories = [*rows_of_states(op), *[0] * len(lengths)]
    for rows, history in zip([*buffers[n_mit_mot:], *lengths], histories, strict=True):
        if np.ptp(rows) and (rows < steps + history).any():
            raise CannotBucket("the last rows that it keeps vary in number")
        if info.as_while and rows.max() > history + 1 and (rows != steps + history).any():
            raise CannotBucket("it stops early, and not all rows are kept")


def _sequence(variable: Variable, value: Any, steps: np.ndarray, trace: Any) -> Sequence:
    """A sequence, where it is a slice as rows of the array that it is a slice of."""
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
