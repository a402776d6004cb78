"""Products and reductions."""

from __future__ import annotations

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
    reading,
)
from tests_scan_grad.differential.programs import Value


def _dot_run(trace: Trace, x: Dual, y: Dual) -> Dual:
    return dual.bilinear(np.dot, x, y)


def _transposed_dot(x, y):
    return T.dot(x.T, y)


PRODUCTS = {
    "matrix by square": Operation(
        2, of_kinds("matrix", "square", result="matrix"), T.dot, _dot_run, 4.0
    ),
    "square by square": Operation(
        2, of_kinds("square", "square", result="square"), T.dot, _dot_run, 1.5
    ),
    "vector by square": Operation(
        2, of_kinds("vector", "square", result="vector"), T.dot, _dot_run, 3.0
    ),
    "square by vector": Operation(
        2, of_kinds("square", "vector", result="vector"), T.dot, _dot_run, 2.0
    ),
    "matrix by vector": Operation(
        2,
        of_kinds("matrix", "vector", result="column"),
        lambda x, y: T.dot(x, y).dimshuffle(0, "x"),
        plain(lambda x, y: dual.bilinear(lambda p, q: np.dot(p, q)[:, None], x, y)),
    ),
    "transposed matrix by matrix": Operation(
        2,
        of_kinds("matrix", "matrix", result="square"),
        _transposed_dot,
        plain(lambda x, y: dual.bilinear(lambda p, q: np.dot(p.T, q), x, y)),
        3.0,
    ),
    "inner product": Operation(2, of_kinds("vector", "vector", result="scalar"), T.dot, _dot_run),
    "outer product": Operation(
        2,
        of_kinds("vector", "vector", result="square"),
        T.outer,
        plain(lambda x, y: dual.bilinear(np.outer, x, y)),
        2.0,
    ),
    "column by row": Operation(2, of_kinds("column", "row", result="matrix"), T.dot, _dot_run),
    "row by square": Operation(2, of_kinds("row", "square", result="row"), T.dot, _dot_run),
}


def _summed(kind: str, result: str) -> Typing:
    def typed(value: Value) -> Value | None:
        if value.kind != kind:
            return None
        return Value(result, str(np.zeros(1, value.dtype).sum().dtype))

    return typed


def _largest(trace: Trace, x: Dual) -> Dual:
    flat = x.value.ravel()
    order = np.argsort(flat)
    if x.is_floating and len(flat) > 1:
        trace.branch(flat[order[-1:]] - flat[order[-2:-1]])
    return dual.linear(lambda part: part.ravel()[order[-1]], x)


def _largest_type(x: Value) -> Value | None:
    return None if x.dtype == "bool" or x.kind == "scalar" else Value("scalar", x.dtype)


REDUCTIONS = {
    **{
        f"sum of {kind}": Operation(
            1, _summed(kind, "scalar"), lambda x: x.sum(), reading(lambda x: x.sum()), 0.7
        )
        for kind in ("vector", "matrix", "square")
    },
    "sum of rows": Operation(
        1,
        _summed("matrix", "vector"),
        lambda x: x.sum(axis=0),
        reading(lambda x: x.sum(axis=0)),
        2.0,
    ),
    "sum of columns": Operation(
        1,
        _summed("matrix", "column"),
        lambda x: x.sum(axis=1, keepdims=True),
        reading(lambda x: x.sum(axis=1, keepdims=True)),
    ),
    "largest": Operation(1, _largest_type, lambda x: x.max(), _largest, 0.5),
}
