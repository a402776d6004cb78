"""Symbolic numbers, and times that are computed of them, as C."""

from __future__ import annotations

from collections.abc import Iterable

from theano.link.native.ir.symbolic import Size, Spelling, spelled
from theano.link.native.statements.base import Work

_OF_RUNTIME = "runtime->{}".format
# what other functions are called than their name says: macros and functions of prelude.inc, and those
# of the runtime; loops are called by their names
_FUNCTIONS = {
    "bytes": "TN_BYTES",
    "correlation": "TN_CORRELATION",
    "count": "TN_COUNT",
    **{name: f"tn_{name}" for name in ("floor_division", "range_length", "signed", "smaller")},
    **{name: _OF_RUNTIME(name) for name in ("clip", "slice_length")},
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
)


def in_c(size: Size) -> str:
    """A number, in C."""
    return spelled(size, _C)


def time_in_c(works: Iterable[Work]) -> str:
    """The sum of times of work, in C."""
    terms = (" * ".join([f"{work.each:.4g}", *map(in_c, work.shape)]) for work in works)
    return " + ".join(terms) or "0.0"
