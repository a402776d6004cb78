"""A device's part of a loop's results when it runs the loop on its rows of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
    ReadsPartialSum,
    Rows,
    Sizes,
)
from theano.link.xla.data_parallel.rules import parts_of_graph, splits
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.loop.roles import InnerInputs, OuterOutputs, Roles


@splits(Scan)
def loop(op: Scan, node: Apply, parts: Sequence[Any], sizes: Sizes) -> list[Any]:
    """Return the parts of the outputs."""
    if Roles.of(op).outer_inputs(parts).n_steps is not ALL:
        raise CannotSplit("it makes as many steps as the batch has rows")
    loop = _LoopParts(op, parts)
    states, results = loop.settle(sizes.rows)
    if sizes.values is None:
        # what enters a loop within a loop is masked outside both
        entering = [node.inputs[k] for k in loop.masked(states, parts)]
        unknown = [variable for variable in entering if not is_zero(variable)]
        if unknown:
            raise ReadsPartialSum("a state that is summed over the batch begins whole", unknown)
    return OuterOutputs(
        states=[_of_trace(part) for part in states[: loop.traced]],
        traces=[_of_trace(part) for part in loop.roles.inner_outputs(results).traces],
        untraced=list(states[loop.traced :]),
    ).in_order()


def inputs_to_mask(op: Scan, parts: Sequence[Any], rows: int) -> list[int]:
    """Positions of whole inputs that become part of summands: only one device adds them."""
    loop = _LoopParts(op, parts)
    states, _ = loop.settle(rows)
    return loop.masked(states, parts)


class _LoopParts:
    """The parts of a loop's inputs; its states are the traced ones, then the untraced."""

    def __init__(self, op: Scan, parts: Sequence[Any]):
        self.op, self.roles = op, Roles.of(op)
        self.given = self.roles.outer_inputs(parts)
        self.traced = len(self.roles.states)
        self.sequences = [_of_step(part) for part in self.given.sequences]
        self.starts = [_of_step(part) for part in self.given.states] + self.given.untraced
        self.invariants = list(self.given.invariants)

    def settle(self, rows: int) -> tuple[list[Any], list[Any]]:
        """Return the parts that the states keep from step to step, and those of the results."""
        states = self.starts
        while True:
            inputs = self._inner(self.sequences, states, self.invariants)
            try:
                results = parts_of_graph(prepared(self.op), inputs, rows)
            except ReadsPartialSum as error:
                if not self._masks(error.whole):
                    raise
                states = self.starts
                continue
            after = self._after(states, results)
            if after == states:
                if self.roles.may_stop and results[-1] is not ALL:
                    raise CannotSplit("its end depends on the batch")
                return states, results
            # a state that became a summand stays one, so that this ends
            states = after

    def masked(self, states: Sequence[Any], parts: Sequence[Any]) -> list[int]:
        """Positions of the inputs that are whole and are summands in the loop."""
        settled = replace(
            self.given,
            states=list(states[: self.traced]),
            untraced=list(states[self.traced :]),
            invariants=self.invariants,
        ).in_order()
        return [
            k
            for k, (part, given) in enumerate(zip(settled, parts, strict=True))
            if part is SUMMAND and given is ALL
        ]

    def _masks(self, whole: Sequence[Variable]) -> bool:
        """Make summands of what the values of a step are read from; returns whether all are."""
        inputs = prepared(self.op).inputs
        places = self._inner(
            *(
                [(kept, k) for k in range(len(kept))]
                for kept in (self.sequences, self.starts, self.invariants)
            )
        )
        for variable in whole:
            source = _source(variable)
            if source not in inputs or not source.type.dtype.startswith("float"):
                return False
            kept, k = places[inputs.index(source)]
            if kept is self.sequences or kept[k] is not ALL:
                return False
            kept[k] = SUMMAND
        return bool(whole)

    def _inner(self, sequences: list, states: Sequence[Any], invariants: list) -> list[Any]:
        """Return what there is for each input of the step."""
        return InnerInputs(
            sequences=sequences,
            states=[
                [state] * len(taps.reads)
                for state, taps in zip(states, self.roles.states, strict=False)
            ],
            untraced=list(states[self.traced :]),
            invariants=invariants,
        ).in_order()

    def _after(self, states: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        computed = self.roles.inner_outputs(results)
        written = [*computed.states, *([result] for result in computed.untraced)]
        return [_joined(state, new) for state, new in zip(states, written, strict=True)]


def _joined(state: object, results: Sequence[Any]) -> Any:
    """Return what a state is that begins as `state` and gets `results`."""
    (result,) = set(results) if len(set(results)) == 1 else (None,)
    if result == state or (state is ALL and result is SUMMAND):
        return result
    raise CannotSplit(f"a state that begins with {state} becomes {results}")


def _source(variable: Variable) -> Variable:
    """Return what a value is read from, or was before something was added to it."""
    while variable.owner is not None and isinstance(variable.owner.op, _OF_FIRST_INPUT):
        variable = variable.owner.inputs[0]
    return variable


_OF_FIRST_INPUT = (DimShuffle, IncSubtensor, Reshape, SpecifyShape, Subtensor)


def _of_step(part: object) -> Any:
    if not isinstance(part, Rows):
        return part
    if part.axis == 0 or part.inner != 1:
        raise CannotSplit("its steps go over the batch")
    return Rows(part.axis - 1)


def _of_trace(part: object) -> Any:
    return Rows(part.axis + 1) if isinstance(part, Rows) else part
