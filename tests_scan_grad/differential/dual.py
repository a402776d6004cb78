"""Arrays with first and second derivatives, in long double: truncated Taylor series.

A floating array is a + b·e1 + c·e2 + d·e1·e2, where e1² = e2² = 0: b and c are its derivatives
along two directions, d the second derivative along both (Fike and Alonso, "The development of
hyper-dual numbers", 2011). Integers and booleans have no derivatives, and wrap as in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
LONG = np.longdouble


@dataclass(frozen=True, eq=False)
class Dual:
    """An array of a declared dtype.

    Attributes
    ----------
    dtype
        What it is in the program: its rounding is not imitated, its wrapping is.
    parts
        Of a floating array: value, two first derivatives, one second derivative, of one shape.
        Of another: the value.
    """

    dtype: np.dtype
    parts: tuple[Array, ...]

    @property
    def value(self) -> Array:
        return self.parts[0]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.parts[0].shape

    @property
    def is_floating(self) -> bool:
        return self.dtype.kind == "f"


def constant(value: Array, dtype: str | np.dtype) -> Dual:
    """An array without derivatives."""
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        return Dual(dtype, (np.asarray(value, dtype),))
    long = np.asarray(value, LONG)
    return Dual(dtype, (long, *(np.zeros(long.shape, LONG) for _ in range(3))))


def input_value(value: Array, first: Array | None, second: Array | None) -> Dual:
    """An input that moves along two directions."""
    made = constant(value, value.dtype)
    if not made.is_floating:
        return made
    still = np.zeros(made.shape, LONG)
    along = [still if d is None else np.asarray(d, LONG) for d in (first, second)]
    return Dual(made.dtype, (made.value, *along, still))


def cast(x: Dual, dtype: str | np.dtype) -> Dual:
    """The array in another dtype; what becomes an integer loses its derivatives."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f" and x.is_floating:
        return Dual(dtype, x.parts)
    return constant(x.value, dtype) if dtype.kind == "f" else Dual(dtype, (x.value.astype(dtype),))


def without_derivatives(x: Dual) -> Dual:
    """The value alone."""
    return constant(x.value, x.dtype)


def common(*arrays: Dual) -> list[Dual]:
    """The arrays in the dtype that NumPy gives to their sum."""
    dtype = np.result_type(*(x.dtype for x in arrays))
    return [cast(x, dtype) for x in arrays]


def linear(f: Callable[[Array], Array], x: Dual) -> Dual:
    """A linear function of the elements, such as a reshape, a read or a sum."""
    parts = tuple(np.asarray(f(part)) for part in x.parts)
    return Dual(parts[0].dtype if not x.is_floating else x.dtype, parts)


def unary(x: Dual, f: Array, slope: Array, curvature: Array) -> Dual:
    """A function of each element, given its value and derivatives at the elements."""
    _, b, c, d = x.parts
    return Dual(x.dtype, (f, slope * b, slope * c, curvature * b * c + slope * d))


def bilinear(f: Callable[[Array, Array], Array], x: Dual, y: Dual) -> Dual:
    """A function linear in each of two arrays, such as a product."""
    x, y = common(x, y)
    if not x.is_floating:
        return Dual(x.dtype, (np.asarray(f(x.value, y.value), x.dtype),))
    (a, b, c, d), (p, q, r, s) = x.parts, y.parts
    parts = (f(a, p), f(a, q) + f(b, p), f(a, r) + f(c, p), f(a, s) + f(b, r) + f(c, q) + f(d, p))
    return Dual(x.dtype, tuple(np.asarray(part) for part in parts))


def add(x: Dual, y: Dual) -> Dual:
    """The sum, wrapping in the common dtype."""
    x, y = common(x, y)
    return Dual(x.dtype, tuple(np.asarray(p + q) for p, q in zip(x.parts, y.parts, strict=True)))


def negative(x: Dual) -> Dual:
    """The negative, wrapping."""
    return Dual(x.dtype, tuple(np.asarray(-part) for part in x.parts))


def subtract(x: Dual, y: Dual) -> Dual:
    """The difference, wrapping in the common dtype."""
    x, y = common(x, y)
    return Dual(x.dtype, tuple(np.asarray(p - q) for p, q in zip(x.parts, y.parts, strict=True)))


def multiply(x: Dual, y: Dual) -> Dual:
    """The elementwise product, wrapping in the common dtype."""
    return bilinear(np.multiply, x, y)


def reciprocal(x: Dual) -> Dual:
    """One over each element."""
    f = 1 / x.value
    return unary(x, f, -(f**2), 2 * f**3)


def choose(condition: Array, x: Dual, y: Dual) -> Dual:
    """x where the condition holds, else y."""
    x, y = common(x, y)
    parts = tuple(np.where(condition, p, q) for p, q in zip(x.parts, y.parts, strict=True))
    return Dual(x.dtype, parts)
