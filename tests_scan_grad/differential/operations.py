"""What a step can do: how it is written for Theano, and what it computes.

Each operation says of which kinds and dtypes its operands may be, by the value it results in, or
None. ``build`` writes it with Theano; ``run`` computes it, of `Dual` arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import theano.tensor as T
from tests_scan_grad.differential import dual
from tests_scan_grad.differential.dual import Dual
from tests_scan_grad.differential.programs import COLUMNS, ROWS, SHAPES, Value

KIND_OF_SHAPE = {shape: kind for kind, shape in SHAPES.items()}
Typing = Callable[..., Value | None]


@dataclass
class Trace:
    """What is noted while a program runs.

    Attributes
    ----------
    margin
        The least distance of a floating value from where a branch would be taken otherwise.
    magnitude
        The greatest absolute value of a result or of a derivative of one.
    """

    margin: float = np.inf
    magnitude: float = 1.0

    def branch(self, distances: np.ndarray) -> None:
        """Note distances from the places where a function has no derivative."""
        if distances.size:
            self.margin = min(self.margin, float(np.abs(distances).min()))

    def result(self, x: Dual) -> None:
        """Note how great a result is."""
        for part in x.parts:
            if x.is_floating and part.size:
                self.magnitude = max(self.magnitude, float(np.abs(part).max()))


@dataclass(frozen=True)
class Operation:
    """One operation; ``weight`` is how often it is drawn."""

    arity: int
    typed: Typing
    build: Callable
    run: Callable[..., Dual] = field(repr=False)
    weight: float = 1.0


def promoted(*values: Value) -> str:
    """The dtype of a sum of values."""
    return str(np.result_type(*(value.dtype for value in values)))


def broadcast(*values: Value) -> str | None:
    """The kind that values of several kinds are stretched to."""
    try:
        shape = np.broadcast_shapes(*(value.shape for value in values))
    except ValueError:
        return None
    return KIND_OF_SHAPE.get(shape)


def _elementwise(*values: Value) -> Value | None:
    kind = broadcast(*values)
    return None if kind is None else Value(kind, promoted(*values))


def _numbers(*values: Value) -> Value | None:
    return None if promoted(*values) == "bool" else _elementwise(*values)


def _floats(*values: Value) -> Value | None:
    return _elementwise(*values) if all(v.is_floating for v in values) else None


def _integers(*values: Value) -> Value | None:
    discrete = all(not v.is_floating and v.dtype != "bool" for v in values)
    made = _elementwise(*values)
    return made if discrete and made is not None and not made.is_floating else None


def _logical(*values: Value) -> Value | None:
    return _elementwise(*values) if all(v.dtype == "bool" for v in values) else None


def _condition(*values: Value) -> Value | None:
    kind = broadcast(*values)
    return None if kind is None or promoted(*values) == "bool" else Value(kind, "bool")


def _of_kinds(*kinds: str, result: str, floating: bool = False) -> Typing:
    def typed(*values: Value) -> Value | None:
        if tuple(v.kind for v in values) != kinds:
            return None
        if floating and not all(v.is_floating for v in values):
            return None
        return Value(result, promoted(*values))

    return typed


def _summed(kind: str, result: str) -> Typing:
    def typed(value: Value) -> Value | None:
        if value.kind != kind:
            return None
        return Value(result, str(np.zeros(1, value.dtype).sum().dtype))

    return typed


def _smooth(f, slope, curvature) -> Callable:
    def run(trace: Trace, x: Dual) -> Dual:
        return dual.unary(x, f(x.value), slope(x.value), curvature(x.value))

    return run


def _plain(f: Callable[..., Dual]) -> Callable:
    """An operation that has nothing to note."""
    return lambda trace, *operands: f(*operands)


def _reading(f: Callable[[np.ndarray], np.ndarray]) -> Callable:
    return lambda trace, x: dual.linear(f, x)


def _of_values(f: Callable) -> Callable:
    """A function of the values that has no derivative."""

    def run(trace: Trace, *operands: Dual) -> Dual:
        value = np.asarray(f(*(x.value for x in operands)))
        return Dual(value.dtype, (value,))

    return run


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


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


def _clipped(trace: Trace, x: Dual) -> Dual:
    trace.branch(x.value - 0.5)
    trace.branch(x.value + 0.5)
    inside = np.abs(x.value) < 0.5
    _, *derivatives = x.parts
    return Dual(
        x.dtype, (np.clip(x.value, -0.5, 0.5), *(np.where(inside, p, 0) for p in derivatives))
    )


def _cast_to(dtype: str, floating: bool) -> Operation:
    def typed(value: Value) -> Value | None:
        if value.is_floating and not floating:
            return None
        return Value(value.kind, dtype)

    return Operation(
        1, typed, lambda x: T.cast(x, dtype), _plain(lambda x: dual.cast(x, dtype)), 0.25
    )


def _floor_to_integer(trace: Trace, x: Dual) -> Dual:
    scaled = 3 * x.value
    trace.branch(scaled - np.round(scaled))
    return dual.constant(np.floor(scaled).astype("int64"), "int64")


def _dot_run(trace: Trace, x: Dual, y: Dual) -> Dual:
    return dual.bilinear(np.dot, x, y)


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


def _written(change: Callable[[np.ndarray, np.ndarray], None]) -> Callable:
    def run(trace: Trace, base: Dual, part: Dual) -> Dual:
        part = dual.cast(part, base.dtype)
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


def _set_first_row(base, part):
    base[0] = part


def _add_to_rest(base, part):
    base[1:] += part


def _subtract_from_backward(base, part):
    base[::-1] -= part


def _softmax(trace: Trace, x: Dual) -> Dual:
    shifted = dual.subtract(x, dual.constant(x.value.max(axis=-1, keepdims=True), x.dtype))
    e = np.exp(shifted.value)
    powers = dual.unary(shifted, e, e, e)
    total = dual.linear(lambda part: part.sum(axis=-1, keepdims=True), powers)
    return dual.multiply(powers, dual.reciprocal(total))


def _largest(trace: Trace, x: Dual) -> Dual:
    flat = x.value.ravel()
    order = np.argsort(flat)
    if x.is_floating and len(flat) > 1:
        trace.branch(flat[order[-1:]] - flat[order[-2:-1]])
    return dual.linear(lambda part: part.ravel()[order[-1]], x)


def _any_number(*values: Value) -> Value | None:
    return None if any(v.dtype == "bool" for v in values) else values[0]


def _largest_type(x: Value) -> Value | None:
    return None if x.dtype == "bool" or x.kind == "scalar" else Value("scalar", x.dtype)


def _times_length_type(x: Value) -> Value | None:
    if x.kind != "vector":
        return None
    return Value("vector", promoted(x, Value("scalar", "int64")))


def _unary_integer(x: Value) -> Value | None:
    return None if x.is_floating or x.dtype == "bool" else x


def _floor_divided(trace: Trace, x: Dual) -> Dual:
    return Dual(x.dtype, (x.value // x.dtype.type(3),))


def _remainder(trace: Trace, x: Dual) -> Dual:
    return Dual(x.dtype, (x.value % x.dtype.type(5),))


def _three(x):
    return T.constant(np.array(3, x.dtype))


def _transposed_dot(x, y):
    return T.dot(x.T, y)


FLOATING = {
    "tanh": Operation(
        1,
        _floats,
        T.tanh,
        _smooth(
            np.tanh,
            lambda x: 1 - np.tanh(x) ** 2,
            lambda x: -2 * np.tanh(x) * (1 - np.tanh(x) ** 2),
        ),
        2.0,
    ),
    "sigmoid": Operation(
        1,
        _floats,
        T.nnet.sigmoid,
        _smooth(
            _sigmoid,
            lambda x: _sigmoid(x) * (1 - _sigmoid(x)),
            lambda x: _sigmoid(x) * (1 - _sigmoid(x)) * (1 - 2 * _sigmoid(x)),
        ),
    ),
    "sin": Operation(1, _floats, T.sin, _smooth(np.sin, np.cos, lambda x: -np.sin(x))),
    "square": Operation(
        1, _floats, T.sqr, _smooth(np.square, lambda x: 2 * x, lambda x: np.full(x.shape, 2.0))
    ),
    "bell": Operation(
        1,
        _floats,
        lambda x: T.exp(-T.sqr(x)),
        _smooth(
            lambda x: np.exp(-(x**2)),
            lambda x: -2 * x * np.exp(-(x**2)),
            lambda x: (4 * x**2 - 2) * np.exp(-(x**2)),
        ),
    ),
    "logarithm": Operation(
        1,
        _floats,
        lambda x: T.log(T.sqr(x) + T.constant(np.array(1, x.dtype))),
        _smooth(
            lambda x: np.log1p(x**2),
            lambda x: 2 * x / (1 + x**2),
            lambda x: 2 * (1 - x**2) / (1 + x**2) ** 2,
        ),
    ),
    "root": Operation(
        1,
        _floats,
        lambda x: T.sqrt(T.sqr(x) + T.constant(np.array(1, x.dtype))),
        _smooth(
            lambda x: np.sqrt(1 + x**2),
            lambda x: x / np.sqrt(1 + x**2),
            lambda x: (1 + x**2) ** -1.5,
        ),
    ),
    "softplus": Operation(
        1,
        _floats,
        T.nnet.softplus,
        _smooth(lambda x: np.log1p(np.exp(x)), _sigmoid, lambda x: _sigmoid(x) * (1 - _sigmoid(x))),
    ),
    "divide": Operation(
        2,
        _floats,
        lambda x, y: x / (T.sqr(y) + T.constant(np.array(1, y.dtype))),
        _plain(
            lambda x, y: dual.multiply(
                x,
                dual.reciprocal(dual.add(dual.multiply(y, y), dual.constant(np.ones(()), y.dtype))),
            )
        ),
    ),
    "clip": Operation(
        1,
        _floats,
        lambda x: T.clip(x, np.array(-0.5, x.dtype), np.array(0.5, x.dtype)),
        _clipped,
    ),
    "softmax": Operation(
        1, _of_kinds("matrix", result="matrix", floating=True), T.nnet.softmax, _softmax
    ),
    "mean of rows": Operation(
        1,
        _of_kinds("matrix", result="vector", floating=True),
        lambda x: x.mean(axis=0),
        _reading(lambda x: x.mean(axis=0)),
    ),
    "to an integer": Operation(
        1,
        lambda x: Value(x.kind, "int64") if x.is_floating else None,
        lambda x: T.cast(T.floor(T.constant(np.array(3, x.dtype)) * x), "int64"),
        _floor_to_integer,
        0.5,
    ),
}

ELEMENTWISE = {
    "add": Operation(2, _numbers, lambda x, y: x + y, _plain(dual.add), 3.0),
    "subtract": Operation(2, _numbers, lambda x, y: x - y, _plain(dual.subtract), 2.0),
    "multiply": Operation(2, _numbers, lambda x, y: x * y, _plain(dual.multiply), 3.0),
    "negative": Operation(1, _any_number, lambda x: -x, _plain(dual.negative)),
    "absolute": Operation(1, _any_number, abs, _absolute),
    "maximum": Operation(2, _numbers, T.maximum, _extreme(np.greater)),
    "minimum": Operation(2, _numbers, T.minimum, _extreme(np.less)),
    "less": Operation(2, _condition, T.lt, _compared(np.less)),
    "at least": Operation(2, _condition, T.ge, _compared(np.greater_equal)),
    "and": Operation(2, _logical, T.and_, _of_values(np.logical_and)),
    "or": Operation(2, _logical, T.or_, _of_values(np.logical_or)),
    "not": Operation(1, _logical, T.invert, _of_values(np.logical_not)),
    "exclusive or": Operation(
        2, _integers, T.xor, _plain(lambda x, y: _bits(np.bitwise_xor, x, y)), 0.5
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


PRODUCTS = {
    "matrix by square": Operation(
        2, _of_kinds("matrix", "square", result="matrix"), T.dot, _dot_run, 4.0
    ),
    "square by square": Operation(
        2, _of_kinds("square", "square", result="square"), T.dot, _dot_run, 1.5
    ),
    "vector by square": Operation(
        2, _of_kinds("vector", "square", result="vector"), T.dot, _dot_run, 3.0
    ),
    "square by vector": Operation(
        2, _of_kinds("square", "vector", result="vector"), T.dot, _dot_run, 2.0
    ),
    "matrix by vector": Operation(
        2,
        _of_kinds("matrix", "vector", result="column"),
        lambda x, y: T.dot(x, y).dimshuffle(0, "x"),
        _plain(lambda x, y: dual.bilinear(lambda p, q: np.dot(p, q)[:, None], x, y)),
    ),
    "transposed matrix by matrix": Operation(
        2,
        _of_kinds("matrix", "matrix", result="square"),
        _transposed_dot,
        _plain(lambda x, y: dual.bilinear(lambda p, q: np.dot(p.T, q), x, y)),
        3.0,
    ),
    "inner product": Operation(2, _of_kinds("vector", "vector", result="scalar"), T.dot, _dot_run),
    "outer product": Operation(
        2,
        _of_kinds("vector", "vector", result="square"),
        T.outer,
        _plain(lambda x, y: dual.bilinear(np.outer, x, y)),
        2.0,
    ),
    "column by row": Operation(2, _of_kinds("column", "row", result="matrix"), T.dot, _dot_run),
    "row by square": Operation(2, _of_kinds("row", "square", result="row"), T.dot, _dot_run),
}

REDUCTIONS = {
    **{
        f"sum of {kind}": Operation(
            1, _summed(kind, "scalar"), lambda x: x.sum(), _reading(lambda x: x.sum()), 0.7
        )
        for kind in ("vector", "matrix", "square")
    },
    "sum of rows": Operation(
        1,
        _summed("matrix", "vector"),
        lambda x: x.sum(axis=0),
        _reading(lambda x: x.sum(axis=0)),
        2.0,
    ),
    "sum of columns": Operation(
        1,
        _summed("matrix", "column"),
        lambda x: x.sum(axis=1, keepdims=True),
        _reading(lambda x: x.sum(axis=1, keepdims=True)),
    ),
    "largest": Operation(1, _largest_type, lambda x: x.max(), _largest, 0.5),
}

PARTS = {
    "transpose": Operation(
        1, _of_kinds("square", result="square"), lambda x: x.T, _reading(np.transpose), 1.5
    ),
    "reverse": Operation(
        1, _of_kinds("vector", result="vector"), lambda x: x[::-1], _reading(lambda x: x[::-1])
    ),
    "rotate": Operation(
        1,
        _of_kinds("vector", result="vector"),
        lambda x: T.concatenate([x[1:], x[:1]]),
        _reading(lambda x: np.concatenate([x[1:], x[:1]])),
    ),
    "first row": Operation(
        1, _of_kinds("matrix", result="vector"), lambda x: x[0], _reading(lambda x: x[0])
    ),
    "last row kept": Operation(
        1,
        _of_kinds("matrix", result="row"),
        lambda x: T.addbroadcast(x[-1:], 0),
        _reading(lambda x: x[-1:]),
    ),
    "a column": Operation(
        1,
        _of_kinds("matrix", result="column"),
        lambda x: T.addbroadcast(x[:, 1:2], 1),
        _reading(lambda x: x[:, 1:2]),
    ),
    "last element": Operation(
        1, _of_kinds("vector", result="scalar"), lambda x: x[-1], _reading(lambda x: x[-1])
    ),
    "as a row": Operation(
        1,
        _of_kinds("vector", result="row"),
        lambda x: x.dimshuffle("x", 0),
        _reading(lambda x: x[None]),
    ),
    "stack": Operation(
        2,
        _of_kinds("vector", "vector", result="matrix"),
        lambda x, y: T.stack([x, y]),
        _plain(
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
        _of_kinds("vector", result="matrix"),
        lambda x: T.alloc(x, ROWS, COLUMNS),
        _reading(lambda x: np.stack([x] * ROWS)),
        0.7,
    ),
    "reshape": Operation(
        1,
        _of_kinds("matrix", result="matrix"),
        lambda x: x.reshape((COLUMNS, ROWS)).reshape((ROWS, COLUMNS))[::-1],
        _reading(lambda x: x[::-1]),
        0.7,
    ),
    "diagonal": Operation(1, _of_kinds("square", result="vector"), T.diag, _reading(np.diag), 0.7),
    "cumulative sum": Operation(
        1,
        _of_kinds("vector", result="vector", floating=True),
        T.cumsum,
        _reading(np.cumsum),
        0.7,
    ),
    "times length": Operation(
        1,
        _times_length_type,
        lambda x: x * x.shape[0],
        _plain(lambda x: dual.multiply(x, dual.constant(np.array(COLUMNS), "int64"))),
        0.7,
    ),
    "gather": Operation(
        2,
        _gather_type,
        lambda x, k: x[_symbolic_index(k)],
        _plain(lambda x, k: dual.linear(lambda part: part[_index(k.value)], x)),
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
        _write_type("vector", "vector"),
        lambda x, y: T.inc_subtensor(x[::-1], -y),
        _written(_subtract_from_backward),
        0.7,
    ),
}

OPERATIONS: dict[str, Operation] = {
    **FLOATING,
    **ELEMENTWISE,
    **PRODUCTS,
    **REDUCTIONS,
    **PARTS,
}
