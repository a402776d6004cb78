"""Values of a step, and rules that draw an operation on them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """An array in a step: its name there, its shape and its dtype."""

    name: str
    shape: Shape
    dtype: str

    @property
    def is_floating(self) -> bool:
        return self.dtype.startswith("float")

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}{list(self.shape)}"


@dataclass(frozen=True)
class Applied:
    """An operation on values; if it has loops, ``build`` takes first how they are built."""

    operands: tuple[Value, ...]
    shape: Shape
    build: Callable[..., Any]
    has_loops: bool = False


class Chooser:
    """The choices among the values that a step has so far.

    Parameters
    ----------
    choose
        Where chance comes from.
    values
        The values, the newest last; more may be appended.
    """

    def __init__(self, choose: random.Random, values: list[Value]):
        self.random, self.values = choose, values

    def value(self, fits: Callable[[Value], bool]) -> Value | None:
        """One of the values that fit, rather a new one."""
        fitting = [value for value in self.values if fits(value)]
        if not fitting:
            return None
        return self.random.choice(fitting[-4:] if self.random.random() < 0.5 else fitting)

    def pair(
        self, first: Callable[[Value], bool], second: Callable[[Value, Value], bool]
    ) -> tuple[Value, Value] | None:
        """Two values, of which the second fits the first."""
        one = self.value(first)
        other = None if one is None else self.value(lambda value: second(one, value))
        return None if one is None or other is None else (one, other)

    def one(self, choices: Sequence[Any]) -> Any:
        return self.random.choice(choices)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability


@dataclass(frozen=True)
class Rule:
    """Draws an operation, or None where no values fit; ``weight`` is how often it is tried."""

    name: str
    draw: Callable[[Chooser], Applied | None]
    weight: float = 1.0


def floating(value: Value) -> bool:
    return value.is_floating


def whole(value: Value) -> bool:
    """Return whether a value holds integers or booleans."""
    return not value.is_floating


def counted(value: Value) -> bool:
    """Return whether a value holds integers that may be indices."""
    return whole(value) and value.dtype != "bool"


def array(value: Value) -> bool:
    return value.is_floating and bool(value.shape) and 0 not in value.shape


def matrix(value: Value) -> bool:
    return array(value) and len(value.shape) == 2


def vector(value: Value) -> bool:
    return array(value) and len(value.shape) == 1


def alike(one: Value, other: Value) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype


def of_row(one: Value, other: Value) -> bool:
    """Return whether the other value has the shape and dtype of a row of the first."""
    return other.shape == one.shape[1:] and other.dtype == one.dtype


def shape_of(f: Callable[..., np.ndarray], *operands: Value) -> Shape:
    """The shape of what NumPy makes of arrays of these shapes."""
    return f(*(np.zeros(value.shape) for value in operands)).shape
