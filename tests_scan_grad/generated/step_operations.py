"""Operations that a step of a generated loop may use: a table, on values of a few kinds.

Every operation keeps bounded values bounded, so that no loop of a dozen steps overflows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import theano.tensor as T

COLUMNS = 2
DATA_ROWS = 4
TABLE_ROWS = 3

# kind -> shape ("batch" stands for the number of rows of a matrix) and dtype
KINDS: dict[str, tuple[tuple[int | str, ...], str]] = {
    "matrix": (("batch", COLUMNS), "float64"),
    "vector": ((COLUMNS,), "float64"),
    "square": ((COLUMNS, COLUMNS), "float64"),
    "scalar": ((), "float64"),
    "narrow": ((COLUMNS,), "float32"),
    "index": ((), "int64"),
    "indices": (("batch",), "int32"),
    "mask": ((), "int8"),
    "count": ((), "int64"),
    "wide": ((2 * COLUMNS, 2 * COLUMNS), "float64"),
    "table": ((TABLE_ROWS, COLUMNS), "float64"),
    "data": ((DATA_ROWS, COLUMNS), "float64"),
}

# invariants that a step may use: name -> kind
INVARIANTS = {
    "W": "square",
    "U": "square",
    "b": "vector",
    "c": "scalar",
    "G": "wide",
    "E": "table",
    "X": "data",
}


@dataclass(frozen=True)
class Operation:
    """A way to compute a value of kind ``result`` from values of kinds ``operands``."""

    operands: tuple[str, ...]
    result: str
    apply: Callable
    smooth: bool = True
    product: bool = False


def _product(operands: str, result: str, apply: Callable) -> Operation:
    return Operation(tuple(operands.split()), result, apply, product=True)


def _elementwise(operands: str, result: str, apply: Callable, smooth: bool = True) -> Operation:
    return Operation(tuple(operands.split()), result, apply, smooth)


def _gates(a, b, weights):
    """Two gates and two values cut out of one product, as in an LSTM."""
    gates = T.concatenate([a, b], axis=1).dot(weights)
    opened = T.nnet.sigmoid(gates[:, :COLUMNS])
    return opened * T.tanh(gates[:, COLUMNS:]) + (1 - opened) * a


def _joined_vectors(v, w, weights):
    return T.concatenate([v, w]).dot(weights[:, :COLUMNS])


def _joined_rows(weights, a, b):
    """Products from the left with two matrices, transposed, one below the other."""
    return T.concatenate([weights, weights.T], axis=1).dot(T.concatenate([a.T, b.T])).T


def _three_joined(a, b, w, u):
    return T.concatenate([a, b, a], axis=1).dot(T.concatenate([w, u, w.T]))


def _batched_matmul(a, weights):
    return (a.dimshuffle(0, "x", 1) @ weights)[:, 0, :]


def _batched_dot(a, b):
    outer = T.batched_dot(a.dimshuffle(0, 1, "x"), b.dimshuffle(0, "x", 1))
    return outer.sum(axis=2)


def _largest_row(a):
    return a - a.max(axis=1, keepdims=True)


OPERATIONS: dict[str, Operation] = {
    "dot": _product("matrix square", "matrix", lambda a, w: a.dot(w)),
    "matmul": _product("matrix square", "matrix", lambda a, w: a @ w),
    "T.dot": _product("matrix square", "matrix", lambda a, w: T.dot(a, w)),
    "dot of a transpose": _product("matrix square", "matrix", lambda a, w: a.dot(w.T)),
    "transposed dot": _product("matrix square", "matrix", lambda a, w: T.dot(w.T, a.T).T),
    "used twice": _product("matrix square", "matrix", lambda a, w: T.tanh(a.dot(w)).dot(w)),
    "two products": _product(
        "matrix square matrix square", "matrix", lambda a, w, b, u: a.dot(w) + b.dot(u)
    ),
    "batched matmul": _product("matrix square", "matrix", _batched_matmul),
    "batched dot": _product("matrix matrix", "matrix", _batched_dot),
    "vector dot": _product("vector square", "vector", lambda v, w: v.dot(w)),
    "dot vector": _product("square vector", "vector", lambda w, v: T.dot(w, v)),
    "vector matmul": _product("vector square", "vector", lambda v, w: v @ w),
    "matrix dot vector": _product(
        "matrix vector", "matrix", lambda a, v: a * a.dot(v).dimshuffle(0, "x")
    ),
    "inner": _product("vector vector", "scalar", lambda v, w: T.dot(v, w)),
    "outer": _product("vector vector", "square", T.outer),
    "transposed gram": _product("matrix matrix", "square", lambda a, b: a.T.dot(b)),
    "scaled gram": _product("scalar matrix matrix", "square", lambda s, a, b: s * a.T.dot(b)),
    "gram under a transpose": _product("matrix matrix", "square", lambda a, b: T.dot(a.T, b).T),
    "sum of grams": _product(
        "matrix matrix matrix matrix", "square", lambda a, b, c, d: a.T.dot(b) + c.T.dot(d)
    ),
    "square dot": _product("square square", "square", lambda v, w: v.dot(w)),
    "gates": _product("matrix matrix wide", "matrix", _gates),
    "joined vectors": _product("vector vector wide", "vector", _joined_vectors),
    "joined rows": _product("square matrix matrix", "matrix", _joined_rows),
    "three joined": _product("matrix matrix square square", "matrix", _three_joined),
    "attention": _product("matrix data", "matrix", lambda a, x: T.nnet.softmax(a.dot(x.T)).dot(x)),
    "prefix gram": _product("index data", "square", lambda k, x: x[:k].T.dot(x[:k])),
    "add": _elementwise("matrix matrix", "matrix", lambda a, b: a + b),
    "subtract": _elementwise("matrix matrix", "matrix", lambda a, b: a - b),
    "multiply": _elementwise("matrix matrix", "matrix", lambda a, b: a * T.tanh(b)),
    "tanh": _elementwise("matrix", "matrix", T.tanh),
    "sigmoid": _elementwise("matrix", "matrix", T.nnet.sigmoid),
    "blend": _elementwise(
        "matrix matrix matrix",
        "matrix",
        lambda z, a, b: T.nnet.sigmoid(z) * a + (1 - T.nnet.sigmoid(z)) * b,
    ),
    "mask": _elementwise("mask matrix matrix", "matrix", lambda m, a, b: T.switch(m, a, b)),
    "bias": _elementwise("matrix vector", "matrix", lambda a, v: a + v),
    "scale rows": _elementwise("matrix vector", "matrix", lambda a, v: a * T.tanh(v)),
    "scale": _elementwise("matrix scalar", "matrix", lambda a, s: a * T.tanh(s)),
    "spread": _elementwise("matrix vector", "matrix", lambda a, v: T.ones_like(a) * v),
    "rectify": _elementwise(
        "matrix", "matrix", lambda a: T.switch(a > 0, a, 0.1 * a), smooth=False
    ),
    "largest": _elementwise("matrix", "matrix", _largest_row, smooth=False),
    "softmax": _elementwise("matrix", "matrix", T.nnet.softmax),
    "centre": _elementwise("matrix", "matrix", lambda a: a - a.mean(axis=1, keepdims=True)),
    "sum of rows": _elementwise("matrix", "vector", lambda a: a.sum(axis=0)),
    "sum": _elementwise("matrix", "scalar", lambda a: a.sum()),
    "vector add": _elementwise("vector vector", "vector", lambda v, w: v + w),
    "vector tanh": _elementwise("vector", "vector", T.tanh),
    "vector multiply": _elementwise("vector vector", "vector", lambda v, w: v * T.tanh(w)),
    "widen": _elementwise("narrow", "vector", lambda v: v.astype("float64")),
    "scalar add": _elementwise("scalar scalar", "scalar", lambda s, t: s + t),
    "scalar sin": _elementwise("scalar", "scalar", T.sin),
    "square tanh": _elementwise("square", "square", T.tanh),
    "reverse columns": _elementwise("matrix", "matrix", lambda a: a[:, ::-1]),
    "set column": _elementwise(
        "matrix matrix", "matrix", lambda a, b: T.set_subtensor(a[:, 0], b[:, 1])
    ),
    "increment column": _elementwise(
        "matrix matrix", "matrix", lambda a, b: T.inc_subtensor(a[:, 0], b[:, 1])
    ),
    "reshape": _elementwise(
        "matrix", "matrix", lambda a: T.tanh(a.reshape((a.size,))).reshape(a.shape)
    ),
    "embed": _elementwise("table index", "vector", lambda e, k: e[k]),
    "embed rows": _elementwise("table indices", "matrix", lambda e, k: e[k]),
    "prefix sum": _elementwise("index data", "vector", lambda k, x: x[:k].sum(axis=0)),
    "divide by count": _elementwise("matrix count", "matrix", lambda a, n: a / (n + 1.0)),
}

# operations that the builder of a loop knows how to apply: operands and result
SPECIAL = {
    "nested loop": (("matrix", "square"), "matrix"),
    "nested loop over rows": (("matrix", "data"), "matrix"),
    "nested loop with until": (("matrix", "square"), "matrix"),
    "draw": (("matrix",), "matrix"),
    "draw a mask": (("matrix",), "matrix"),
}


def signature(name: str) -> tuple[tuple[str, ...], str]:
    """The kinds of the operands of an operation, and of its result."""
    if name in SPECIAL:
        return SPECIAL[name]
    return OPERATIONS[name].operands, OPERATIONS[name].result
