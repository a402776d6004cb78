"""A loop as data: the arguments of a ``Scan`` node by role, to be edited and built again.

Every rewrite of a loop takes a node's arguments apart and puts them together again; this module
does both once, on the lists that `roles` sorts.

Positions in a state's buffer are counted as offsets from the oldest element that a step touches:
step ``t`` reads ``buffer[t + offset]`` and writes ``buffer[t + offset]``, offsets from 0 up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from collections.abc import Sequence as AbstractSequence
from dataclasses import field, replace
from typing import Any, TypeVar

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import graph_inputs
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.scan_module.loop.equal_loops import Made, once_for_equal_steps
from theano.scan_module.loop.result_copy import apart_from, without_copy
from theano.scan_module.loop.roles import (
    MIT_MOT,
    MIT_SOT,
    SIT_SOT,
    InnerInputs,
    InnerOutputs,
    OuterInputs,
    OuterOutputs,
    Roles,
    StateTaps,
)
from theano.scan_module.loop.step_copy import copied
from theano.support.data_classes import dataclass

# where an op keeps its step in normal form, as inputs and outputs
NORMAL_STEP = "normal_step"

V = TypeVar("V", bound=Variable)


@dataclass(frozen=True, eq=False)
class Sequence:
    """An array that step ``t`` reads at ``outer[t]``."""

    outer: TensorVariable
    inner: Variable


@dataclass(frozen=True, eq=False)
class Tap:
    """One place of a state's buffer that a step reads or writes."""

    offset: int
    inner: Variable


@dataclass(frozen=True, eq=False)
class State:
    """A buffer that the steps read and write; ``output`` is the node's result, if it has one."""

    outer: TensorVariable
    reads: tuple[Tap, ...]
    writes: tuple[Tap, ...]
    kind: str
    output: Variable | None = None

    @property
    def span(self) -> int:
        """Length of the buffer beyond the number of steps."""
        return max(tap.offset for tap in self.reads + self.writes)

    @property
    def taps(self) -> StateTaps:
        """The places that a step reads and writes, as a ``Scan`` op counts them."""
        base = 0 if self.kind == MIT_MOT else self.span
        reads = tuple(tap.offset - base for tap in self.reads)
        writes = tuple(tap.offset for tap in self.writes) if self.kind == MIT_MOT else (0,)
        return StateTaps(self.kind, reads, writes)


@dataclass(frozen=True, eq=False)
class Trace:
    """A value of every step, kept and not read by the loop (nit-sot)."""

    length: TensorVariable
    inner: Variable
    output: Variable | None = None


@dataclass(frozen=True, eq=False)
class Untraced:
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
    """The settings of a ``Scan`` op in addition to its step."""

    name: str | None = None
    mode: Any = None
    truncate_gradient: int = -1
    profile: Any = None
    allow_gc: bool = True
    strict: bool = True


@dataclass(frozen=True, eq=False)
class Loop:
    """The arguments of a ``Scan`` node by role; ``build`` makes the node again.

    Attributes
    ----------
    is_normal
        Whether the step is in normal form, see ``normal_form``; what is edited stays so.
    """

    n_steps: TensorVariable
    sequences: tuple[Sequence, ...] = ()
    states: tuple[State, ...] = ()
    traces: tuple[Trace, ...] = ()
    untraced: tuple[Untraced, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    condition: Variable | None = None
    settings: LoopSettings = field(default_factory=LoopSettings)
    is_normal: bool = False

    @property
    def inner_inputs(self) -> list[Variable]:
        """Return what the step reads."""
        return InnerInputs(
            sequences=[entry.inner for entry in self.sequences],
            states=[[tap.inner for tap in state.reads] for state in self.ordered_states()],
            untraced=[entry.inner_input for entry in self.untraced],
            invariants=[entry.inner for entry in self.invariants],
        ).in_order()

    @property
    def inner_outputs(self) -> list[Variable]:
        """Return what the step computes."""
        return InnerOutputs(
            states=[[tap.inner for tap in state.writes] for state in self.ordered_states()],
            traces=[entry.inner for entry in self.traces],
            untraced=[entry.inner_output for entry in self.untraced],
            condition=self.condition,
        ).in_order()

    @property
    def outer_inputs(self) -> list[Variable]:
        """Return what the loop is given."""
        given: OuterInputs[Variable] = OuterInputs(
            n_steps=self.n_steps,
            sequences=[entry.outer for entry in self.sequences],
            states=[state.outer for state in self.ordered_states()],
            untraced=[entry.outer for entry in self.untraced],
            trace_lengths=[trace.length for trace in self.traces],
            invariants=[entry.outer for entry in self.invariants],
        )
        return given.in_order()

    @property
    def results(self) -> list[State | Trace | Untraced]:
        """Return what has an output of the node, in the order of its outputs."""
        found: OuterOutputs[State | Trace | Untraced] = OuterOutputs(
            [*self.ordered_states()], [*self.traces], [*self.untraced]
        )
        return found.in_order()

    @property
    def outputs(self) -> list[Variable | None]:
        """The outer outputs that the entries had when the loop was taken from a node."""
        return [entry.output for entry in self.results]

    def ordered_states(self) -> list[State]:
        """Return the states in the order of a ``Scan`` node's arguments."""
        return [s for kind in (MIT_MOT, MIT_SOT, SIT_SOT) for s in self.states if s.kind == kind]

    @property
    def roles(self) -> Roles:
        """Return how many arguments of each role the loop has."""
        return Roles(
            sequences=len(self.sequences),
            states=tuple(state.taps for state in self.ordered_states()),
            traces=len(self.traces),
            untraced=len(self.untraced),
            invariants=len(self.invariants),
            may_stop=self.condition is not None,
        )

    def with_step(
        self, inner_inputs: AbstractSequence[Variable], inner_outputs: AbstractSequence[Variable]
    ) -> Loop:
        """Return the same loop around another step, given as flat lists in the order of this one's."""
        read = self.roles.inner_inputs(inner_inputs)
        computed = self.roles.inner_outputs(inner_outputs)
        return replace(
            self,
            sequences=_each(self.sequences, inner=read.sequences),
            states=tuple(
                replace(
                    state,
                    reads=_each(state.reads, inner=reads),
                    writes=_each(state.writes, inner=writes),
                )
                for state, reads, writes in zip(
                    self.ordered_states(), read.states, computed.states, strict=True
                )
            ),
            traces=_each(self.traces, inner=computed.traces),
            untraced=_each(
                self.untraced, inner_input=read.untraced, inner_output=computed.untraced
            ),
            invariants=_each(self.invariants, inner=read.invariants),
            condition=computed.condition,
        )

    def with_inner_outputs(self, inner_outputs: AbstractSequence[Variable]) -> Loop:
        """Return the same loop whose step computes ``inner_outputs`` from the same inner inputs."""
        return self.with_step(self.inner_inputs, inner_outputs)

    def with_values_read(
        self, values: AbstractSequence[Variable]
    ) -> tuple[Loop, dict[Variable, Variable]]:
        """Return the same loop whose step reads values that it computed, and what it reads for each.

        Whoever asks makes these inputs of the step. Loops of equal steps read the same variables.
        """
        outputs = self.inner_outputs

        def read() -> tuple[dict[Variable, Variable], list[Variable]]:
            places = {value: fresh_like(value) for value in values}
            return places, copied(outputs, places)

        places, edited = self.once(("values read", tuple(values)), read)
        return self.with_inner_outputs(edited), places

    def once(self, what: Hashable, make: Callable[[], Made]) -> Made:
        """Return what is made from the step alone: where it is in normal form, once for equal steps.

        Parameters
        ----------
        what
            Which of the things that are made from this step.
        make
            Makes it; nobody changes what it returns.
        """
        if not self.is_normal:
            return make()
        key = what, self.roles, tuple(self.inner_inputs), tuple(self.inner_outputs)
        return once_for_equal_steps(key, make)

    def with_step_copied(self) -> Loop:
        """Return the same loop, whose step is in its own variables."""
        inputs = self.inner_inputs
        places = [fresh_like(variable) for variable in inputs]
        outputs = copied(self.inner_outputs, dict(zip(inputs, places, strict=True)))
        return self.with_step(places, outputs)

    def without_unused_inputs(self) -> Loop:
        """Return the same loop, which is not given sequences and invariants that its step never reads."""
        read = set(graph_inputs(self.inner_outputs))
        return replace(
            self,
            sequences=tuple(entry for entry in self.sequences if entry.inner in read),
            invariants=tuple(entry for entry in self.invariants if entry.inner in read),
        )

    def rows_at(self, state: State, buffer: Variable, offset: int) -> TensorVariable:
        """``buffer[t + offset]`` for every step t, of a buffer of one of the loop's states.

        A buffer is longer than the run by the state's span; that of a truncated gradient has rows
        for the steps that it does not go back to, too.
        """
        rows = known_tensor(buffer)
        if state.kind == MIT_MOT and self.settings.truncate_gradient != -1:
            return rows[offset : offset + self.n_steps]
        return rows[offset : offset - state.span] if offset < state.span else rows[offset:]

    def build(self, op_class: type[PyTensorScan]) -> BuiltLoop:
        """Make a node; the op clones the step, so this loop stays as it is."""
        step = self.inner_inputs, self.inner_outputs
        op = self.once(("op", op_class), lambda: self._op(op_class))
        if self.is_normal:
            op = op.of_equal_step(**vars(self.settings))
            vars(op)[NORMAL_STEP] = step
        node = op.make_node(*self.outer_inputs)
        return BuiltLoop.of(node, self)

    def _op(self, op_class: type[PyTensorScan]) -> Any:
        updated = {tap.inner for s in self.states if s.kind == MIT_MOT for tap in s.reads}
        outputs = [apart_from(updated, output) for output in self.inner_outputs]
        return op_class(self.inner_inputs, outputs, self.roles.info(), **vars(self.settings))


@dataclass(frozen=True, eq=False)
class BuiltLoop:
    """A node made from a loop, and the output of each of the loop's entries."""

    node: Apply
    loop: Loop
    outputs: dict[State | Trace | Untraced, Variable]

    @classmethod
    def of(cls, node: Apply, loop: Loop) -> BuiltLoop:
        """Return a node, and a loop with its entries in the order of the node's outputs."""
        return cls(node, loop, dict(zip(loop.results, node.outputs, strict=True)))

    def rows(self, entry: State | Trace) -> TensorVariable:
        """Return the output of a state or a trace."""
        return known_tensor(self.outputs[entry])

    def steps_run(self) -> TensorVariable:
        """Return how many steps the loop runs, which a condition may make fewer than asked for."""
        if self.loop.condition is None:
            return self.loop.n_steps
        for trace in self.loop.traces:
            return self.rows(trace).shape[0]
        for state in self.loop.ordered_states():
            return self.rows(state).shape[0] - state.span
        return self.loop.n_steps

    def replacements(self) -> dict[Variable, Variable]:
        """Return the outputs of the node that the entries came from, mapped to the new ones."""
        return {
            entry.output: output
            for entry, output in self.outputs.items()
            if entry.output is not None
        }


def output_of(entry: State | Trace | Untraced) -> Variable:
    """Return the output of the node that an entry was taken from."""
    assert entry.output is not None, "an entry of a loop that was not unpacked"
    return entry.output


def fresh_like(variable: V) -> V:
    """Return a new variable of the same type and name."""
    return variable.type(name=variable.name)


def unpack(node: Apply) -> Loop:
    """Return the arguments of a ``Scan`` node by role, with separate inner variables.

    Parameters
    ----------
    node
        An apply node of a ``Scan`` op, PyTensor's or ours.
    """
    op = node.op
    inner_inputs = [fresh_like(variable) for variable in op.inner_inputs]
    inner_outputs = copied(
        [without_copy(output) for output in op.inner_outputs],
        dict(zip(op.inner_inputs, inner_inputs, strict=True)),
    )
    return loop_of(node, inner_inputs, inner_outputs)


def loop_of(
    node: Apply,
    inner_inputs: AbstractSequence[Variable],
    inner_outputs: AbstractSequence[Variable],
) -> Loop:
    """Return the arguments of a ``Scan`` node by role, around variables that its step is written in."""
    op = node.op
    roles = Roles.of(op)
    given, results = roles.outer_inputs(node.inputs), roles.outer_outputs(node.outputs)
    read, computed = roles.inner_inputs(inner_inputs), roles.inner_outputs(inner_outputs)
    return Loop(
        n_steps=known_tensor(given.n_steps),
        sequences=_zipped(Sequence, given.sequences, read.sequences),
        states=_zipped(
            _state, roles.states, given.states, read.states, computed.states, results.states
        ),
        traces=_zipped(Trace, given.trace_lengths, computed.traces, results.traces),
        untraced=_zipped(
            Untraced, given.untraced, read.untraced, computed.untraced, results.untraced
        ),
        invariants=_zipped(Invariant, given.invariants, read.invariants),
        condition=computed.condition,
        settings=LoopSettings(
            name=op.name,
            mode=op.mode,
            truncate_gradient=op.truncate_gradient,
            profile=op.profile,
            allow_gc=op.allow_gc,
            strict=op.strict,
        ),
    )


def _state(
    taps: StateTaps,
    outer: Variable,
    reads: list[Variable],
    writes: list[Variable],
    output: Variable,
) -> State:
    base = min(0, *taps.reads, *taps.writes)
    return State(
        outer=known_tensor(outer),
        reads=_zipped(Tap, [tap - base for tap in taps.reads], reads),
        writes=_zipped(Tap, [tap - base for tap in taps.writes], writes),
        kind=taps.kind,
        output=output,
    )


def _zipped(make: Callable[..., Any], *columns: AbstractSequence) -> tuple:
    return tuple(make(*row) for row in zip(*columns, strict=True))


def _each(entries: tuple, **columns: list[Variable]) -> tuple:
    """Return the entries, each with its value of each column in the field of that name."""
    rows = zip(*columns.values(), strict=True)
    return tuple(
        replace(entry, **dict(zip(columns, row, strict=True)))
        for entry, row in zip(entries, rows, strict=True)
    )
