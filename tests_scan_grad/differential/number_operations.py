"""Element-wise work on numbers of any dtype, comparisons, choices and casts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import theano.tensor as T
from tests_scan_grad.differential import dual
from tests_scan_grad.differential.dual import Dual
from tests_scan_grad.differential.operation import (
    Operation,
    Trace,
    broadcast,
    elementwise,
    plain,
    promoted,
)
from tests_scan_grad.differential.programs import Value


def _numbers(*values: Value) -> Value | None:
    return None if promoted(*values) == "bool" else elementwise(*values)


def _integers(*values: Value) -> Value | None:
    discrete = all(not v.is_floating and v.dtype != "bool" for v in values)
    made = elementwise(*values)
    return made if discrete and made is not None and not made.is_floating else None


def _logical(*values: Value) -> Value | None:
    return elementwise(*values) if all(v.dtype == "bool" for v in values) else None


def _condition(*values: Value) -> Value | None:
    kind = broadcast(*values)
    return None if kind is None or promoted(*values) == "bool" else Value(kind, "bool")


def _of_values(f: Callable) -> Callable:
    """A function of the values that has no derivative."""

    def run(trace: Trace, *operands: Dual) -> Dual:
        value = np.asarray(f(*(x.value for x in operands)))
        return Dual(value.dtype, (value,))

    return run


def _absolute(trace: Trace, x: Dual) -> Dual:
    if not x.is_floating:
        return Dual(x.dtype, (np.abs(x.value),))
    trace.branch(x.value)
    return dual.linear(lambda part: np.sign(x.value) * part, x)


def _extreme(better: Callable) -> Callable:
    def run(trace: Trace, x: Dual, y: Dual) -> Dual:
        x, y = dual.common(x, y)
        if x.is_floating:
            trace.branch(x.value - y.value)
        return dual.choose(better(x.value, y.value), x, y)

    return run


def _compared(relation: Callable) -> Callable:
    def run(trace: Trace, x: Dual, y: Dual) -> Dual:
        x, y = dual.common(x, y)
        if x.is_floating:
            trace.branch(x.value - y.value)
        return dual.constant(relation(x.value, y.value), "bool")

    return run


def _switched(trace: Trace, condition: Dual, x: Dual, y: Dual) -> Dual:
    return dual.choose(condition.value != 0, x, y)


def _switch_type(condition: Value, x: Value, y: Value) -> Value | None:
    kind = broadcast(condition, x, y)
    return None if kind is None or condition.is_floating else Value(kind, promoted(x, y))


def _cast_to(dtype: str, floating: bool) -> Operation:
    def typed(value: Value) -> Value | None:
        if value.is_floating and not floating:
            return None
        return Value(value.kind, dtype)

    return Operation(
        1, typed, lambda x: T.cast(x, dtype), plain(lambda x: dual.cast(x, dtype)), 0.25
    )


def _any_number(*values: Value) -> Value | None:
    return None if any(v.dtype == "bool" for v in values) else values[0]


def _unary_integer(x: Value) -> Value | None:
    return None if x.is_floating or x.dtype == "bool" else x


def _floor_divided(trace: Trace, x: Dual) -> Dual:
    return Dual(x.dtype, (x.value // x.dtype.type(3),))


def _remainder(trace: Trace, x: Dual) -> Dual:
    return Dual(x.dtype, (x.value % x.dtype.type(5),))


def _three(x):
    return T.constant(np.array(3, x.dtype))


ELEMENTWISE = {
    "add": Operation(2, _numbers, lambda x, y: x + y, plain(dual.add), 3.0),
    "subtract": Operation(2, _numbers, lambda x, y: x - y, plain(dual.subtract), 2.0),
    "multiply": Operation(2, _numbers, lambda x, y: x * y, plain(dual.multiply), 3.0),
    "negative": Operation(1, _any_number, lambda x: -x, plain(dual.negative)),
    "absolute": Operation(1, _any_number, abs, _absolute),
    "maximum": Operation(2, _numbers, T.maximum, _extreme(np.greater)),
    "minimum": Operation(2, _numbers, T.minimum, _extreme(np.less)),
    "less": Operation(2, _condition, T.lt, _compared(np.less)),
    "at least": Operation(2, _condition, T.ge, _compared(np.greater_equal)),
    "and": Operation(2, _logical, T.and_, _of_values(np.logical_and)),
    "or": Operation(2, _logical, T.or_, _of_values(np.logical_or)),
    "not": Operation(1, _logical, T.invert, _of_values(np.logical_not)),
    "exclusive or": Operation(
        2, _integers, T.xor, plain(lambda x, y: _bits(np.bitwise_xor, x, y)), 0.5
    ),
    "switch": Operation(3, _switch_type, T.switch, _switched, 1.5),
    "floor division": Operation(1, _unary_integer, lambda x: x // _three(x), _floor_divided, 0.5),
    "remainder": Operation(
        1, _unary_integer, lambda x: T.mod(x, T.constant(np.array(5, x.dtype))), _remainder, 0.5
    ),
    **{
        f"cast to {dtype}": _cast_to(dtype, dtype.startswith("float"))
        for dtype in (
            *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
            *("float32", "float64"),
        )
    },
}


def _bits(f: Callable, x: Dual, y: Dual) -> Dual:
    x, y = dual.common(x, y)
    return Dual(x.dtype, (f(x.value, y.value),))
