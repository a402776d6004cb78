"""Programs of loops, and arguments of which one has a wrong length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import theano
import theano.tensor as T

LENGTHS = {"t": 3, "n": 4, "m": 5, "k": 2}
FREE = "t"


@dataclass(frozen=True)
class Program:
    """A loop over the first argument.

    Attributes
    ----------
    step
        Of a row of the first argument and the others.
    arguments
        Name -> a letter for each axis; axes with a letter have one length.
    from_start
        Whether the second argument is where a state starts.
    """

    step: Callable[..., Any]
    arguments: dict[str, str]
    from_start: bool = False

    def inputs(self) -> dict[str, Any]:
        """Variables by name."""
        return {name: tensor(axes)(name) for name, axes in self.arguments.items()}

    def cost(self, inputs: dict[str, Any]) -> Any:
        """The sum of what the loop gives."""
        first, *others = inputs.values()
        starts = [others.pop(0)] if self.from_start else None
        values, _ = theano.scan(
            self.step, sequences=first, outputs_info=starts, non_sequences=others
        )
        return values.sum()

    def arrays(self) -> dict[str, np.ndarray]:
        """Arguments that fit."""
        return {name: ones(axes) for name, axes in self.arguments.items()}

    def mistakes(self) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """Yield each mistake, and arguments with one axis longer or shorter than it should be."""
        every = "".join(self.arguments.values())
        for name, axes in self.arguments.items():
            for axis, letter in enumerate(axes):
                if letter == FREE or every.count(letter) < 2:
                    continue
                for change in (1, -1):
                    wrong = list(map(LENGTHS.__getitem__, axes))
                    wrong[axis] += change
                    what = f"{name}[{axis}] = {wrong[axis]}"
                    yield what, self.arrays() | {name: np.ones(wrong, theano.config.floatX)}


def tensor(axes: str) -> Any:
    """The type of an array with these axes."""
    return T.TensorType(theano.config.floatX, (False,) * len(axes))


def ones(axes: str) -> np.ndarray:
    """An array with these axes."""
    return np.ones([LENGTHS[letter] for letter in axes], theano.config.floatX)


VECTORS = {"x": "tn", "a": "n", "b": "n"}

PROGRAMS = {
    "product": Program(lambda x, a, b: (x * a * b).sum(), VECTORS),
    "sum": Program(lambda x, a, b: x + a - b, VECTORS),
    "choice": Program(lambda x, a, b: T.switch(x > 0, a, b), VECTORS),
    "maximum": Program(lambda x, a, b: T.maximum(a, b) + x, VECTORS),
    "state": Program(lambda x, h, a: h * a + x, {"x": "tn", "h": "n", "a": "n"}, True),
    "running sum": Program(lambda x, h, a: h + x * a, {"x": "tn", "h": "n", "a": "n"}, True),
    "recurrent": Program(
        lambda x, h, w, b: T.tanh(T.dot(h, w) + x + b),
        {"x": "tn", "h": "n", "w": "nn", "b": "n"},
        True,
    ),
    "linear": Program(lambda x, w: T.dot(x, w), {"x": "tn", "w": "nm"}),
    "scaled product of matrices": Program(
        lambda x, w, b: T.dot(x, w) * b, {"x": "tkn", "w": "nm", "b": "m"}
    ),
    "inner product": Program(lambda x, a: T.dot(x, a), {"x": "tn", "a": "n"}),
    "columns": Program(lambda x, w: (x * w).sum(0), {"x": "tkn", "w": "kn"}),
    "join": Program(lambda x, o, b: T.join(1, x, o).sum(1) * b, {"x": "tnk", "o": "nm", "b": "n"}),
    "write": Program(lambda x, a, b: T.inc_subtensor(x[:], a) * b, VECTORS),
    "invariant product": Program(lambda x, a, w: x * T.dot(a, w), {"x": "tn", "a": "n", "w": "nn"}),
}
