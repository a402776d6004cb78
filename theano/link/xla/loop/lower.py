"""Scan as one ``while`` of XLA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from pytensor.graph.basic import Apply, Variable

from theano.link.step_graph import prepared
from theano.link.xla.context import Context, is_traced
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
from theano.pytensor_internals.graphs.scan import Scan
from theano.rewriting.zeros import is_zero
from theano.scan_module.loop.roles import InnerInputs, Roles, given_to
from theano.support.data_classes import dataclass

if TYPE_CHECKING:
    from theano.link.xla.loop.kernels import KernelCall


@dataclass(frozen=True)
class Cases:
    """The lengths for which one program is made, in each case a number.

    Attributes
    ----------
    count
        How many steps the loop makes: traced, if there are several cases.
    steps, states, lengths
        The same number in each case, the rows of each state's buffer, and those of each trace.
    """

    count: Any
    steps: np.ndarray
    states: list[np.ndarray]
    lengths: list[np.ndarray]


@dataclass(frozen=True)
class LoopInputs:
    """The values of a node's inputs by their role, as arrays.

    Attributes
    ----------
    cases
        The lengths that there may be; the last are the greatest, and those of the arrays.
    sequences, mit_mots, states, untraced, invariants
        In the node's order; ``states`` are the buffers of mit-sots and sit-sots.
    zeros
        Positions of the invariants that are zero everywhere.
    """

    cases: Cases
    sequences: list[RowSequence]
    mit_mots: list[Any]
    states: list[Any]
    untraced: list[Any]
    invariants: list[Any]
    zeros: Sequence[int] = ()

    @property
    def steps(self) -> int:
        """Return how many steps the loop makes, at most."""
        return int(self.cases.steps[-1])

    @classmethod
    def of(cls, op: Scan, node: Apply, inputs: Sequence[Any], context: Context) -> LoopInputs:
        """Sort the inputs' values."""
        roles = Roles.of(op)
        values, variables = roles.outer_inputs(inputs), given_to(node)
        steps = _number_of_steps(values.n_steps)
        buffers = _arrays(values.states, variables.states)
        mit_mots, states = buffers[: roles.mit_mots], buffers[roles.mit_mots :]
        lengths = [np.array([int(length)]) for length in values.trace_lengths]
        sequences = zip(values.sequences, variables.sequences, strict=True)
        return cls(
            Cases(steps, np.array([steps]), [np.array([len(x)]) for x in states], lengths),
            [_sequence(k, *pair, steps, context) for k, pair in enumerate(sequences)],
            mit_mots,
            states,
            _arrays(values.untraced, variables.untraced),
            invariants_of(variables.invariants, values.invariants, context.known),
            [k for k, variable in enumerate(variables.invariants) if is_zero(variable)],
        )


def _arrays(values: Sequence[Any], variables: Sequence[Variable]) -> list[Any]:
    return [as_array(value, variable) for value, variable in zip(values, variables, strict=True)]


def _number_of_steps(value: Any) -> int:
    steps = int(value)
    if steps < 0:
        raise IndexError(f"Scan was asked to run for negative number of step {steps}")
    return steps


def _sequence(k: int, value: Any, variable: Variable, steps: int, context: Context) -> RowSequence:
    value = as_array(value, variable)
    if value.shape[0] < steps:
        raise ValueError(
            f"Sequence {k} has shape {value.shape} "
            f"but the Scan's required number of steps is {steps}"
        )
    return sequence_of(variable, context.known) or RowSequence.of(value)


@lowers(Scan, concrete=known_inputs, even_if_concrete=True, why_not=why_no_loop)
def lower_scan(op: Scan, node: Apply, inputs: list[Any], context: Context) -> list[Any]:
    """Return a loop, whose step is traced once, or the kernel of a GPU that it is."""
    parts = LoopInputs.of(op, node, inputs, context)
    if context.gpu_kernels != "never" and parts.steps:
        # it imports the native engine's lowerings, which programs without kernels do without
        from theano.link.xla.loop.kernels import kernel_call

        call = kernel_call(op, node, inputs, context)
        if call is not None:
            return _run_kernel(op, call, parts, context)
    return run_loop(op, parts, context)


def _run_kernel(op: Scan, call: KernelCall, parts: LoopInputs, context: Context) -> list[Any]:
    """Return the outputs of a loop that is one kernel."""
    kept = _kept(op, parts, call.trace_rows, context)
    results, steps = call.run(context)
    outputs = [storage.filled(result, steps) for storage, result in zip(kept, results, strict=True)]
    if Roles.of(op).may_stop:
        context.ratios.append(parts.steps)
        outputs = [stopped(s, rows, steps) for s, rows in zip(kept, outputs, strict=True)]
    return outputs


def run_loop(op: Scan, parts: LoopInputs, context: Context) -> list[Any]:
    """Return the outputs of a loop."""
    if Roles.of(op).may_stop:
        context.ratios.append(parts.steps)
    rows = _row_types(op, parts)
    step = traced_step(prepared(op), rows, parts.invariants, context, parts.zeros)
    loop = WhileLoop(
        parts.cases.count,
        parts.steps,
        parts.sequences,
        _kept(op, parts, Roles.of(op).inner_outputs(step.results).traces, context),
        step,
        Roles.of(op).may_stop,
        _counter(parts.steps, context),
    )
    if parts.steps == 0:
        return [storage.initial for storage in loop.kept]
    outputs, well = _run_by_name(loop, context)
    for held, error in zip(well, step.errors, strict=True):
        context.require(held, error)
    return outputs


def _counter(most_steps: int, context: Context) -> str:
    """Return the type of the number of a step.

    XLA on the CPU makes vectors of exponentials and the like where the position of a row has 64 bits,
    but not of all where it has to widen it; on a GPU arithmetic of 64 bits is slow.
    """
    return "int32" if context.platform != "cpu" and most_steps < 2**31 else "int64"


def _run_by_name(loop: WhileLoop, context: Context) -> tuple[list[Any], list[Any]]:
    """Run a loop, as a function that the context knows if others may run it in blocks of steps."""
    import jax

    if context.loops is None or loop.may_stop or is_traced(loop.steps):
        return loop.run()
    arrays = loop.arrays()
    name = f"steps of loop {len(context.loops)}"
    context.loops[name] = loop.with_arrays([jax.typeof(array) for array in arrays])

    def run(*given: object) -> tuple[list[Any], list[Any]]:
        return loop.with_arrays(given).run()

    run.__name__ = name
    return jax.jit(run)(*arrays)


def _row_types(op: Scan, parts: LoopInputs) -> list[Any]:
    """Shape and dtype of each row that the step reads."""
    from jax import ShapeDtypeStruct

    def row(buffer: Any) -> Any:
        return ShapeDtypeStruct(buffer.shape[1:], buffer.dtype)

    roles, buffers = Roles.of(op), [*parts.mit_mots, *parts.states]
    return InnerInputs(
        sequences=[row(sequence.array) for sequence in parts.sequences],
        states=[
            [row(buffer)] * len(taps.reads)
            for buffer, taps in zip(buffers, roles.states, strict=True)
        ],
        untraced=[ShapeDtypeStruct(value.shape, value.dtype) for value in parts.untraced],
        invariants=[],
    ).in_order()


def _kept(op: Scan, parts: LoopInputs, traces: Sequence[Any], context: Context) -> list[Any]:
    """Return the storage of each output, where rows of traces have a shape and a dtype."""
    roles = Roles.of(op)
    mit_mots, states = roles.states[: roles.mit_mots], roles.states[roles.mit_mots :]
    kept: list[Any] = [
        _window(op, buffer, taps.reads, taps.writes, parts, next(context.marks))
        for buffer, taps in zip(parts.mit_mots, mit_mots, strict=True)
    ]
    kept += [
        _rows(op, buffer, taps.reads, taps.history, lengths, parts.cases)
        for buffer, taps, lengths in zip(parts.states, states, parts.cases.states, strict=True)
    ]
    kept += [
        _trace(op, result, lengths, parts.cases, next(context.marks))
        for result, lengths in zip(traces, parts.cases.lengths, strict=True)
    ]
    return kept + [Value(value) for value in parts.untraced]


def _window(
    op: Scan,
    buffer: object,
    reads: tuple[int, ...],
    writes: tuple[int, ...],
    parts: LoopInputs,
    mark: int,
) -> Any:
    taps = (*reads, *writes)
    near = max(taps) - min(taps) <= ROWS_MOVED
    moved = near and not Roles.of(op).may_stop and len(parts.cases.steps) == 1
    return (MovingWindow if moved else WideWindow)(buffer, reads, writes, parts.steps, mark)


def _rows(
    op: Scan,
    buffer: Any,
    taps: tuple[int, ...],
    history: int,
    lengths: np.ndarray,
    cases: Cases,
) -> Any:
    count = len(buffer)
    if count < history:
        raise ValueError(
            f"Scan was given a buffer of {count} rows for a state that reads {history} steps back"
        )
    spare = lengths - history - cases.steps
    # rows that an early stop leaves without a value must not be among those that are moved up
    least = 1 if Roles.of(op).may_stop else int(cases.steps.min())
    if count <= min(ROWS_MOVED, history + least) and (spare < 0).all():
        return LastRows(buffer, taps, history)
    is_circular, has_spare = bool((spare < 0).any()), bool((spare > 0).any())
    return Rows(buffer, taps, history, int(cases.steps[-1]), is_circular, has_spare)


def _trace(op: Scan, result: Any, lengths: np.ndarray, cases: Cases, mark: int) -> Any:
    # a loop without steps has no rows, however many were asked for
    lengths = np.where(cases.steps > 0, lengths, 0)
    buffer = unwritten((int(lengths[-1]), *result.shape), result.dtype, mark)
    return _rows(op, buffer, (), 0, lengths, cases)


@dataclass(frozen=True)
class WhileLoop:
    """A loop that is ready to run.

    Attributes
    ----------
    steps
        How many it makes, at most; it may be traced.
    most_steps
        The greatest number that there may be.
    sequences, kept
        What gives the rows of a step, and takes its results.
    step
        The step.
    may_stop
        Whether the last result of the step stops the loop.
    counter
        The type of the number of a step.
    """

    steps: Any
    most_steps: int
    sequences: list[RowSequence]
    kept: list[Any]
    step: TracedStep
    may_stop: bool
    counter: str

    def arrays(self) -> list[Any]:
        """All arrays that it is given."""
        read = [sequence.array for sequence in self.sequences]
        return [*read, *(storage.initial for storage in self.kept), *self.step.constants]

    def with_arrays(self, arrays: Sequence[Any]) -> WhileLoop:
        """Return the same loop of other arrays, in that order."""
        given = iter(arrays)
        return replace(
            self,
            sequences=[replace(sequence, array=next(given)) for sequence in self.sequences],
            kept=[replace(storage, initial=next(given)) for storage in self.kept],
            step=replace(self.step, constants=tuple(given)),
        )

    def run(self) -> tuple[list[Any], list[Any]]:
        """Return the outputs, and for each error of the step whether all was well."""
        import jax.numpy as jnp
        from jax import lax

        start, steps = self.start(), self.steps
        if self.may_stop:
            steps, *last, _ = lax.while_loop(
                lambda state: (state[0] < self.steps) & ~state[3],
                self._one_step,
                (self.number(0), *start, jnp.bool_(False)),
            )
            kept, well = last
        else:
            kept, well = self.advanced(start, 0, self.steps)
        outputs = [s.finish(k, steps) for s, k in zip(self.kept, kept, strict=True)]
        if self.may_stop:
            outputs = [stopped(s, rows, steps) for s, rows in zip(self.kept, outputs, strict=True)]
        return outputs, list(well)

    def start(self) -> tuple[Any, Any]:
        """Return what is kept before the first step, and for each error that all is well."""
        import jax.numpy as jnp

        kept = tuple(storage.start() for storage in self.kept)
        return kept, tuple(jnp.bool_(True) for _ in self.step.errors)

    def advanced(self, state: tuple[Any, Any], first: object, count: Any) -> tuple[Any, Any]:
        """Return what is kept after so many steps, and whether all is well."""
        from jax import lax

        if isinstance(count, int) and count == 1:
            _, kept, well, _ = self._one_step((first, *state, None))
            return kept, well

        def one_step(state: Any) -> Any:
            done, *before = state
            _, kept, well, _ = self._one_step((done + first, *before, None))
            return done + 1, kept, well

        _, kept, well = lax.while_loop(
            lambda state: state[0] < count, one_step, (self.number(0), *state)
        )
        return kept, well

    def number(self, value: int) -> Any:
        """Return a number of steps, as loops count them."""
        import jax.numpy as jnp

        return jnp.asarray(value, self.counter)

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
