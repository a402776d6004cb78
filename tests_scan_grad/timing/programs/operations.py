"""Single operations, each written once for every library; see `operation_libraries.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# where the elements of an operation's arguments lie
DOMAINS: dict[str, tuple[float, float]] = {
    "any": (-3.0, 3.0),
    "positive": (0.1, 4.0),
    "inside": (-0.95, 0.95),
    "above 1": (1.05, 4.0),
    "large": (-1000.0, 1000.0),
}


@dataclass(frozen=True)
class Operation:
    """An operation on one or two square matrices.

    Attributes
    ----------
    build
        Takes a library and two arrays.
    domain
        Where elements lie: a name of `DOMAINS`.
    smooth
        Whether its gradient is timed, too.
    """

    build: Callable[[Any, Any, Any], Any]
    domain: str = "any"
    smooth: bool = True


def _function(name: str, domain: str = "any", smooth: bool = True) -> Operation:
    return Operation(lambda f, x, y: getattr(f, name)(x), domain, smooth)


def _pair(name: str, domain: str = "any", smooth: bool = True) -> Operation:
    return Operation(lambda f, x, y: getattr(f, name)(x, y), domain, smooth)


def _normalized(f: Any, x: Any, axis: int) -> Any:
    centred = x - f.mean(x, axis)
    return centred / f.sqrt(f.mean(centred * centred, axis) + 1e-5)


def _by_hand(f: Any, x: Any, axis: int) -> Any:
    largest = f.max(x, axis)
    return f.log(f.sum(f.exp(x - largest), axis)) + largest


FUNCTIONS = {
    **{name: _function(name) for name in ("exp", "exp2", "expm1", "sin", "cos", "tan", "arctan")},
    **{name: _function(name) for name in ("sinh", "cosh", "tanh", "arcsinh", "erf", "erfc")},
    **{name: _function(name) for name in ("sigmoid", "softplus", "i0", "abs")},
    **{name: _function(name, "positive") for name in ("log", "log2", "log10", "log1p", "sqrt")},
    **{name: _function(name, "positive") for name in ("gammaln", "psi")},
    **{name: _function(name, "inside") for name in ("arcsin", "arccos", "arctanh", "erfinv")},
    "arccosh": _function("arccosh", "above 1"),
    "sin of large": _function("sin", "large"),
    **{name: _function(name, smooth=False) for name in ("floor", "rint", "sign")},
    **{name: _pair(name) for name in ("maximum", "minimum", "arctan2")},
    "power": _pair("power", "positive"),
    "remainder": _pair("remainder", smooth=False),
    "floor division": _pair("floor_divide", smooth=False),
}
FORMULAS = {
    "arithmetic": Operation(lambda f, x, y: x * y + x - 2 * y),
    "quotient": Operation(lambda f, x, y: x / y, "positive"),
    "polynomial": Operation(lambda f, x, y: ((x + 1) * x + 2) * x + 3),
    "relu": Operation(lambda f, x, y: f.where(x > 0, x, 0 * x)),
    "elu": Operation(lambda f, x, y: f.where(x > 0, x, f.expm1(x))),
    "gelu": Operation(lambda f, x, y: x * (1 + f.erf(x / 2**0.5)) / 2),
    "silu": Operation(lambda f, x, y: x * f.sigmoid(x)),
    "clip": Operation(lambda f, x, y: f.clip(x)),
    "choice": Operation(lambda f, x, y: f.where(x > y, x * y, x - y)),
    "log-normal density": Operation(
        lambda f, x, y: -((f.log(x) - y) ** 2) / 2 - f.log(x), "positive"
    ),
    "normal density": Operation(lambda f, x, y: f.exp(-((x - y) ** 2) / 2)),
    "remainder by a constant": Operation(lambda f, x, y: f.floor(x * 3) % 2, smooth=False),
    "comparison": Operation(lambda f, x, y: x > y, smooth=False),
}
REDUCTIONS = {
    **{
        f"{name} of {what}": Operation(
            lambda f, x, y, name=name, axis=axis: getattr(f, name)(x, axis)
        )
        for name in ("sum", "max", "mean")
        for what, axis in (("rows", 1), ("columns", 0))
    },
    "sum of all": Operation(lambda f, x, y: f.total(x)),
    "mean of squares": Operation(lambda f, x, y: f.total(x * x) / 1000),
    "norm of rows": Operation(lambda f, x, y: f.sqrt(f.sum(x * x, 1))),
    "argmax of rows": _function("argmax", smooth=False),
    **{
        f"{name} of {what}": Operation(lambda f, x, y, of=of, axis=axis: of(f, x, axis))
        for name, of in (
            ("softmax", lambda f, x, axis: f.softmax(x, axis)),
            ("log-softmax", lambda f, x, axis: f.log_softmax(x, axis)),
            ("log-sum-exp", _by_hand),
            ("normalization", _normalized),
        )
        for what, axis in (("rows", 1), ("columns", 0))
    },
}
COPIES = {
    **{
        f"concatenation along {axis}": Operation(
            lambda f, x, y, axis=axis: f.concatenate([x, y], axis)
        )
        for axis in (0, 1)
    },
    "pairs": Operation(lambda f, x, y: f.stack([x, y], 2)),
    "stack": Operation(lambda f, x, y: f.stack([x, y], 0)),
    "tile": _function("tile"),
    "repeat": _function("repeat"),
    "roll": _function("roll"),
    "lower triangle": _function("tril"),
    "differences": Operation(lambda f, x, y: x[:, 1:] - x[:, :-1]),
    "reversed rows": Operation(lambda f, x, y: f.flip(x) * 2),
    "tanh of reversed rows": Operation(lambda f, x, y: f.tanh(f.flip(x))),
    "transposed": Operation(lambda f, x, y: x.T + y),
    "rows by index": _function("take"),
}
ORDERS = {
    "sort of rows": _function("sort", smooth=False),
    "argsort of rows": _function("argsort", smooth=False),
    "cumulative sum of rows": Operation(lambda f, x, y: f.cumsum(x, 1)),
    "cumulative sum of columns": Operation(lambda f, x, y: f.cumsum(x, 0)),
}
OPERATIONS: dict[str, Operation] = {**FUNCTIONS, **FORMULAS, **REDUCTIONS, **COPIES, **ORDERS}


def arguments(operation: Operation, elements: int, dtype: str) -> list[np.ndarray]:
    """Return two square matrices of about so many elements, the same in every process."""
    size, random = max(round(elements**0.5), 1), np.random.default_rng(0)
    low, high = DOMAINS[operation.domain]
    return [random.uniform(low, high, (size, size)).astype(dtype) for _ in range(2)]


def cost(library: Any, operation: Operation, x: Any, y: Any) -> Any:
    """Return a number whose gradient by x depends on all of what the operation gives.

    Squares will not do: of what is normalized their sum is the same for all x.
    """
    result = operation.build(library, x, y)
    return library.total(result * result * result)
