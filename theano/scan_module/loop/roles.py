"""The flat lists of a ``Scan`` op by role: the one place that knows their order.

A ``Scan`` op keeps what it is given, what its step reads, what its step computes and what it gives
in four flat lists. `Roles` sorts any list of such an order, whatever is in it: variables, values,
shapes, names or positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import count, islice
from typing import Any, Generic, TypeVar

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.scan import ScanInfo
from theano.support.data_classes import dataclass

MIT_MOT, MIT_SOT, SIT_SOT = "mit_mot", "mit_sot", "sit_sot"

T = TypeVar("T")


@dataclass(frozen=True)
class OuterInputs(Generic[T]):
    """The inputs of a loop.

    Attributes
    ----------
    n_steps
        How many steps it makes, at most.
    sequences
        The arrays of which step t reads row t.
    states
        The buffers that steps read and write.
    untraced
        The states of which only the last value exists.
    trace_lengths
        How many rows are kept of each trace.
    invariants
        What is the same in every step.
    """

    n_steps: T
    sequences: list[T]
    states: list[T]
    untraced: list[T]
    trace_lengths: list[T]
    invariants: list[T]

    def in_order(self) -> list[T]:
        """Return the flat list."""
        # n_steps | sequences | mit-mot | mit-sot | sit-sot | untraced | trace lengths | invariants
        return [
            self.n_steps,
            *self.sequences,
            *self.states,
            *self.untraced,
            *self.trace_lengths,
            *self.invariants,
        ]


@dataclass(frozen=True)
class InnerInputs(Generic[T]):
    """The values that a step reads; of a state, one for each tap that it reads."""

    sequences: list[T]
    states: list[list[T]]
    untraced: list[T]
    invariants: list[T]

    def in_order(self) -> list[T]:
        """Return the flat list."""
        # sequences | mit-mot taps | mit-sot taps | sit-sot | untraced | invariants
        taps = [tap for state in self.states for tap in state]
        return [*self.sequences, *taps, *self.untraced, *self.invariants]


@dataclass(frozen=True)
class InnerOutputs(Generic[T]):
    """The values that a step computes; of a state, one for each tap that it writes."""

    states: list[list[T]]
    traces: list[T]
    untraced: list[T]
    condition: T | None = None

    def in_order(self) -> list[T]:
        """Return the flat list."""
        # mit-mot taps | mit-sot | sit-sot | traces | untraced | condition
        taps = [tap for state in self.states for tap in state]
        stop = [] if self.condition is None else [self.condition]
        return [*taps, *self.traces, *self.untraced, *stop]


@dataclass(frozen=True)
class OuterOutputs(Generic[T]):
    """The results of a loop."""

    states: list[T]
    traces: list[T]
    untraced: list[T]

    def in_order(self) -> list[T]:
        """Return the flat list."""
        # mit-mot | mit-sot | sit-sot | traces | untraced
        return [*self.states, *self.traces, *self.untraced]


@dataclass(frozen=True)
class StateTaps:
    """The places of a state's buffer that a step reads and writes, as a ``Scan`` op counts them.

    Step t touches row ``history + t + tap``.
    """

    kind: str
    reads: tuple[int, ...]
    writes: tuple[int, ...]

    @property
    def history(self) -> int:
        """Return how many rows the buffer has before the first step's; a mit-mot counts from its first."""
        return 0 if self.kind == MIT_MOT else -min(self.reads)


@dataclass(frozen=True)
class Roles:
    """The number of arguments of each role that a loop has.

    Attributes
    ----------
    sequences, traces, untraced, invariants
        The numbers of them.
    states
        The taps of each state: mit-mots, then mit-sots, then sit-sots.
    may_stop
        Whether the step's last result is a condition that ends the loop.
    """

    sequences: int
    states: tuple[StateTaps, ...]
    traces: int
    untraced: int
    invariants: int
    may_stop: bool

    @classmethod
    def of(cls, op: Any) -> Roles:
        """Return the roles of a ``Scan`` op, PyTensor's or ours."""
        return cls.of_info(op.info)

    @classmethod
    @lru_cache(maxsize=256)
    def of_info(cls, info: ScanInfo) -> Roles:
        """Return the roles that the description of an op gives; rewrites ask again for each argument."""
        slices = zip(info.mit_mot_in_slices, info.mit_mot_out_slices, strict=True)
        return cls(
            sequences=info.n_seqs,
            states=(
                *(StateTaps(MIT_MOT, tuple(reads), tuple(writes)) for reads, writes in slices),
                *(StateTaps(MIT_SOT, tuple(reads), (0,)) for reads in info.mit_sot_in_slices),
                *(StateTaps(SIT_SOT, tuple(reads), (0,)) for reads in info.sit_sot_in_slices),
            ),
            traces=info.n_nit_sot,
            untraced=info.n_untraced_sit_sot,
            invariants=info.n_non_seqs,
            may_stop=info.as_while,
        )

    def info(self) -> ScanInfo:
        """Return the description that a ``Scan`` op is made with."""
        of_kind = {
            kind: [state for state in self.states if state.kind == kind]
            for kind in (MIT_MOT, MIT_SOT, SIT_SOT)
        }
        return ScanInfo(
            n_seqs=self.sequences,
            mit_mot_in_slices=tuple(state.reads for state in of_kind[MIT_MOT]),
            mit_mot_out_slices=tuple(state.writes for state in of_kind[MIT_MOT]),
            mit_sot_in_slices=tuple(state.reads for state in of_kind[MIT_SOT]),
            sit_sot_in_slices=tuple(state.reads for state in of_kind[SIT_SOT]),
            n_nit_sot=self.traces,
            n_untraced_sit_sot=self.untraced,
            n_non_seqs=self.invariants,
            as_while=self.may_stop,
        )

    @cached_property
    def mit_mots(self) -> int:
        """Return how many of the states are mit-mots; they are the first."""
        return sum(state.kind == MIT_MOT for state in self.states)

    def outer_inputs(self, flat: Iterable[T]) -> OuterInputs[T]:
        """Return what a node is given, or what there is for each of it, by role."""
        rest = iter(flat)
        return OuterInputs(
            n_steps=next(rest),
            sequences=_next(rest, self.sequences),
            states=_next(rest, len(self.states)),
            untraced=_next(rest, self.untraced),
            trace_lengths=_next(rest, self.traces),
            invariants=_next(rest, self.invariants),
        )

    def inner_inputs(self, flat: Iterable[T]) -> InnerInputs[T]:
        """Return what the step reads, or what there is for each of it, by role."""
        rest = iter(flat)
        return InnerInputs(
            sequences=_next(rest, self.sequences),
            states=[_next(rest, len(state.reads)) for state in self.states],
            untraced=_next(rest, self.untraced),
            invariants=_next(rest, self.invariants),
        )

    def inner_outputs(self, flat: Iterable[T]) -> InnerOutputs[T]:
        """Return what the step computes, or what there is for each of it, by role."""
        rest = iter(flat)
        return InnerOutputs(
            states=[_next(rest, len(state.writes)) for state in self.states],
            traces=_next(rest, self.traces),
            untraced=_next(rest, self.untraced),
            condition=next(rest) if self.may_stop else None,
        )

    def outer_outputs(self, flat: Iterable[T]) -> OuterOutputs[T]:
        """Return what a node gives, or what there is for each of it, by role."""
        rest = iter(flat)
        return OuterOutputs(
            states=_next(rest, len(self.states)),
            traces=_next(rest, self.traces),
            untraced=_next(rest, self.untraced),
        )

    def histories(self) -> list[int]:
        """For each output, how many rows it has before the first step's."""
        return [*(state.history for state in self.states), *[0] * (self.traces + self.untraced)]

    def history(self, output: int) -> int:
        """Return how many rows the output of this number has before the first step's."""
        return self.states[output].history if output < len(self.states) else 0


def _next(rest: Iterator[T], count: int) -> list[T]:
    return list(islice(rest, count))


def steps_given_to(node: Apply) -> TensorVariable:
    """Return how many steps a loop's node is asked to make."""
    # the first of `OuterInputs.in_order`
    return known_tensor(node.inputs[0])


def given_to(node: Apply) -> OuterInputs[Variable]:
    """Return what a loop's node is given, by role."""
    return Roles.of(node.op).outer_inputs(node.inputs)


def given_by(node: Apply) -> OuterOutputs[Variable]:
    """Return what a loop's node gives, by role."""
    return Roles.of(node.op).outer_outputs(node.outputs)


def places_of_inputs(op: Op) -> OuterInputs[int]:
    """Return the positions of what a loop is given, by role."""
    return Roles.of(op).outer_inputs(count())


def places_in_step(op: Op) -> InnerInputs[int]:
    """Return the positions of what a loop's step reads, by role."""
    return Roles.of(op).inner_inputs(count())
