"""Programs as graphs: the step, the loop in one of two ways, what is read, derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.random_steps.programs import Program, Taps
from tests_scan_grad.random_steps.values import Value
from tests_scan_grad.random_steps.ways import Scanned, Unrolled, Way

# of what a state's next value is made of
BOUND = 2.0


@dataclass(frozen=True)
class Built:
    """A program as a graph.

    Attributes
    ----------
    inputs
        By name.
    values
        Arrays for the inputs.
    outputs, reads
        What the loop returns, and what is read of it.
    cost
        Of the floating reads; None without any.
    """

    inputs: dict[str, Any]
    values: dict[str, np.ndarray]
    outputs: list
    reads: list
    cost: Any


class Builder:
    """The graph of a program.

    Parameters
    ----------
    program
        What is built.
    steps
        After how many it is written out; None for a loop by scan.
    """

    def __init__(self, program: Program, steps: int | None = None):
        self.program, self._steps = program, steps
        self.way: Way = Scanned() if steps is None else Unrolled()
        self._numbers = np.random.default_rng(program.seed)
        self._inputs: dict[str, Any] = {}
        self._values: dict[str, np.ndarray] = {}
        # for each step, whether the loop ends after it
        self.stops: list = []

    def build(self) -> Built:
        program = self.program
        sequences = [self._input(one.value, _rows(one, program.steps)) for one in program.sequences]
        initial = [
            self._input(one.value, () if one.taps == (-1,) else (-min(one.taps),))
            for one in program.states
        ]
        invariants = [self._input(value, ()) for value in program.invariants]
        loop = self._scanned if self._steps is None else self._unrolled
        outputs = loop(sequences, initial, invariants)
        reads = [
            _read(output, how)
            for output, ways in zip(outputs, program.reads, strict=True)
            for how in ways
            if how != "none"
        ]
        floating = [T.cast(r, "float64") for r in reads if r.dtype.startswith("float")]
        cost = sum(T.sum(0.7 * T.sin(1.3 * r + 0.2)) for r in floating) if floating else None
        return Built(self._inputs, self._values, outputs, reads, cost)

    def _input(self, value: Value, leading: tuple[int, ...]) -> Any:
        shape, known = leading + value.shape, self.program.lengths_known
        lengths: list[int | None] = [*shape] if known else [None] * len(shape)
        if known is None:
            lengths = [1 if n == 1 and k >= len(leading) else None for k, n in enumerate(shape)]
        variable = T.TensorType(value.dtype, shape=tuple(lengths))(value.name)
        self._inputs[value.name] = variable
        if value.is_floating:
            array = self._numbers.uniform(-1.2, 1.2, shape)
        elif value.dtype == "bool":
            array = self._numbers.integers(0, 2, shape)
        else:
            array = self._numbers.integers(0 if value.dtype.startswith("u") else -4, 6, shape)
        self._values[value.name] = np.asarray(array, value.dtype)
        return variable

    def step(self, read: dict[str, Any]) -> tuple[list, list, Any]:
        """The next values of the states, what is returned besides, and whether the loop ends."""
        known = dict(read)
        for one in self.program.instructions:
            operands = [known[value.name] for value in one.applied.operands]
            ways = (self.way,) if one.applied.has_loops else ()
            known[one.result.name] = one.applied.build(*ways, *operands)
        following = [
            _next(
                state, known[new.source.name], known[state.read(max(state.taps)).name], new.update
            )
            for state, new in zip(self.program.states, self.program.following, strict=True)
        ]
        others = [known[value.name] for value in self.program.traces]
        sizes = [T.sum(abs(T.cast(value, "float64"))) for value in following]
        return following, others, T.gt(sum(sizes), BOUND) if self.program.until else None

    def _scanned(self, sequences: Sequence, initial: Sequence, invariants: Sequence) -> list:
        program = self.program
        names = [
            one.read(tap).name for one in (*program.sequences, *program.states) for tap in one.taps
        ]
        own = [value.name for value in program.invariants]

        def step(*arguments):
            read = dict(zip([*names, *own], arguments, strict=False))
            if program.captured:
                read |= dict(zip(own, invariants, strict=True))
            following, others, stops = self.step(read)
            values = [*following, *others]
            return values if stops is None else (values, theano.scan_module.until(stops))

        begins: list = [
            begin if one.taps == (-1,) else {"initial": begin, "taps": list(one.taps)}
            for one, begin in zip(program.states, initial, strict=True)
        ]
        outputs, _ = theano.scan(
            step,
            sequences=[
                {"input": variable, "taps": list(one.taps)}
                for one, variable in zip(program.sequences, sequences, strict=True)
            ],
            outputs_info=[*begins, *[None] * len(program.traces)],
            non_sequences=[] if program.captured else list(invariants),
            n_steps=program.steps if program.counted else None,
            go_backwards=program.go_backwards,
        )
        return outputs if isinstance(outputs, list) else [outputs]

    def _unrolled(self, sequences: Sequence, initial: Sequence, invariants: Sequence) -> list:
        program = self.program
        assert self._steps is not None
        histories: list[list] = [
            [begin] if one.taps == (-1,) else [begin[k] for k in range(-min(one.taps))]
            for one, begin in zip(program.states, initial, strict=True)
        ]
        results: list[list] = [[] for _ in program.reads]
        for k in range(self._steps):
            at = program.steps - 1 - k if program.go_backwards else k
            read = {v.name: w for v, w in zip(program.invariants, invariants, strict=True)}
            for one, variable in zip(program.sequences, sequences, strict=True):
                first = min(*one.taps, 0)
                read |= {one.read(tap).name: variable[at - first + tap] for tap in one.taps}
            for one, history in zip(program.states, histories, strict=True):
                read |= {one.read(tap).name: history[len(history) + tap] for tap in one.taps}
            following, others, stops = self.step(read)
            self.stops += [] if stops is None else [stops]
            for history, value in zip(histories, following, strict=True):
                history.append(value)
            for result, value in zip(results, (*following, *others), strict=True):
                result.append(value)
        return [T.stack(result) for result in results]


def _rows(sequence: Taps, steps: int) -> tuple[int]:
    return (steps + max(*sequence.taps, 0) - min(*sequence.taps, 0),)


def _next(state: Taps, value: Any, before: Any, update: str) -> Any:
    """A value in the dtype of a state, kept small."""
    dtype = state.value.dtype
    if state.value.is_floating:
        value = T.cast(value, dtype)
        half, quarter = np.asarray(0.5, dtype), np.asarray(0.25, dtype)
        return {
            "squashed": lambda: T.tanh(value),
            "mean": lambda: value * half + before * quarter,
            "accumulated": lambda: T.tanh(value) + before,
            "plain": lambda: value,
        }[update]()
    if dtype == "bool":
        return value if value.dtype == "bool" else T.gt(value, 0)
    if value.dtype.startswith("float"):
        value = T.clip(T.round(3 * value), 0, 100)
    value = T.cast(value, dtype)
    return T.cast(value + before, dtype) if update == "accumulated" else value


def _read(output: Any, how: str) -> Any:
    if how == "sum":
        return output[0] if output.dtype == "bool" else output.sum(axis=0)
    picked: dict[str, Any] = {
        "all": slice(None),
        "last": -1,
        "rest": slice(1, None),
        "reversed": slice(None, None, -1),
        "first": 0,
        "strided": slice(None, None, 2),
    }
    return output[picked[how]]


def derivatives(built: Built, way: Way, order: int, seed: int) -> list:
    """The cost, its gradient, its derivative along a direction, and, if asked for, second ones."""
    wrt = [v for v in built.inputs.values() if v.dtype.startswith("float")]
    if not wrt or built.cost is None:
        return []
    gradients = theano.grad(built.cost, wrt, disconnected_inputs="ignore")
    numbers = np.random.default_rng((seed, 1))
    along = [
        T.constant(numbers.uniform(-1, 1, built.values[v.name].shape).astype(v.dtype)) for v in wrt
    ]
    found = [built.cost, *gradients, way.tangent(built.cost, wrt, gradients, along)]
    if order == 2:
        slope = sum(T.sum(T.sin(T.cast(gradient, "float64"))) for gradient in gradients)
        found += theano.grad(slope, wrt, disconnected_inputs="ignore")
    return found
