"""Inputs from which recipes make graphs, with values of drawn dtypes, lengths and contents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType

from tests_scan_grad.rewrites.check import Made

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
COMPLEX = ("complex64", "complex128")
REAL = (*FLOATS[1:], *INTEGERS, "bool")
ANY = (*FLOATS, *INTEGERS, "bool", *COMPLEX)
LENGTHS = (0, 1, 2, 3, 4)


class Maker:
    """Draws the inputs of one graph.

    Parameters
    ----------
    seed
        Of what is drawn.
    """

    def __init__(self, seed: Any):
        self.rng = np.random.default_rng(seed)
        self.values: dict[Variable, Any] = {}

    def one_of(self, *choices: Any) -> Any:
        """One of some choices."""
        return choices[self.rng.integers(len(choices))]

    def chance(self, probability: float = 0.5) -> bool:
        """True as often as this."""
        return bool(self.rng.random() < probability)

    def dtype(self, among: Sequence[str] = ANY) -> str:
        """A dtype; a float64 or int64 more often than the rest."""
        common = [d for d in ("float64", "int64") if d in among]
        return self.one_of(*common) if common and self.chance(0.4) else self.one_of(*among)

    def lengths(self, ndim: int, among: Sequence[int] = LENGTHS) -> tuple[int, ...]:
        """The lengths of an array."""
        return tuple(self.one_of(*among) for _ in range(ndim))

    def array(
        self,
        shape: Sequence[int] | int = 2,
        dtype: str | Sequence[str] = ("float64", "float32"),
        known: bool | Sequence[bool] | None = None,
        special: bool | None = None,
        among: Callable[[tuple[int, ...]], Any] | None = None,
    ) -> Any:
        """An input with a value.

        Parameters
        ----------
        shape
            Its lengths, or how many axes it has.
        known
            Whether its type gives the length, of each axis; drawn where not given.
        special
            Whether some numbers are nan, infinite, -0 or at the ends of the dtype's range.
        among
            What draws a float64 array of a shape, in place of numbers from -2 to 2.
        """
        if isinstance(shape, int):
            shape = self.lengths(shape)
        dtype = dtype if isinstance(dtype, str) else self.dtype(dtype)
        if known is None:
            known = [self.chance() for _ in shape]
        elif isinstance(known, bool):
            known = [known] * len(shape)
        told = [length if k else None for length, k in zip(shape, known, strict=True)]
        variable = TensorType(dtype, tuple(told))(f"x{len(self.values)}")
        special = self.chance(0.2) if special is None and among is None else bool(special)
        self.values[variable] = self.numbers(tuple(shape), dtype, special, among)
        return variable

    def numbers(self, shape, dtype, special=False, among=None) -> np.ndarray:
        """An array of a dtype."""
        kind = np.dtype(dtype).kind
        drawn = among(shape) if among else self.rng.uniform(-2, 2, shape)
        if kind == "b":
            return np.asarray(drawn > 0)
        if kind in "iu":
            low = 0 if kind == "u" else -4
            numbers = self.rng.integers(low, 5, shape) if among is None else np.asarray(drawn)
            ends = [np.iinfo(dtype).min, np.iinfo(dtype).max]
        else:
            numbers = np.asarray(drawn)
            if kind == "c":
                numbers = numbers + 1j * self.rng.uniform(-2, 2, shape)
            ends = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, float(np.finfo(dtype).max) / 4]
        result = np.array(numbers, dtype=dtype)
        if special and result.size:
            places = self.rng.random(result.shape) < 0.4
            result[places] = self.rng.choice(np.array(ends, dtype=dtype), places.sum())
        return result

    def scalar(self, dtype: str | Sequence[str] = ("float64", "float32"), **options: Any) -> Any:
        """An input without axes."""
        return self.array((), dtype, **options)

    def same(self, like: Any, dtype: str | Sequence[str] | None = None, **options: Any) -> Any:
        """Another input of the same lengths, which its type may tell or not."""
        return self.array(self.values[like].shape, dtype or like.type.dtype, **options)

    def beside(self, like: Any, dtype: str | Sequence[str] | None = None, **options: Any) -> Any:
        """Another input that can be added to one: of its lengths, or broadcast along some."""
        shape = [1 if self.chance(0.25) else n for n in self.values[like].shape]
        known = [n == 1 or self.chance() for n in shape]
        return self.array(shape, dtype or like.type.dtype, known, **options)

    def constant(self, like: Any) -> Any:
        """An input's value as a constant."""
        return pt.constant(self.values[like])

    def place(self, length: int, dtype: str | None = None, known: bool | None = None) -> Any:
        """A place along an axis: a number, or an input; sometimes out of range."""
        at = int(self.rng.integers(-length - 1, length + 1))
        known = self.chance(0.75) if known is None else known
        if known:
            return at
        dtype = dtype or self.one_of("int8", "int64", "int64", "uint8")
        return self.scalar(dtype, among=lambda shape: abs(at) if dtype[0] == "u" else at)

    def part(self, length: int, known: bool | None = None) -> slice:
        """A slice along an axis, of either direction, whose bounds may be out of range."""

        def bound() -> Any:
            return None if self.chance(0.4) else self.place(length + 1, known=known)

        return slice(bound(), bound(), self.one_of(None, None, 1, 2, -1, -1, -2, 5))

    def index(self, variable: Any, axes: int | None = None) -> tuple[Any, ...]:
        """An index into an array: places and slices."""
        shape = self.values[variable].shape if variable in self.values else ()
        count = int(self.rng.integers(1, len(shape) + 1)) if axes is None else axes
        return tuple(self.place(n) if self.chance(0.35) else self.part(n) for n in shape[:count])


@dataclass(frozen=True)
class Recipe:
    """A recipe by which graphs are made for some rewrites.

    Attributes
    ----------
    name
        Of the recipe, as text.
    family
        Of the rewrites.
    rewrites
        That its graphs are made for.
    make
        Gives the outputs of a graph.
    """

    name: str
    family: str
    rewrites: tuple[str, ...]
    make: Callable[[Maker], Any]

    def graph(self, seed: int) -> Made:
        """The graph that a seed gives, with values for its inputs."""
        maker = Maker([seed, *self.name.encode()])
        outputs = self.make(maker)
        outputs = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
        return Made(
            [pt.as_tensor(v) if not isinstance(v, Variable) else v for v in outputs], maker.values
        )


RECIPES: dict[str, Recipe] = {}


def recipe(family: str, *rewrites: str) -> Callable[[Callable[[Maker], Any]], Callable]:
    """Register a function as what makes graphs for some rewrites."""

    def register(make: Callable[[Maker], Any]) -> Callable[[Maker], Any]:
        name = make.__name__.replace("_", " ")
        assert name not in RECIPES, name
        RECIPES[name] = Recipe(name, family, rewrites, make)
        return make

    return register
