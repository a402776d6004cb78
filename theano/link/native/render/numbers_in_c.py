"""Types, numbers, sizes, and times that are computed of them, in C."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from theano.link.native.ir.ir import Scalar
from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.ir.symbolic import Size, Spelling, spelled
from theano.link.native.statements.base import Work

C_TYPES = {
    "bool": "unsigned char",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "int64_t",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "uint64_t",
    "float32": "float",
    "float64": "double",
}


def literal(value: object, dtype: str) -> str:
    """Return a number as a C literal of a type."""
    number = np.asarray(value, dtype=dtype)[()]
    if dtype in FLOATS:
        if np.isnan(number):
            text = '__builtin_nan("")'
        elif np.isinf(number):
            text = "__builtin_inf()" if number > 0 else "(-__builtin_inf())"
        else:
            text = repr(float(number))
            text = f"({text})" if number < 0 or text.startswith("-") else text
            return (
                f"{text[:-1]}f)"
                if dtype == "float32" and text[-1] == ")"
                else (f"{text}f" if dtype == "float32" else text)
            )
        return f"((float){text})" if dtype == "float32" else text
    if dtype == "bool":
        return "1" if number else "0"
    if dtype == "uint64":
        return f"{int(number)}ull"
    if int(number) == -(2**63):
        return "(-9223372036854775807ll - 1)"
    suffix = "ll" if dtype == "int64" else ""
    return f"({int(number)}{suffix})" if number < 0 else f"{int(number)}{suffix}"


def number_in_c(scalar: Scalar) -> str:
    """Return a number: its name, or a literal."""
    if scalar.literal is None:
        return scalar.expression
    return literal(scalar.literal, scalar.dtype)


_OF_RUNTIME = "runtime->{}".format
# what other functions are called than their name says: macros and functions of prelude.inc, and those
# of the runtime; loops are called by their names
_FUNCTIONS = {
    "bytes": "TN_BYTES",
    "correlation": "TN_CORRELATION",
    "count": "TN_COUNT",
    **{
        name: f"tn_{name}"
        for name in (
            "floor_division",
            "parts_of_number",
            "range_length",
            "share",
            "signed",
            "smaller",
        )
    },
    **{name: _OF_RUNTIME(name) for name in ("block_steps", "clip", "slice_length")},
    **{
        f"{name}_{suffix}": _OF_RUNTIME(f"{name}_{suffix}")
        for name in ("correlation_work", "packed_size")
        for suffix in ("f32", "f64")
    },
}

_C = Spelling(
    lambda function, operands: f"{_FUNCTIONS.get(function, function)}({', '.join(operands)})",
    "{}_array->shape[{}]".format,
    "(double){}".format,
    lambda number: literal(number.value, number.dtype),
)


def in_c(size: Size) -> str:
    """Return a number, in C."""
    return spelled(size, _C)


def time_in_c(works: Iterable[Work]) -> str:
    """Return the sum of times of work, in C."""
    terms = (" * ".join([f"{work.each:.4g}", *map(in_c, work.shape)]) for work in works)
    return " + ".join(terms) or "0.0"
