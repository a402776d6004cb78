"""Call functions that share variables, and look at all that they may have changed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

import theano
from tests_scan_grad.shared_memory.programs import Compiled, Compiler, Value, computed, draw
from tests_scan_grad.shared_memory.rules import SHAPES

CALLS = 6


@dataclass(frozen=True)
class Kept:
    """A result that the caller has, as it was when it came."""

    array: np.ndarray
    before: np.ndarray
    what: str


class Caller:
    """The calls of one program.

    Parameters
    ----------
    seed
        Decides everything.
    mode
        Of `theano.function`.
    """

    def __init__(self, seed: int, mode: Any):
        self.choose, self._numbers = random.Random(seed), np.random.default_rng(seed)
        self.program = draw(self.choose)
        self.values = {value: self._array(value.kind) for value in self.program.shared}
        self.shared = {
            value: theano.shared(array.copy(), name=value.name, borrow=self._half())
            for value, array in self.values.items()
        }
        compiler = Compiler(self.shared, mode)
        self._functions: list[Compiled] = []
        for described in self.program.functions:
            states = {entry.value: self._array(entry.value.kind) for entry in described.inputs}
            self._functions += compiler.compiled(described, states)
        self._kept: list[Kept] = []

    def wrong(self) -> str | None:
        """The first thing that is not as NumPy has it, or None."""
        for call in range(CALLS):
            found = self._call(self.choose.choice(self._functions))
            if found is not None:
                return f"call {call}: {found}, in\n{self.program}"
        return None

    def _half(self) -> bool:
        return self.choose.random() < 0.5

    def _array(self, kind: str) -> np.ndarray:
        array = np.asarray(self._numbers.uniform(-1.2, 1.2, SHAPES[kind]))
        if array.ndim and self.choose.random() < 0.3:
            return np.ascontiguousarray(array[::-1])[::-1]
        return np.array(array, order=self.choose.choice("CF"))

    def _call(self, compiled: Compiled) -> str | None:
        if self.choose.random() < 0.2:
            value = self.choose.choice(self.program.shared)
            self.values[value] = self._array(value.kind)
            self.shared[value].set_value(self.values[value].copy(), borrow=self._half())
        known, arguments, borrowed = self._arguments(compiled)
        described = compiled.described
        before = {value: array.copy() for value, array in arguments.items()}
        expected = [computed(value, known).copy() for value, _ in described.outputs]
        states = {
            entry.value: computed(entry.following, known).copy()
            for entry in described.inputs
            if entry.following is not None
        }
        updated = {value: computed(new, known).copy() for value, new in described.updates}
        results = compiled.function(*arguments.values())
        self.values.update(updated)
        compiled.states.update(states)
        return (
            self._different(results, expected)
            or self._spoiled(compiled, arguments, before, borrowed)
            or self._not_the_callers(compiled, results, arguments, borrowed)
        )

    def _arguments(self, compiled: Compiled):
        """Return all inputs' values, the arrays to pass, and the inputs in a variable's memory."""
        known, borrowed = dict(self.values), set()
        arguments: dict[Value, np.ndarray] = {}
        for entry in compiled.described.inputs:
            value = entry.value
            if entry.how == "state":
                known[value] = compiled.states[value]
                continue
            array = self._array(value.kind)
            same = [other for other in arguments.values() if other.shape == array.shape]
            own = [shared for shared in self.shared if shared.kind == value.kind]
            if entry.how == "plain" and same and self.choose.random() < 0.25:
                array = self.choose.choice(same)
            elif entry.how == "plain" and own and self.choose.random() < 0.15:
                array = self.shared[self.choose.choice(own)].get_value(borrow=True)
                borrowed.add(value)
            arguments[value], known[value] = array, np.array(array)
        return known, arguments, borrowed

    def _different(self, results: list, expected: list[np.ndarray]) -> str | None:
        pairs = [(f"output {k}", *pair) for k, pair in enumerate(zip(results, expected))]  # noqa: B905
        pairs += [
            (shared.name, shared.get_value(), self.values[v]) for v, shared in self.shared.items()
        ]
        for what, found, right in pairs:
            same = found.shape == right.shape
            if not same or not np.allclose(found, right, rtol=1e-10, atol=1e-10):
                return f"{what} is {found}, expected {right}"
        return None

    def _spoiled(self, compiled, arguments, before, borrowed) -> str | None:
        """Return what has changed and should not have, or None."""
        for entry in compiled.described.inputs:
            value = entry.value
            if entry.how not in ("plain", "borrow") or value in borrowed:
                continue
            # another argument may be the same array, and may be overwritten
            if any(arguments[value] is arguments[other] for other in borrowed):
                continue
            if not np.array_equal(arguments[value], before[value]):
                return f"the argument {value} has changed"
        for kept in self._kept:
            if not np.array_equal(kept.array, kept.before):
                return f"{kept.what} of an earlier call has changed"
        return None

    def _not_the_callers(self, compiled, results, arguments, borrowed) -> str | None:
        """A result in memory of something else; the others are kept, and some overwritten."""
        others: list[tuple[str, np.ndarray]] = [
            (shared.name, shared.get_value(borrow=True)) for shared in self.shared.values()
        ]
        for entry in compiled.described.inputs:
            if entry.how == "plain" and entry.value not in borrowed:
                others.append((entry.value.name, arguments[entry.value]))
        for k, (array, (_, borrows)) in enumerate(
            zip(results, compiled.described.outputs, strict=True)
        ):
            if borrows:
                continue
            if not array.flags.writeable:
                return f"output {k} cannot be written"
            for name, other in others:
                if np.shares_memory(array, other):
                    return f"output {k} shares memory with {name}"
            others.append((f"output {k}", array))
            if self._half():
                array[...] = 7
            self._kept.append(Kept(array, array.copy(), f"output {k}"))
        return None


def wrong(seed: int, mode: Any) -> str | None:
    """Return what is wrong with the functions of a seed, or None."""
    return Caller(seed, mode).wrong()
