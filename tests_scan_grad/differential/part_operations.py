"""Reads of parts, writes to parts, and other arrangements of elements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import theano.tensor as T
from tests_scan_grad.differential import dual
from tests_scan_grad.differential.dual import Dual
from tests_scan_grad.differential.operation import (
    Operation,
    Trace,
    Typing,
    of_kinds,
    plain,
    promoted,
    reading,
)
from tests_scan_grad.differential.programs import COLUMNS, ROWS, Value


def _index(k: np.ndarray) -> np.ndarray:
    """Integers of any dtype as places of a dimension of COLUMNS."""
    return np.mod(k.astype("int64"), COLUMNS)


def _symbolic_index(k):
    return T.mod(T.cast(k, "int64"), COLUMNS)


def _gather_type(source: Value, places: Value) -> Value | None:
    if places.kind != "vector" or places.is_floating or places.dtype == "bool":
        return None
    return source if source.kind in ("vector", "square") else None


def _scatter_type(source: Value, places: Value, rows: Value) -> Value | None:
    if _gather_type(source, places) is None or promoted(source, rows) != source.dtype:
        return None
    return source if rows.kind == source.kind and source.dtype != "bool" else None


def _scatter(trace: Trace, source: Dual, places: Dual, rows: Dual) -> Dual:
    rows = dual.cast(rows, source.dtype)
    at = _index(places.value)

    def added(base, part):
        base = base.copy()
        np.add.at(base, at, part)
        return base

    parts = zip(source.parts, rows.parts, strict=True)
    return Dual(source.dtype, tuple(added(*pair) for pair in parts))


def _written(
    change: Callable[[np.ndarray, np.ndarray], None],
    made_of: Callable[[Dual], Dual] = lambda part: part,
) -> Callable:
    def run(trace: Trace, base: Dual, part: Dual) -> Dual:
        # what is written is computed in its own dtype, in which integers wrap
        part = dual.cast(made_of(part), base.dtype)
        results = []
        for old, new in zip(base.parts, part.parts, strict=True):
            old = old.copy()
            change(old, new)
            results.append(old)
        return Dual(base.dtype, tuple(results))

    return run


def _write_type(base_kind: str, part_kind: str) -> Typing:
    def typed(base: Value, part: Value) -> Value | None:
        if (base.kind, part.kind) != (base_kind, part_kind) or base.dtype == "bool":
            return None
        return base if promoted(base, part) == base.dtype else None

    return typed


def _negated_write_type(base: Value, part: Value) -> Value | None:
    # a boolean has no negative
    return None if part.dtype == "bool" else _write_type("vector", "vector")(base, part)


def _set_first_row(base, part):
    base[0] = part


def _add_to_rest(base, part):
    base[1:] += part


def _add_backward(base, part):
    base[::-1] += part


def _times_length_type(x: Value) -> Value | None:
    if x.kind != "vector":
        return None
    return Value("vector", promoted(x, Value("scalar", "int64")))


PARTS = {
    "transpose": Operation(
        1, of_kinds("square", result="square"), lambda x: x.T, reading(np.transpose), 1.5
    ),
    "reverse": Operation(
        1, of_kinds("vector", result="vector"), lambda x: x[::-1], reading(lambda x: x[::-1])
    ),
    "rotate": Operation(
        1,
        of_kinds("vector", result="vector"),
        lambda x: T.concatenate([x[1:], x[:1]]),
        reading(lambda x: np.concatenate([x[1:], x[:1]])),
    ),
    "first row": Operation(
        1, of_kinds("matrix", result="vector"), lambda x: x[0], reading(lambda x: x[0])
    ),
    "last row kept": Operation(
        1,
        of_kinds("matrix", result="row"),
        lambda x: T.addbroadcast(x[-1:], 0),
        reading(lambda x: x[-1:]),
    ),
    "a column": Operation(
        1,
        of_kinds("matrix", result="column"),
        lambda x: T.addbroadcast(x[:, 1:2], 1),
        reading(lambda x: x[:, 1:2]),
    ),
    "last element": Operation(
        1, of_kinds("vector", result="scalar"), lambda x: x[-1], reading(lambda x: x[-1])
    ),
    "as a row": Operation(
        1,
        of_kinds("vector", result="row"),
        lambda x: x.dimshuffle("x", 0),
        reading(lambda x: x[None]),
    ),
    "stack": Operation(
        2,
        of_kinds("vector", "vector", result="matrix"),
        lambda x, y: T.stack([x, y]),
        plain(
            lambda x, y: Dual(
                np.result_type(x.dtype, y.dtype),
                tuple(
                    np.stack(pair)
                    for pair in zip(*(v.parts for v in dual.common(x, y)), strict=True)
                ),
            )
        ),
    ),
    "repeat rows": Operation(
        1,
        of_kinds("vector", result="matrix"),
        lambda x: T.alloc(x, ROWS, COLUMNS),
        reading(lambda x: np.stack([x] * ROWS)),
        0.7,
    ),
    "reshape": Operation(
        1,
        of_kinds("matrix", result="matrix"),
        lambda x: x.reshape((COLUMNS, ROWS)).reshape((ROWS, COLUMNS))[::-1],
        reading(lambda x: x[::-1]),
        0.7,
    ),
    # of floating numbers: PyTensor's gradient of another diagonal raises a TypeError
    "diagonal": Operation(
        1, of_kinds("square", result="vector", floating=True), T.diag, reading(np.diag), 0.7
    ),
    "cumulative sum": Operation(
        1,
        of_kinds("vector", result="vector", floating=True),
        T.cumsum,
        reading(np.cumsum),
        0.7,
    ),
    "times length": Operation(
        1,
        _times_length_type,
        lambda x: x * x.shape[0],
        plain(lambda x: dual.multiply(x, dual.constant(np.array(COLUMNS), "int64"))),
        0.7,
    ),
    "gather": Operation(
        2,
        _gather_type,
        lambda x, k: x[_symbolic_index(k)],
        plain(lambda x, k: dual.linear(lambda part: part[_index(k.value)], x)),
        2.0,
    ),
    "scatter": Operation(
        3,
        _scatter_type,
        lambda x, k, rows: T.inc_subtensor(x[_symbolic_index(k)], rows),
        _scatter,
        2.0,
    ),
    "scatter to zeros": Operation(
        3,
        _scatter_type,
        lambda x, k, rows: T.inc_subtensor(T.zeros_like(x)[_symbolic_index(k)], rows),
        lambda trace, x, k, rows: _scatter(
            trace, dual.constant(np.zeros(x.shape), x.dtype), k, rows
        ),
        2.0,
    ),
    "set first row": Operation(
        2,
        _write_type("matrix", "vector"),
        lambda x, y: T.set_subtensor(x[0], y),
        _written(_set_first_row),
    ),
    "add to rest": Operation(
        2,
        _write_type("square", "vector"),
        lambda x, y: T.inc_subtensor(x[1:], y),
        _written(_add_to_rest),
    ),
    "subtract from backward": Operation(
        2,
        _negated_write_type,
        lambda x, y: T.inc_subtensor(x[::-1], -y),
        _written(_add_backward, dual.negative),
        0.7,
    ),
}
