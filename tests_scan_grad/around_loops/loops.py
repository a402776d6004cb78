"""Loops of a program, step by step in NumPy and as ``scan``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pytensor.scan.utils import until

import theano.tensor as T
from tests_scan_grad.around_loops.pieces import Piece


class NotComparable(Exception):
    """A program that is not run in a call: rounding would decide when a loop stops, for one."""


@dataclass(frozen=True)
class Formula:
    """A value of a step: what is computed of which values before it."""

    work: str
    operands: tuple[int, int]


@dataclass(frozen=True)
class State:
    """A value that steps read at taps; its start has one row, or one for each step back."""

    taps: tuple[int, ...]
    formula: Formula


@dataclass(frozen=True)
class Loop(Piece):
    """A loop. Its operands: sequences, starts, invariants, weights if any, and what tells the steps.

    Attributes
    ----------
    sequences
        The taps of each.
    states, traces
        What each step puts out; traces are read by no step.
    invariants
        How many arrays of a row's shape all steps read.
    weights
        Whether a square matrix is read, too.
    n_steps
        "sequences", a number, or "length of the last operand".
    until
        The sum of the squares of the first state beyond which the loop stops.
    truncate
        The steps that the gradient goes back, or -1.
    """

    sequences: tuple[tuple[int, ...], ...]
    states: tuple[State, ...]
    traces: tuple[Formula, ...]
    invariants: int
    weights: bool
    n_steps: str | int
    backwards: bool
    until: float | None
    truncate: int

    @property
    def work(self) -> set[str]:
        """Return the kinds of work done in its steps."""
        formulas = (*(state.formula for state in self.states), *self.traces)
        return {formula.work for formula in formulas}

    def compute(self, arrays):
        sequences, starts, invariants, weights = self._parts(arrays)
        steps = self._steps(arrays, sequences)
        past = [
            [start] if state.taps == (-1,) else list(start[: -min(state.taps)])
            for start, state in zip(starts, self.states, strict=True)
        ]
        known = [len(rows) for rows in past]
        outputs: list[list[np.ndarray]] = [[] for _ in (*self.states, *self.traces)]
        for t in range(steps):
            read = [
                array[self._place(len(array), t, tap, taps)]
                for array, taps in zip(sequences, self.sequences, strict=True)
                for tap in taps
            ]
            for state, rows, count in zip(self.states, past, known, strict=True):
                read += [rows[count + t + tap] for tap in state.taps]
            values = self._values(np, _unrolled, [*read, *invariants], weights)
            for rows, value in zip(past, values, strict=False):
                rows.append(value)
            for rows, value in zip(outputs, values, strict=True):
                rows.append(value)
            if self.until is not None:
                size = float((values[0] ** 2).sum())
                if abs(size - self.until) < 1e-3:
                    raise NotComparable("rounding would decide when a loop stops")
                if size > self.until:
                    break
        if steps:
            return [np.stack(rows) for rows in outputs]
        return [np.zeros((0, *shape)) for shape in self._row_shapes(sequences, starts, invariants)]

    def build(self, variables, scan, mode):
        sequences, starts, invariants, weights = self._parts(variables)

        def step(*read):
            matrix = read[-1] if self.weights else None
            rows = list(read[:-1]) if self.weights else list(read)
            iterate = _iterated_by(scan, mode)
            values = self._values(T, iterate, rows, matrix)
            if self.until is None:
                return values
            return values, until((values[0] ** 2).sum() > self.until)

        n_steps: Any = None if self.n_steps == "sequences" else self.n_steps
        if isinstance(n_steps, str):
            n_steps = variables[-1].shape[0]
        outputs, _ = scan(
            step,
            sequences=[
                variable if taps == (0,) else {"input": variable, "taps": list(taps)}
                for variable, taps in zip(sequences, self.sequences, strict=True)
            ],
            outputs_info=[
                start
                if state.taps == (-1,)
                else {"initial": start[: -min(state.taps)], "taps": list(state.taps)}
                for start, state in zip(starts, self.states, strict=True)
            ]
            + [None] * len(self.traces),
            non_sequences=[*invariants, *([] if weights is None else [weights])],
            n_steps=n_steps,
            go_backwards=self.backwards,
            truncate_gradient=self.truncate,
            mode=mode,
        )
        return outputs if isinstance(outputs, list) else [outputs]

    def _parts(self, operands: list) -> tuple[list, list, list, Any]:
        first = len(self.sequences)
        second = first + len(self.states)
        third = second + self.invariants
        weights = operands[third] if self.weights else None
        return operands[:first], operands[first:second], operands[second:third], weights

    def _steps(self, arrays: list, sequences: list) -> int:
        if isinstance(self.n_steps, int):
            return self.n_steps
        if self.n_steps != "sequences":
            return len(arrays[-1])
        return min(
            len(array) - (max(0, *taps) - min(0, *taps))
            for array, taps in zip(sequences, self.sequences, strict=True)
        )

    def _place(self, length: int, t: int, tap: int, taps: tuple[int, ...]) -> int:
        """The row of a sequence that a step reads at a tap."""
        first, last = min(0, *taps), max(0, *taps)
        return length - 1 - t - (last - tap) if self.backwards else t + tap - first

    def _values(self, m: Any, iterate: Callable, read: list, weights: Any) -> list:
        """The states' and traces' values of one step, by NumPy or as a graph."""
        values = list(read)
        for formula in (*(state.formula for state in self.states), *self.traces):
            a, b = (values[k] for k in formula.operands)
            values.append(WORK[formula.work](m, iterate, a, b, weights))
        return values[len(read) :]

    def _row_shapes(self, sequences: list, starts: list, invariants: list) -> list[tuple]:
        rows = [
            np.ones(array.shape[1:])
            for array, taps in zip(sequences, self.sequences, strict=True)
            for _ in taps
        ]
        for start, state in zip(starts, self.states, strict=True):
            rows += [start if state.taps == (-1,) else np.ones(start.shape[1:])] * len(state.taps)
        k = rows[0].shape[-1] if rows[0].ndim else 1
        values = self._values(np, _unrolled, [*rows, *invariants], np.ones((k, k)))
        return [value.shape for value in values]


def _unrolled(step: Callable, start: Any, count: int) -> tuple[Any, Any]:
    """The states and values of a loop inside a step."""
    states, values = [], []
    for _ in range(count):
        start, value = step(start)
        states.append(start)
        values.append(value)
    return np.stack(states), np.stack(values)


def _iterated_by(scan: Callable, mode: Any) -> Callable:
    def iterate(step: Callable, start: Any, count: int) -> tuple[Any, Any]:
        outputs, _ = scan(step, outputs_info=[start, None], n_steps=count, mode=mode)
        return outputs

    return iterate


def _nested(m: Any, iterate: Callable, a: Any, b: Any, weights: Any) -> Any:
    """Join the outputs of a loop inside the step, and add parts of the result."""
    states, values = iterate(lambda h: (m.tanh(h + b) * 0.75, m.sin(h) * b), a, 3)
    axis = states.ndim - 1
    joined = m.concatenate([states, values], axis=axis)
    if not axis:
        return joined[::2].sum()
    return joined[1][..., ::2] * 0.5 + joined[2][..., a.shape[-1] :]


# what a step computes of two of its values; all but "joined" and "sum" have the shape of a row
WORK: dict[str, Callable[[Any, Callable, Any, Any, Any], Any]] = {
    "tanh": lambda m, iterate, a, b, w: m.tanh(a + b),
    "mix": lambda m, iterate, a, b, w: a * 0.5 + b * 0.5,
    "gate": lambda m, iterate, a, b, w: m.sin(a) * b,
    "same": lambda m, iterate, a, b, w: a,
    "product": lambda m, iterate, a, b, w: m.tanh(a.dot(w) + b),
    "nested": _nested,
    "joined": lambda m, iterate, a, b, w: m.concatenate([a, b], axis=a.ndim - 1),
    "sum": lambda m, iterate, a, b, w: (a * b).sum(axis=a.ndim - 1),
}
