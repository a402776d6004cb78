"""The loop around a written step, made from its arguments and what it returned."""

from __future__ import annotations

from collections.abc import Sequence as AbstractSequence
from dataclasses import replace
from functools import reduce
from typing import Any

from pytensor import tensor as pt
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.math import minimum
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.graph import MissingInputError
from theano.scan_module.adopt import adopted_loop
from theano.scan_module.call.arguments_by_role import TRACE, UNTRACED, Given, GivenResult
from theano.scan_module.call.number_of_steps import constant_steps
from theano.scan_module.call.step_results import loop_name
from theano.scan_module.call.written_step import WrittenStep
from theano.scan_module.loop.arguments import (
    BuiltLoop,
    Invariant,
    Loop,
    LoopSettings,
    Sequence,
    State,
    Tap,
    Trace,
    Untraced,
)
from theano.scan_module.loop.initial_values import first_rows, memory_from
from theano.scan_module.loop.roles import SIT_SOT
from theano.scan_module.scan_op import Scan
from theano.support.data_classes import dataclass

Entry = State | Trace | Untraced


@dataclass(frozen=True, eq=False)
class WrittenLoop:
    """A loop in the variables of the user's function.

    Attributes
    ----------
    loop
        The loop; the states begin in their first rows, not yet in memory for all steps.
    results
        The variable or state of each result of the step.
    changed
        The state of each shared variable that the step changes.
    """

    loop: Loop
    results: list[Entry]
    changed: dict[Any, Entry]


def results_of_loop(
    given: Given, step: WrittenStep, n_steps: object, backwards: bool, settings: LoopSettings
) -> tuple[list[Variable], dict[Any, Variable]]:
    """Return what all steps of a loop give.

    Parameters
    ----------
    given
        What the loop is given.
    step
        Its step, called with ``given.arguments()`` and the invariants.
    n_steps
        The number of steps as given to ``scan``.
    backwards
        Whether to go through the sequences from their ends.
    settings
        What the loop carries next to its step.

    Returns
    -------
    list of Variable
        The rows of each result of the step; of one that has no rows, its last value.
    dict
        The last value of each shared variable that the step changes.
    """
    written = _written_loop(given, step, n_steps, backwards, settings)
    inputs, outputs = written.loop.inner_inputs, written.loop.inner_outputs
    own = written.loop.with_step_copied()
    fitted = adopted_loop(own, settings.mode)
    known = _known_steps(given, n_steps)
    states = [
        _in_memory(state, before.outer, own.n_steps, known)
        for state, before in zip(fitted.states, own.states, strict=True)
    ]
    loop = replace(fitted, states=tuple(states))
    built = loop.build(Scan)
    if _same_step(own, fitted):
        built.node.op.as_written = inputs, outputs
    # entries of the loop as it was written -> those of the loop that was built
    now = dict(zip(written.loop.results, loop.results, strict=True))
    results = [_rows(built, now[entry]) for entry in written.results]
    return results, {shared: _last(built, now[entry]) for shared, entry in written.changed.items()}


def _written_loop(
    given: Given, step: WrittenStep, n_steps: Any, backwards: bool, settings: LoopSettings
) -> WrittenLoop:
    """Return the loop around the user's own variables."""
    rows = [s.rows(tap, backwards) for s in given.sequences for tap in s.taps]
    if n_steps is None:
        steps = reduce(minimum, [row.shape[0] for row in rows])
    else:
        steps = pt.as_tensor(n_steps, dtype="int64", ndim=0)
        if steps.type.dtype == "uint64":
            # of a uint64 and an int64, a number of rows would be a float64
            steps = steps.astype("int64")
    arguments = iter(step.arguments)
    # arguments: rows of sequences | rows of results, in the order of their taps | invariants
    sequences = [Sequence(row[:steps], next(arguments)) for row in rows]
    results = [
        _entry(result, [next(arguments) for _ in result.taps], output, steps)
        for result, output in zip(_one_for_each(given, step), step.outputs, strict=True)
    ]
    changed = {
        shared: _entry(GivenResult(shared, (-1,)), [shared], value, steps)
        for shared, value in step.updates.items()
    }
    entries = [*results, *changed.values()]
    loop = Loop(
        n_steps=steps,
        sequences=tuple(sequences),
        states=tuple(entry for entry in entries if isinstance(entry, State)),
        traces=tuple(entry for entry in entries if isinstance(entry, Trace)),
        untraced=tuple(entry for entry in entries if isinstance(entry, Untraced)),
        invariants=tuple(Invariant(v, v) for v in _invariants(given, step, settings)),
        condition=step.condition,
        settings=settings,
    )
    return WrittenLoop(loop, results, changed)


def _one_for_each(given: Given, step: WrittenStep) -> AbstractSequence[GivenResult]:
    """Return what is given for each result; nothing is for any where all are kept and none is read."""
    return given.results or [GivenResult(None, ())] * len(step.outputs)


def _entry(
    given: GivenResult, reads: list[Variable], output: Variable, steps: TensorVariable
) -> Entry:
    if given.kind == TRACE:
        return Trace(steps, output)
    assert given.initial is not None
    if given.kind == UNTRACED:
        return Untraced(given.initial, reads[0], output)
    first = (
        pt.shape_padleft(given.initial)
        if given.kind == SIT_SOT
        else known_tensor(given.initial)[: given.span]
    )
    places = zip(given.taps, reads, strict=True)
    return State(
        outer=first,
        reads=tuple(Tap(given.span + tap, inner) for tap, inner in places),
        writes=(Tap(given.span, output),),
        kind=given.kind,
    )


def _invariants(given: Given, step: WrittenStep, settings: LoopSettings) -> list[Variable]:
    """Return what is the same in every step: shared variables, then what was given, then what was not."""
    shared = [s for s in step.shared if s not in step.updates]
    missing = [s for s in shared if s not in given.invariants]
    if settings.strict and missing:
        raise MissingInputError(
            f"{loop_name(settings.name)}: with strict=True, what the step reads of shared variables"
            f" must be in non_sequences, and {', '.join(map(str, missing))} is not"
        )
    others = [v for v in given.invariants if not isinstance(v, Constant | SharedVariable)]
    return list(dict.fromkeys([*shared, *others, *step.read_from_outside]))


def _known_steps(given: Given, n_steps: object) -> int | None:
    """Return the number of steps, where it or the lengths of all sequences are known."""
    if n_steps is not None:
        return constant_steps(n_steps)
    counts = [
        s.array.type.shape[0] and s.array.type.shape[0] - s.start(tap) + (s.end(tap) or 0)
        for s in given.sequences
        for tap in s.taps
    ]
    return None if None in counts else max(min(counts), 0)


def _in_memory(
    state: State, first: TensorVariable, steps: TensorVariable, known: int | None
) -> State:
    """Return a state that begins in memory with room for all steps, after the first rows."""
    loose = first_rows(first, state)
    static = first.type.shape[0]
    rows = None if known is None or static is None else static + known
    kind = TensorType(loose.type.dtype, shape=(rows, *loose.type.shape[1:]))
    return replace(state, outer=memory_from(loose, steps, kind))


def _rows(built: BuiltLoop, entry: Entry) -> Variable:
    """Return what the steps of a loop wrote of a state or a trace; the value of what has no rows."""
    return built.rows(entry)[entry.span :] if isinstance(entry, State) else built.outputs[entry]


def _last(built: BuiltLoop, entry: Entry) -> Variable:
    """Return the last value of a state; of a loop without steps, the one that it began with."""
    return built.outputs[entry] if isinstance(entry, Untraced) else built.rows(entry)[-1]


def _same_step(loop: Loop, other: Loop) -> bool:
    """Return whether two loops read and compute the same variables in each step."""
    ours, others = [[*one.inner_inputs, *one.inner_outputs] for one in (loop, other)]
    return all(one is another for one, another in zip(ours, others, strict=True))
