"""Scan as one ``while`` of XLA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytensor.graph.basic import Apply
from pytensor.scan.op import Scan

from theano.link.native.inner_graph import prepared
from theano.link.xla.context import Context
from theano.link.xla.loop.early_stop import stopped
from theano.link.xla.loop.invariants import invariants_of
from theano.link.xla.loop.known_inputs import known_inputs, why_no_loop
from theano.link.xla.loop.sequences import Sequence as RowSequence
from theano.link.xla.loop.sequences import sequence_of
from theano.link.xla.loop.states import (
    ROWS_MOVED,
    LastRows,
    MovingWindow,
    Rows,
    Value,
    WideWindow,
    unwritten,
)
from theano.link.xla.loop.step import TracedStep, as_array, traced_step
from theano.link.xla.lowering.table import lowers


@dataclass(frozen=True)
class LoopInputs:
    """The values of a node's inputs by their role, as arrays.

    Attributes
    ----------
    steps
        How many steps the loop makes, at most.
    sequences, mit_mots, states, untraced, lengths, invariants
        In the node's order; ``states`` are the buffers of mit-sots and sit-sots.
    """

    steps: int
    sequences: list[RowSequence]
    mit_mots: list[Any]
    states: list[Any]
    untraced: list[Any]
    lengths: list[int]
    invariants: list[Any]

    @classmethod
    def of(cls, op: Scan, node: Apply, inputs: Sequence[Any], context: Context) -> LoopInputs:
        """Sort the inputs' values: [steps, sequences, mit-mots, mit-sots, sit-sots, untraced,
        lengths, invariants].
        """

        def arrays(first: int, count: int) -> list[Any]:
            places = range(first, first + count)
            return [as_array(inputs[k], node.inputs[k]) for k in places]

        info = op.info
        first = op.seqs_arg_offset
        first_state = first + info.n_mit_mot
        first_untraced = op.untraced_sit_sot_arg_offset
        first_length = op.nit_sot_arg_offset
        first_invariant = first_length + info.n_nit_sot
        steps = _number_of_steps(inputs[0])
        return cls(
            steps,
            [_sequence(k, node, inputs, steps, context) for k in range(info.n_seqs)],
            arrays(first, info.n_mit_mot),
            arrays(first_state, first_untraced - first_state),
            arrays(first_untraced, info.n_untraced_sit_sot),
            [int(length) for length in inputs[first_length:first_invariant]],
            invariants_of(node.inputs[first_invariant:], inputs[first_invariant:], context.known),
        )


def _number_of_steps(value: Any) -> int:
    steps = int(value)
    if steps < 0:
        raise IndexError(f"Scan was asked to run for negative number of step {steps}")
    return steps


def _sequence(
    k: int, node: Apply, inputs: Sequence[Any], steps: int, context: Context
) -> RowSequence:
    variable, value = node.inputs[1 + k], as_array(inputs[1 + k], node.inputs[1 + k])
    if value.shape[0] < steps:
        raise ValueError(
            f"Sequence {k} has shape {value.shape} "
            f"but the Scan's required number of steps is {steps}"
        )
    return sequence_of(variable, context.known) or RowSequence.of(value)


@lowers(Scan, concrete=known_inputs, even_if_concrete=True, why_not=why_no_loop)
def lower_scan(op: Scan, node: Apply, inputs: list[Any], context: Context) -> list[Any]:
    """A loop, whose step is traced once."""
    parts = LoopInputs.of(op, node, inputs, context)
    step = traced_step(prepared(op), _row_types(op, parts), parts.invariants, context)
    loop = Loop(
        parts.steps, parts.sequences, _kept(op, parts, step, context), step, op.info.as_while
    )
    if parts.steps == 0:
        return [storage.initial for storage in loop.kept]
    outputs, well = loop.run()
    for held, error in zip(well, step.errors, strict=True):
        context.require(held, error)
    return outputs


def _histories(op: Scan) -> list[int]:
    """How far back the taps of the mit-sots and sit-sots reach."""
    info = op.info
    return [-min(taps) for taps in (*info.mit_sot_in_slices, *info.sit_sot_in_slices)]


def _row_types(op: Scan, parts: LoopInputs) -> list[Any]:
    """Shape and dtype of each row that the step reads."""
    from jax import ShapeDtypeStruct

    info = op.info
    taps = [1] * len(parts.sequences)
    taps += [len(taps) for taps in info.tap_array]
    buffers = [*(sequence.array for sequence in parts.sequences), *parts.mit_mots, *parts.states]
    rows = [
        ShapeDtypeStruct(buffer.shape[1:], buffer.dtype)
        for buffer, count in zip(buffers, taps, strict=True)
        for _ in range(count)
    ]
    return rows + [ShapeDtypeStruct(value.shape, value.dtype) for value in parts.untraced]


def _kept(op: Scan, parts: LoopInputs, step: TracedStep, context: Context) -> list[Any]:
    """The storage of each output, in the order of the step's results."""
    info = op.info
    kept: list[Any] = [
        _window(op, buffer, tuple(reads), tuple(writes), parts.steps, next(context.marks))
        for buffer, reads, writes in zip(
            parts.mit_mots, info.mit_mot_in_slices, info.mit_mot_out_slices, strict=True
        )
    ]
    all_taps = (*info.mit_sot_in_slices, *info.sit_sot_in_slices)
    kept += [
        _rows(op, buffer, tuple(taps), history, parts.steps)
        for buffer, taps, history in zip(parts.states, all_taps, _histories(op), strict=True)
    ]
    first = info.n_mit_mot_outs + info.n_mit_sot + info.n_sit_sot
    kept += [
        _trace(op, result, length, parts.steps, next(context.marks))
        for result, length in zip(step.results[first:], parts.lengths, strict=False)
    ]
    return kept + [Value(value) for value in parts.untraced]


def _window(
    op: Scan, buffer: Any, reads: tuple[int, ...], writes: tuple[int, ...], steps: int, mark: int
) -> Any:
    taps = (*reads, *writes)
    moved = max(taps) - min(taps) <= ROWS_MOVED and not op.info.as_while
    return (MovingWindow if moved else WideWindow)(buffer, reads, writes, steps, mark)


def _rows(op: Scan, buffer: Any, taps: tuple[int, ...], history: int, steps: int) -> Any:
    count = len(buffer)
    if count < history:
        raise ValueError(
            f"Scan was given a buffer of {count} rows for a state that reads {history} steps back"
        )
    # rows that an early stop leaves without a value must not be among those that are moved up
    least = 1 if op.info.as_while else steps
    if count <= min(ROWS_MOVED, history + least) and count < history + steps:
        return LastRows(buffer, taps, history)
    return Rows(buffer, taps, history, steps)


def _trace(op: Scan, result: Any, length: int, steps: int, mark: int) -> Any:
    # a loop without steps has no rows, however many were asked for
    rows = length if steps else 0
    buffer = unwritten((rows, *result.shape), result.dtype, mark)
    return _rows(op, buffer, (), 0, steps)


@dataclass(frozen=True)
class Loop:
    """A loop that is ready to run.

    Attributes
    ----------
    steps
        How many it makes, at most.
    sequences, kept
        What gives the rows of a step, and takes its results.
    step
        The step.
    may_stop
        Whether the last result of the step stops the loop.
    """

    steps: int
    sequences: list[RowSequence]
    kept: list[Any]
    step: TracedStep
    may_stop: bool

    def run(self) -> tuple[list[Any], list[Any]]:
        """The outputs, and for each error of the step whether all was well."""
        import jax.numpy as jnp
        from jax import lax

        start = (
            jnp.int32(0),
            tuple(storage.start() for storage in self.kept),
            tuple(jnp.bool_(True) for _ in self.step.errors),
            jnp.bool_(False),
        )
        if self.may_stop:
            steps, kept, well, _ = lax.while_loop(
                lambda state: (state[0] < self.steps) & ~state[3], self._one_step, start
            )
        else:
            _, kept, well, _ = lax.while_loop(
                lambda state: state[0] < self.steps, self._one_step, start
            )
            steps = self.steps
        outputs = [s.finish(k, steps) for s, k in zip(self.kept, kept, strict=True)]
        if self.may_stop:
            outputs = [stopped(s, rows, steps) for s, rows in zip(self.kept, outputs, strict=True)]
        return outputs, list(well)

    def _one_step(self, state: Any) -> Any:
        import jax.numpy as jnp

        position, kept, well, stop = state
        rows = [sequence.read(position) for sequence in self.sequences]
        for storage, now in zip(self.kept, kept, strict=True):
            rows += storage.read(now, position)
        results, holds = self.step(rows)
        if self.may_stop:
            stop = jnp.any(results.pop() != 0)
        values = iter(results)
        after = []
        for storage, now in zip(self.kept, kept, strict=True):
            taken = [storage.fitted(next(values)) for _ in range(storage.value_count)]
            after.append(storage.write(now, position, taken))
        well = tuple(held & new for held, new in zip(well, holds, strict=True))
        return position + 1, tuple(after), well, stop
