"""A loop as data: the arguments of a ``Scan`` node by role, to be edited and built again.

A ``Scan`` node keeps its arguments in flat lists whose order encodes their role. Every rewrite
of a loop takes them apart and puts them together again; this module does both once.

Positions in a state's buffer are counted as offsets from the oldest element that a step touches:
step ``t`` reads ``buffer[t + offset]`` and writes ``buffer[t + offset]``, offsets from 0 up.
"""

from __future__ import annotations

from collections.abc import Sequence as AbstractSequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import graph_inputs

from theano.pytensor_base.scan import Scan as PyTensorScan
from theano.pytensor_base.scan import ScanInfo
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.loop.stored_copy import apart_from, without_copy

MIT_MOT, MIT_SOT, SIT_SOT = "mit_mot", "mit_sot", "sit_sot"


@dataclass(frozen=True, eq=False)
class Sequence:
    """An array that step ``t`` reads at ``outer[t]``."""

    outer: Variable
    inner: Variable


@dataclass(frozen=True, eq=False)
class Tap:
    """One place of a state's buffer that a step reads or writes."""

    offset: int
    inner: Variable


@dataclass(frozen=True, eq=False)
class State:
    """A buffer that the steps read and write; ``output`` is the node's result, if it has one."""

    outer: Variable
    reads: tuple[Tap, ...]
    writes: tuple[Tap, ...]
    kind: str
    output: Variable | None = None

    @property
    def span(self) -> int:
        """Length of the buffer beyond the number of steps."""
        return max(tap.offset for tap in self.reads + self.writes)

    @property
    def in_slices(self) -> tuple[int, ...]:
        base = 0 if self.kind == MIT_MOT else self.span
        return tuple(tap.offset - base for tap in self.reads)

    @property
    def out_slices(self) -> tuple[int, ...]:
        return tuple(tap.offset for tap in self.writes)


@dataclass(frozen=True, eq=False)
class Trace:
    """A value of every step, stored and not read by the loop (nit-sot)."""

    length: Variable
    inner: Variable
    output: Variable | None = None


@dataclass(frozen=True, eq=False)
class Carried:
    """A state of which only the last value exists (untraced sit-sot), such as a generator."""

    outer: Variable
    inner_input: Variable
    inner_output: Variable
    output: Variable | None = None


@dataclass(frozen=True, eq=False)
class Invariant:
    """A value that is the same in every step (non-sequence)."""

    outer: Variable
    inner: Variable


@dataclass(frozen=True)
class LoopSettings:
    """What a ``Scan`` op carries beside its step."""

    name: str | None = None
    mode: Any = None
    truncate_gradient: int = -1
    profile: Any = None
    allow_gc: bool = True
    strict: bool = True


@dataclass(frozen=True, eq=False)
class Loop:
    """The arguments of a ``Scan`` node by role; ``build`` makes the node again."""

    n_steps: Variable
    sequences: tuple[Sequence, ...] = ()
    states: tuple[State, ...] = ()
    traces: tuple[Trace, ...] = ()
    carried: tuple[Carried, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    condition: Variable | None = None
    settings: LoopSettings = field(default_factory=LoopSettings)

    @property
    def inner_inputs(self) -> list[Variable]:
        # sequences | mit-mot taps | mit-sot taps | sit-sot | carried | invariants
        return [
            *(sequence.inner for sequence in self.sequences),
            *(tap.inner for state in self.ordered_states() for tap in state.reads),
            *(carried.inner_input for carried in self.carried),
            *(invariant.inner for invariant in self.invariants),
        ]

    @property
    def inner_outputs(self) -> list[Variable]:
        # mit-mot taps | mit-sot | sit-sot | traces | carried | condition
        return [
            *(tap.inner for state in self.ordered_states() for tap in state.writes),
            *(trace.inner for trace in self.traces),
            *(carried.inner_output for carried in self.carried),
            *([] if self.condition is None else [self.condition]),
        ]

    @property
    def outer_inputs(self) -> list[Variable]:
        # n_steps | sequences | mit-mot | mit-sot | sit-sot | carried | trace lengths | invariants
        return [
            self.n_steps,
            *(sequence.outer for sequence in self.sequences),
            *(state.outer for state in self.ordered_states()),
            *(carried.outer for carried in self.carried),
            *(trace.length for trace in self.traces),
            *(invariant.outer for invariant in self.invariants),
        ]

    @property
    def outputs(self) -> list[Variable | None]:
        """The outer outputs that the entries had when the loop was taken from a node."""
        # mit-mot | mit-sot | sit-sot | traces | carried
        return [
            *(state.output for state in self.ordered_states()),
            *(trace.output for trace in self.traces),
            *(carried.output for carried in self.carried),
        ]

    def ordered_states(self) -> list[State]:
        """The states in the order of a ``Scan`` node's arguments."""
        return [s for kind in (MIT_MOT, MIT_SOT, SIT_SOT) for s in self.states if s.kind == kind]

    @property
    def info(self) -> ScanInfo:
        of_kind = {
            kind: [state for state in self.states if state.kind == kind]
            for kind in (MIT_MOT, MIT_SOT, SIT_SOT)
        }
        return ScanInfo(
            n_seqs=len(self.sequences),
            mit_mot_in_slices=tuple(state.in_slices for state in of_kind[MIT_MOT]),
            mit_mot_out_slices=tuple(state.out_slices for state in of_kind[MIT_MOT]),
            mit_sot_in_slices=tuple(state.in_slices for state in of_kind[MIT_SOT]),
            sit_sot_in_slices=tuple(state.in_slices for state in of_kind[SIT_SOT]),
            n_nit_sot=len(self.traces),
            n_untraced_sit_sot=len(self.carried),
            n_non_seqs=len(self.invariants),
            as_while=self.condition is not None,
        )

    def with_step(
        self, inner_inputs: AbstractSequence[Variable], inner_outputs: AbstractSequence[Variable]
    ) -> Loop:
        """The same loop around another step, given as flat lists in the order of this one's."""
        inputs, outputs = iter(inner_inputs), iter(inner_outputs)
        # sequences | mit-mot taps | mit-sot taps | sit-sot | carried | invariants
        sequences = tuple(replace(entry, inner=next(inputs)) for entry in self.sequences)
        states = tuple(
            replace(
                state,
                reads=tuple(replace(tap, inner=next(inputs)) for tap in state.reads),
                writes=tuple(replace(tap, inner=next(outputs)) for tap in state.writes),
            )
            for state in self.ordered_states()
        )
        # mit-mot taps | mit-sot | sit-sot | traces | carried | condition
        traces = tuple(replace(entry, inner=next(outputs)) for entry in self.traces)
        carried = tuple(
            replace(entry, inner_input=next(inputs), inner_output=next(outputs))
            for entry in self.carried
        )
        invariants = tuple(replace(entry, inner=next(inputs)) for entry in self.invariants)
        condition = None if self.condition is None else next(outputs)
        return replace(
            self,
            sequences=sequences,
            states=states,
            traces=traces,
            carried=carried,
            invariants=invariants,
            condition=condition,
        )

    def with_inner_outputs(self, inner_outputs: AbstractSequence[Variable]) -> Loop:
        """The same loop whose step computes ``inner_outputs`` from the same inner inputs."""
        return self.with_step(self.inner_inputs, inner_outputs)

    def without_unused_inputs(self) -> Loop:
        """The same loop, which is not given sequences and invariants that its step never reads."""
        read = set(graph_inputs(self.inner_outputs))
        return replace(
            self,
            sequences=tuple(entry for entry in self.sequences if entry.inner in read),
            invariants=tuple(entry for entry in self.invariants if entry.inner in read),
        )

    def rows_at(self, state: State, buffer: Variable, offset: int) -> Variable:
        """``buffer[t + offset]`` for every step t, of a buffer of one of the loop's states.

        A buffer is longer than the run by the state's span; that of a truncated gradient has rows
        for the steps that it does not go back to, too.
        """
        if state.kind == MIT_MOT and self.settings.truncate_gradient != -1:
            return buffer[offset : offset + self.n_steps]
        return buffer[offset : offset - state.span] if offset < state.span else buffer[offset:]

    def build(self, op_class: type[PyTensorScan]) -> BuiltLoop:
        """Make a node; the op clones the step, so this loop stays as it is."""
        settings = self.settings
        updated = {tap.inner for s in self.states if s.kind == MIT_MOT for tap in s.reads}
        op = op_class(
            self.inner_inputs,
            [apart_from(updated, output) for output in self.inner_outputs],
            self.info,
            mode=settings.mode,
            truncate_gradient=settings.truncate_gradient,
            name=settings.name,
            profile=settings.profile,
            allow_gc=settings.allow_gc,
            strict=settings.strict,
        )
        node = op.make_node(*self.outer_inputs)
        outputs = iter(node.outputs)
        new_outputs: dict[State | Trace | Carried, Variable] = {}
        for entry in (*self.ordered_states(), *self.traces, *self.carried):
            new_outputs[entry] = next(outputs)
        return BuiltLoop(node, self, new_outputs)


@dataclass(frozen=True, eq=False)
class BuiltLoop:
    """A node made from a loop, and the output of each of the loop's entries."""

    node: Apply
    loop: Loop
    outputs: dict[State | Trace | Carried, Variable]

    def replacements(self) -> dict[Variable, Variable]:
        """The outputs of the node that the entries came from, mapped to the new ones."""
        return {
            entry.output: output
            for entry, output in self.outputs.items()
            if entry.output is not None
        }


def fresh_like(variable: Variable) -> Variable:
    """A new variable of the same type and name."""
    return variable.type(name=variable.name)


def take_apart(node: Apply) -> Loop:
    """The arguments of a ``Scan`` node by role, with inner variables of its own.

    Parameters
    ----------
    node
        An apply node of a ``Scan`` op, PyTensor's or ours.
    """
    op = node.op
    info: ScanInfo = op.info
    inner_inputs = [fresh_like(variable) for variable in op.inner_inputs]
    inner_outputs = copied(
        [without_copy(output) for output in op.inner_outputs],
        dict(zip(op.inner_inputs, inner_inputs, strict=True)),
    )
    inputs, outputs = iter(inner_inputs), iter(inner_outputs)
    outer_inputs, outer_outputs = iter(node.inputs), iter(node.outputs)

    def take(iterator, count: int) -> list:
        return [next(iterator) for _ in range(count)]

    # outer: n_steps | sequences | mit-mot | mit-sot | sit-sot | carried | trace lengths | invariants
    n_steps = next(outer_inputs)
    sequences = tuple(
        Sequence(outer, inner)
        for outer, inner in zip(
            take(outer_inputs, info.n_seqs), take(inputs, info.n_seqs), strict=True
        )
    )
    states = []
    for kind, in_slices, out_slices in _state_slices(info):
        base = min(0, *in_slices, *out_slices)
        states.append(
            State(
                outer=next(outer_inputs),
                reads=tuple(Tap(tap - base, next(inputs)) for tap in in_slices),
                writes=tuple(Tap(tap - base, next(outputs)) for tap in out_slices),
                kind=kind,
                output=next(outer_outputs),
            )
        )
    carried_outer = take(outer_inputs, info.n_untraced_sit_sot)
    traces = tuple(
        Trace(length, next(outputs), next(outer_outputs))
        for length in take(outer_inputs, info.n_nit_sot)
    )
    carried = tuple(
        Carried(outer, next(inputs), next(outputs), next(outer_outputs)) for outer in carried_outer
    )
    invariants = tuple(
        Invariant(outer, next(inputs)) for outer in take(outer_inputs, info.n_non_seqs)
    )
    return Loop(
        n_steps=n_steps,
        sequences=sequences,
        states=tuple(states),
        traces=traces,
        carried=carried,
        invariants=invariants,
        condition=next(outputs) if info.as_while else None,
        settings=LoopSettings(
            name=op.name,
            mode=op.mode,
            truncate_gradient=op.truncate_gradient,
            profile=op.profile,
            allow_gc=op.allow_gc,
            strict=op.strict,
        ),
    )


def _state_slices(info: ScanInfo):
    """Kind, input taps and output taps of each state, in the order of the node's arguments."""
    for in_slices, out_slices in zip(info.mit_mot_in_slices, info.mit_mot_out_slices, strict=True):
        yield MIT_MOT, in_slices, out_slices
    for in_slices in info.mit_sot_in_slices:
        yield MIT_SOT, in_slices, (0,)
    for in_slices in info.sit_sot_in_slices:
        yield SIT_SOT, in_slices, (0,)
