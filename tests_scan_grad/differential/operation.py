"""An operation of a step, and what all operations have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tests_scan_grad.differential import dual
from tests_scan_grad.differential.dual import Dual
from tests_scan_grad.differential.programs import SHAPES, Value

KIND_OF_SHAPE = {shape: kind for kind, shape in SHAPES.items()}


Typing = Callable[..., Value | None]


@dataclass
class Trace:
    """A record of what happens while a program runs.

    Attributes
    ----------
    margin
        The least distance of a floating value from where a branch would be taken otherwise.
    magnitude
        The greatest absolute value of a result or of a derivative of one.
    """

    margin: float = np.inf
    magnitude: float = 1.0

    def branch(self, distances: np.ndarray) -> None:
        """Note distances from the places where a function has no derivative."""
        if distances.size:
            self.margin = min(self.margin, float(np.abs(distances).min()))

    def result(self, x: Dual) -> None:
        """Note how great a result is."""
        for part in x.parts:
            if x.is_floating and part.size:
                self.magnitude = max(self.magnitude, float(np.abs(part).max()))


@dataclass(frozen=True)
class Operation:
    """One operation; ``weight`` is how often it is drawn."""

    arity: int
    typed: Typing
    build: Callable
    run: Callable[..., Dual] = field(repr=False)
    weight: float = 1.0


def promoted(*values: Value) -> str:
    """The dtype of a sum of values."""
    return str(np.result_type(*(value.dtype for value in values)))


def broadcast(*values: Value) -> str | None:
    """The kind that values of several kinds are stretched to."""
    try:
        shape = np.broadcast_shapes(*(value.shape for value in values))
    except ValueError:
        return None
    return KIND_OF_SHAPE.get(shape)


def elementwise(*values: Value) -> Value | None:
    kind = broadcast(*values)
    return None if kind is None else Value(kind, promoted(*values))


def floats(*values: Value) -> Value | None:
    return elementwise(*values) if all(v.is_floating for v in values) else None


def of_kinds(*kinds: str, result: str, floating: bool = False) -> Typing:
    def typed(*values: Value) -> Value | None:
        if tuple(v.kind for v in values) != kinds:
            return None
        if floating and not all(v.is_floating for v in values):
            return None
        return Value(result, promoted(*values))

    return typed


def plain(f: Callable[..., Dual]) -> Callable:
    """An operation that has nothing to note."""
    return lambda trace, *operands: f(*operands)


def reading(f: Callable[[np.ndarray], np.ndarray]) -> Callable:
    return lambda trace, x: dual.linear(f, x)
