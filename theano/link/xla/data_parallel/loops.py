"""What a device has of a loop's results when it runs the loop on its rows of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from theano.link.step_graph import prepared
from theano.link.xla.data_parallel.indexing import is_zero
from theano.link.xla.data_parallel.parts import (
    ALL,
    SUMMAND,
    CannotSplit,
    MeetsSummand,
    Rows,
    Sizes,
)
from theano.link.xla.data_parallel.rules import parts_of_graph, splits
from theano.pytensor_base.scan import Scan


@splits(Scan)
def loop(op: Scan, node: Apply, parts: Sequence[Any], sizes: Sizes) -> list[Any]:
    """The parts of the outputs: [mit-mots, mit-sots, sit-sots, nit-sots, untraced]."""
    if parts[0] is not ALL:
        raise CannotSplit("it makes as many steps as the batch has rows")
    loop = _Loop(op, parts)
    states, results = loop.settle(sizes.rows)
    if sizes.values is None:
        # what enters a loop within a loop is masked outside both
        entering = [node.inputs[k] for k in loop.masked(states, parts)]
        unknown = [variable for variable in entering if not is_zero(variable)]
        if unknown:
            raise MeetsSummand("a state that is summed over the batch begins whole", unknown)
    recorded = results[loop.written_by_traced :][: op.info.n_nit_sot]
    traced = [*states[: loop.traced], *recorded]
    return [*map(_of_trace, traced), *states[loop.traced :]]


def inputs_to_mask(op: Scan, parts: Sequence[Any], rows: int) -> list[int]:
    """Positions of whole inputs that become part of summands: only one device adds them."""
    loop = _Loop(op, parts)
    states, _ = loop.settle(rows)
    return loop.masked(states, parts)


class _Loop:
    """The parts of a loop's inputs.

    Those of the loop are [steps, sequences, traced states, untraced states, lengths, invariants];
    those of its step [rows of sequences, taps of states, untraced states, invariants], and its
    results [new rows of traced states, recorded, new untraced states].
    """

    def __init__(self, op: Scan, parts: Sequence[Any]):
        info = op.info
        self.op = op
        self.traced = len(info.tap_array)
        first = 1 + info.n_seqs
        last = first + self.traced
        self.sequences = [_of_step(part) for part in parts[1:first]]
        self.starts = [_of_step(part) for part in parts[first:last]]
        self.starts += parts[last : last + info.n_untraced_sit_sot]
        self.invariants = list(parts[len(parts) - info.n_non_seqs :]) if info.n_non_seqs else []
        self.taps = [*map(len, info.tap_array), *[1] * info.n_untraced_sit_sot]
        several = [len(taps) for taps in info.mit_mot_out_slices]
        self.written = [*several, *[1] * (self.traced - len(several))]
        self.written_by_traced = sum(self.written)

    def settle(self, rows: int) -> tuple[list[Any], list[Any]]:
        """Return the parts that the states keep from step to step, and those of the results."""
        states = self.starts
        while True:
            read = [s for s, count in zip(states, self.taps, strict=True) for _ in range(count)]
            inputs = [*self.sequences, *read, *self.invariants]
            try:
                results = parts_of_graph(prepared(self.op), inputs, rows)
            except MeetsSummand as error:
                if not self._masks(error.whole):
                    raise
                states = self.starts
                continue
            after = self._after(states, results)
            if after == states:
                if self.op.info.as_while and results[-1] is not ALL:
                    raise CannotSplit("its end depends on the batch")
                return states, results
            # a state that became a summand stays one, so that this ends
            states = after

    def masked(self, states: Sequence[Any], parts: Sequence[Any]) -> list[int]:
        """Positions of the inputs that are whole and are summands in the loop."""
        settled = [*states, *[ALL] * self.op.info.n_nit_sot, *self.invariants]
        first = 1 + len(self.sequences)
        return [
            first + k
            for k, part in enumerate(settled)
            if part is SUMMAND and parts[first + k] is ALL
        ]

    def _masks(self, whole: Sequence[Variable]) -> bool:
        """Make summands of what the values of a step are read from; returns whether all are."""
        inputs = prepared(self.op).inputs
        places = [(self.sequences, k) for k in range(len(self.sequences))]
        places += [(self.starts, k) for k, count in enumerate(self.taps) for _ in range(count)]
        places += [(self.invariants, k) for k in range(len(self.invariants))]
        for variable in whole:
            source = _source(variable)
            if source not in inputs or not source.type.dtype.startswith("float"):
                return False
            kept, k = places[inputs.index(source)]
            if kept is self.sequences or kept[k] is not ALL:
                return False
            kept[k] = SUMMAND
        return bool(whole)

    def _after(self, states: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        after, position = [], 0
        for state, count in zip(states[: self.traced], self.written, strict=True):
            after.append(_joined(state, results[position : position + count]))
            position += count
        position += self.op.info.n_nit_sot
        for state in states[self.traced :]:
            after.append(_joined(state, results[position : position + 1]))
            position += 1
        return after


def _joined(state: Any, results: Sequence[Any]) -> Any:
    """What a state is that begins as `state` and gets `results`."""
    (result,) = set(results) if len(set(results)) == 1 else (None,)
    if result == state or (state is ALL and result is SUMMAND):
        return result
    raise CannotSplit(f"a state that begins with {state} becomes {results}")


def _source(variable: Variable) -> Variable:
    """What a value is read from, or was before something was added to it."""
    while variable.owner is not None and isinstance(variable.owner.op, _OF_FIRST_INPUT):
        variable = variable.owner.inputs[0]
    return variable


_OF_FIRST_INPUT = (DimShuffle, IncSubtensor, Reshape, SpecifyShape, Subtensor)


def _of_step(part: Any) -> Any:
    if not isinstance(part, Rows):
        return part
    if part.axis == 0 or part.inner != 1:
        raise CannotSplit("its steps go over the batch")
    return Rows(part.axis - 1)


def _of_trace(part: Any) -> Any:
    return Rows(part.axis + 1) if isinstance(part, Rows) else part
