"""A program: inputs, pieces, what is put out, what is updated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytensor.tensor as pt

import theano
import theano.tensor as T
from tests_scan_grad.around_loops.loops import Loop, NotComparable
from tests_scan_grad.around_loops.pieces import Piece


@dataclass(frozen=True)
class Input:
    """An array that a program reads: its shape, in which "n" is the length of a call."""

    shape: tuple[int | str, ...]
    shared: bool = False
    mutable: bool = False

    def lengths(self, n: int) -> tuple[int, ...]:
        """The shape in a call."""
        return tuple(n if length == "n" else int(length) for length in self.shape)


@dataclass(frozen=True)
class Program:
    """Inputs are the first values; those of each piece follow.

    Attributes
    ----------
    results
        The values that are put out, each with whether it may be borrowed.
    read
        The values that the cost reads.
    updates
        Position of a shared input -> that of its new value.
    calls
        The lengths of the calls.
    """

    seed: int
    dtype: str
    inputs: tuple[Input, ...]
    pieces: tuple[Piece, ...]
    results: tuple[tuple[int, bool], ...]
    read: tuple[int, ...]
    updates: dict[int, int]
    calls: tuple[int, ...]

    @property
    def truncated(self) -> bool:
        """Return whether a loop truncates the gradient, which then is not that of the cost."""
        return any(loop.truncate != -1 for loop in self.loops)

    @property
    def loops(self) -> list[Loop]:
        """The loops among the pieces."""
        return [piece for piece in self.pieces if isinstance(piece, Loop)]

    def has_loops_without_steps(self) -> bool:
        """Return whether a loop runs no steps in one of the calls."""
        for call in range(len(self.calls)):
            values = self.compute(self.numbers(call))
            position = len(self.inputs)
            for piece in self.pieces:
                if isinstance(piece, Loop) and not len(values[position]):
                    return True
                position += _count(piece)
        return False

    def numbers(self, call: int) -> list[np.ndarray]:
        """Values of all inputs in a call; the shared ones have those of the first."""
        generator = np.random.default_rng((self.seed, call))
        first = np.random.default_rng((self.seed, 0))
        return [
            0.7 * (first if i.shared else generator).normal(size=i.lengths(self.calls[call]))
            for i in self.inputs
        ]

    def compute(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """All values, in unrolled NumPy.

        NotComparable where a loop that stops early makes arrays of lengths that do not fit.
        """
        values = list(arrays)
        for piece in self.pieces:
            try:
                values += piece.compute([values[k] for k in piece.operands])
            except (ValueError, IndexError) as error:
                raise NotComparable(str(error)) from error
        return values

    def cost(self, values: list[np.ndarray]) -> float:
        """Return the cost that is differentiated."""
        return float(sum((np.sin(values[k]) * values[k]).sum() for k in self.read))

    def described(self) -> str:
        """Everything, a line each."""
        lines = [f"seed {self.seed}, {self.dtype}, calls {self.calls}"]
        position = 0
        for entry in self.inputs:
            lines.append(f"v{position} = {entry}")
            position += 1
        for piece in self.pieces:
            lines.append(f"v{position}... = {piece}")
            position += _count(piece)
        results = f"results {self.results}, cost of {self.read}, updates {self.updates}"
        return "\n".join([*lines, results])


def _count(piece: Piece) -> int:
    if isinstance(piece, Loop):
        return len(piece.states) + len(piece.traces)
    return 2 if type(piece).__name__ == "Split" else 1


class Compiled:
    """A function of a program: its results, and the gradients by all of its inputs."""

    def __init__(self, program: Program, scan: Callable, mode: Any, gradients: bool = True):
        self.program = program
        variables = [_variable(program, entry, k) for k, entry in enumerate(program.inputs)]
        values: list[Any] = list(variables)
        for piece in program.pieces:
            values += piece.build([values[k] for k in piece.operands], scan, mode)
        terms = [(T.sin(values[k]) * values[k]).sum() for k in program.read]
        cost = sum(terms[1:], terms[0])
        wanted = theano.grad(cost, variables, disconnected_inputs="ignore") if gradients else []
        self.shared = [k for k, entry in enumerate(program.inputs) if entry.shared]
        self.variables = variables
        self.function = theano.function(
            [
                theano.In(variables[k], mutable=entry.mutable, borrow=entry.mutable)
                for k, entry in enumerate(program.inputs)
                if not entry.shared
            ],
            [*(theano.Out(values[k], borrow=borrow) for k, borrow in program.results), *wanted],
            updates=[(variables[k], values[v]) for k, v in program.updates.items()],
            mode=mode,
            on_unused_input="ignore",
        )

    def __call__(self, arrays: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Results and gradients; what is given is copied."""
        given = [
            np.array(array, self.program.dtype)
            for array, entry in zip(arrays, self.program.inputs, strict=True)
            if not entry.shared
        ]
        found = self.function(*given)
        count = len(self.program.results)
        return found[:count], found[count:]

    def set_shared(self, arrays: list[np.ndarray]) -> None:
        """Give the shared variables their values of a call."""
        for k in self.shared:
            self.variables[k].set_value(np.array(arrays[k], self.program.dtype))

    def shared_values(self) -> dict[int, np.ndarray]:
        """The values of the shared variables, by position."""
        return {k: self.variables[k].get_value() for k in self.shared}


def _variable(program: Program, entry: Input, position: int) -> Any:
    if entry.shared:
        value = np.zeros(entry.lengths(0), program.dtype)
        return theano.shared(value, name=f"v{position}")
    return pt.tensor(f"v{position}", dtype=program.dtype, shape=(None,) * len(entry.shape))
