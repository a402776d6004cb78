"""How long a step takes on one thread, roughly: what decides how many threads share it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from theano.link.native.ir.ir import (
    Combine,
    Compute,
    Copy,
    Gather,
    Gemm,
    Map,
    Reduce,
    Scatter,
    Size,
    Statement,
)
from theano.link.native.ir.sizes import Sizes

# Nanoseconds, on a processor with vectors of 32 to 64 bytes.
MULTIPLY_ADD = {"float32": 0.03, "float64": 0.06}
MOVE = 0.1
ARITHMETIC = 0.05
VECTOR_FUNCTION = {"float32": 0.5, "float64": 2.0}
FUNCTION = 10.0


def nanoseconds(statements: Iterable[Statement], sizes: Sizes) -> str:
    """The time of a step as a C expression of its sizes."""
    terms = []
    for statement in statements:
        if type(statement) in _TIMES:
            each, shape = _TIMES[type(statement)](statement)
            factors = [str(size) for size in map(sizes.find, shape) if size != 1]
            terms.append(" * ".join([f"{each:.3g}", *factors]))
    return " + ".join(terms) or "0.0"


def _gemm(statement: Gemm) -> tuple[float, tuple[Size, ...]]:
    shape = (*statement.out.shape, statement.a.shape[1])
    return MULTIPLY_ADD[statement.out.dtype], shape


def _map(statement: Map) -> tuple[float, tuple[Size, ...]]:
    return sum(map(_compute, statement.body)), statement.shape


def _compute(compute: Compute) -> float:
    operation = compute.operation
    moves = MOVE if compute.stored else 0.0
    if operation.vector is not None and "tn_v_" in operation.vector:
        return moves + VECTOR_FUNCTION.get(compute.dtype, FUNCTION)
    called = "__builtin_" in operation.template and operation.vector is None
    return moves + (FUNCTION if called else ARITHMETIC)


def _target(statement: Copy | Combine | Gather) -> tuple[float, tuple[Size, ...]]:
    return MOVE, statement.target.shape


def _reduce(statement: Reduce) -> tuple[float, tuple[Size, ...]]:
    return MOVE, statement.source.shape


def _scatter(statement: Scatter) -> tuple[float, tuple[Size, ...]]:
    return MOVE, (*statement.index.shape, *statement.target.shape[1:])


_TIMES: dict[type, Callable[[Any], tuple[float, tuple[Size, ...]]]] = {
    Combine: _target,
    Copy: _target,
    Gather: _target,
    Gemm: _gemm,
    Map: _map,
    Reduce: _reduce,
    Scatter: _scatter,
}
