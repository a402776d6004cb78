"""A table of operations and what to call them with, for comparing engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pytensor.tensor import linalg

import theano
import theano.tensor as T
from theano.tensor import fft
from theano.tensor.nnet.ctc import ctc


@dataclass(frozen=True)
class Case:
    """A function of variables, and the values that it is called with."""

    name: str
    build: Callable[..., Any]
    values: tuple[Any, ...]
    on_host: bool = False


def _values(*shapes: Any, dtype: str = "float64", seed: int = 3) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    if dtype.startswith("float"):
        return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)
    if dtype == "bool":
        return tuple(rng.normal(size=shape) > 0 for shape in shapes)
    low = 0 if dtype.startswith("u") else -5
    return tuple(rng.integers(low, 6, size=shape).astype(dtype) for shape in shapes)


_X = _values((3, 4))
_V = _values((6,))
_UNIT = (np.random.default_rng(5).uniform(-0.9, 0.9, size=(3, 4)),)
_POSITIVE = (np.random.default_rng(5).uniform(0.1, 3, size=(3, 4)),)
_INTS = _values((3, 4), (3, 4), dtype="int64")
_SPECIAL = (np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5, 0.5, 1.5, 1e300, -1e-300]),)
_PAIRS = tuple(a.ravel() for a in np.meshgrid(_SPECIAL[0], _SPECIAL[0]))

_ANY_REAL = (
    "neg sgn ceil floor trunc round exp exp2 expm1 sqr abs_ sin cos tan tanh sinh cosh arctan arcsinh "
    "sigmoid softplus erf erfc erfcx isnan isinf deg2rad rad2deg"
).split()
_BELOW_ONE = ("arcsin", "arccos", "arctanh", "log1p", "erfinv")
_BETWEEN_ZERO_AND_TWO = (np.linspace(0.01, 1.99, 12),)
_ABOVE_ZERO = ("log", "log2", "log10", "sqrt", "inv", "gamma", "gammaln", "psi", "tri_gamma", "j0")


def _cost_and_gradient(cost_of: Callable[..., Any], rates: Any, *others: Any) -> list[Any]:
    cost = cost_of(rates, *others)
    return [cost, theano.grad(cost.sum(), rates)]


def _largest(x: Any, count: int, axis: int = -1) -> list[Any]:
    return list(T.topk_and_argtopk(x, count, axis=axis))


def _transforms(x: Any, norm: str | None, is_odd: bool) -> list[Any]:
    found = fft.rfft(x, norm)
    back = fft.irfft(found, norm, is_odd)
    return [found, back, *(theano.grad((y**2).sum(), x) for y in (found, fft.rfft(x)[:, 1:]))]


def _function(name: str) -> Callable[..., Any]:
    def build(x: Any) -> Any:
        return getattr(T, name, None)(x) if hasattr(T, name) else getattr(T.nnet, name)(x)

    return build


def _named(names: Any, values: tuple[Any, ...], note: str = "") -> list[Case]:
    return [Case(f"{name}{note}", _function(name), values) for name in names]


ELEMENTWISE = [
    *_named(_ANY_REAL, _X),
    *_named(_ANY_REAL, _SPECIAL, " of special values"),
    *_named(_BELOW_ONE, _UNIT),
    *_named(("erfcinv",), _BETWEEN_ZERO_AND_TWO),
    *_named(_ABOVE_ZERO[:-1], _POSITIVE),
    *_named(
        ["sqr", "abs_", "sgn", "exp", "sqrt", "tanh", "neg"],
        _values((5,), dtype="int32"),
        " of int32",
    ),
    *_named(["exp", "tanh", "sigmoid", "log1p"], _values((5,), dtype="float32"), " of float32"),
    *_named(["exp", "tanh"], _values((5,), dtype="int8"), " of int8"),
]

_PAIRED: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "true_div": lambda a, b: a / b,
    "int_div": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "maximum": T.maximum,
    "minimum": T.minimum,
    "lt": T.lt,
    "ge": T.ge,
    "eq": T.eq,
    "neq": T.neq,
    "switch": lambda a, b: T.switch(a > 0, a, b),
    "clip": lambda a, b: T.clip(a, -1, b),
    "arctan2": T.arctan2,
}
_INTEGER_PAIRS = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "invert": lambda a, b: ~a & b,
}


def _mixed(first: str, second: str) -> tuple[Any, ...]:
    return _values((3, 4), dtype=first) + _values((3, 4), dtype=second, seed=4)


PAIRS = [
    *(Case(name, f, _values((3, 4), (3, 4))) for name, f in _PAIRED.items()),
    *(Case(f"{n} of special values", f, _PAIRS) for n, f in _PAIRED.items()),
    *(
        Case(f"{name} of {a} and {b}", f, _mixed(a, b))
        for name, f in _PAIRED.items()
        for a, b in [
            ("int32", "float32"),
            ("int64", "int64"),
            ("uint8", "int8"),
            ("int16", "int64"),
        ]
        if name != "arctan2" or "float32" in (a, b)
    ),
    *(Case(f"{name} of int64", f, _INTS) for name, f in _INTEGER_PAIRS.items()),
    *(
        Case(f"{n} of bool", f, _values((4,), (4,), dtype="bool"))
        for n, f in _INTEGER_PAIRS.items()
    ),
    *(
        Case(f"{name} of bool", _PAIRED[name], (np.ones(3, bool), np.array([True, False, True])))
        for name in ("add", "mul", "maximum", "minimum", "lt", "ge", "eq")
    ),
    Case("pow", lambda a, b: a**b, _POSITIVE + _X),
    Case("pow of int64", lambda a: a**2, _INTS[:1]),
    Case("a column and a row", lambda a, b: a + b, _values((3, 1), (1, 4))),
    Case("cast down", lambda a: T.cast(a, "int8"), (np.array([1.7, -1.7, 0.0, 100.2]),)),
    Case("cast to bool", lambda a: T.cast(a, "bool"), (np.array([1.7, -1.7, 0.0]),)),
    Case("cast to float32", lambda a: T.cast(a, "float32"), _X),
    Case(
        "complex", lambda a, b: abs(T.complex(a, b)) + T.real(T.complex(a, b)), _values((3,), (3,))
    ),
]

_REDUCED = ("sum", "prod", "mean", "max", "min", "argmax", "argmin", "var", "std")
REDUCTIONS = [
    *(
        Case(f"{name} axis {axis}", lambda x, n=name, k=axis: getattr(T, n)(x, axis=k), _X)
        for name in _REDUCED
        for axis in (None, 0, 1)
    ),
    *(
        Case(
            f"{name} of {dtype}",
            lambda x, n=name: getattr(T, n)(x, axis=0),
            _values((5, 2), dtype=dtype),
        )
        for name in ("sum", "prod", "max", "mean", "argmax")
        for dtype in ("float32", "int8", "int32", "uint8")
    ),
    *(
        Case(
            f"{name} of bool",
            lambda x, n=name: getattr(T, n)(x, axis=0),
            _values((5, 2), dtype="bool"),
        )
        for name in ("all", "any", "sum")
    ),
    Case(
        "max with NaN", lambda x: [T.max(x), T.argmax(x), T.sum(x)], (np.array([1.0, np.nan, 2.0]),)
    ),
    Case("sum of none", lambda x: [x.sum(), x.prod(), x.sum(axis=1)], (np.zeros((3, 0)),)),
    Case("two axes", lambda x: [x.sum(axis=(0, 2)), x.argmax(axis=2)], _values((2, 3, 4))),
    Case("cumsum", lambda x: [T.cumsum(x, axis=1), T.cumprod(x), T.cumsum(x)], _X),
    Case("norm", lambda x: x.norm(2), _X),
]

PRODUCTS = [
    Case("matrices", T.dot, _values((3, 4), (4, 5))),
    Case("matrix and vector", T.dot, _values((3, 4), (4,))),
    Case("vector and matrix", T.dot, _values((3,), (3, 4))),
    Case("vectors", T.dot, _values((5,), (5,))),
    Case("matrices of float32", T.dot, _values((3, 4), (4, 5), dtype="float32")),
    Case("matrices of int32", T.dot, _values((3, 4), (4, 5), dtype="int32")),
    Case("mixed dtypes", T.dot, _values((3, 4), dtype="int32") + _values((4, 5), dtype="float32")),
    Case("none in the middle", T.dot, _values((3, 0), (0, 5))),
    Case("outer", T.outer, _values((3,), (4,))),
    Case("batched_dot", T.batched_dot, _values((2, 3, 4), (2, 4, 5))),
    Case(
        "tensordot",
        lambda a, b: T.tensordot(a, b, axes=[[1, 2], [0, 1]]),
        _values((2, 3, 4), (3, 4, 5)),
    ),
    Case("matmul", lambda a, b: a @ b, _values((2, 3, 4), (4, 5))),
    Case("matmul of stacks", lambda a, b: a @ b, _values((2, 3, 4), (2, 4, 5))),
    Case("inverse", lambda a: T.nlinalg.matrix_inverse(a @ a.T + T.eye(3)), _X),
    Case("det", lambda a: T.nlinalg.det(a @ a.T + T.eye(3)), _X),
    Case("cholesky", lambda a: T.slinalg.cholesky(a @ a.T + T.eye(3)), _X),
    Case("solve", lambda a, b: T.slinalg.solve(a @ a.T + T.eye(3), b), _values((3, 4), (3, 2))),
]

_INDEX = np.array([2, 0, -1, 0])
INDEXING = [
    Case("number", lambda x: [x[1], x[-1], x[:, 2]], _X),
    Case("slices", lambda x: [x[1:], x[:-1], x[::-1], x[::2, 1:3], x[5:], x[2:0:-1]], _X),
    Case("new dimension", lambda x: x[:, None, 1], _X),
    Case("symbolic number", lambda x, i: [x[i], x[:, -i], x[i, 1:]], (*_X, np.array(2))),
    Case("symbolic slice", lambda x, i: [x[i:], x[:i], x[i : i + 2], x[i:9:2]], (*_V, np.array(2))),
    Case("symbolic slice past the end", lambda x, i: x[i : i + 3], (*_V, np.array(4))),
    Case("negative symbolic slice", lambda x, i: [x[i:], x[:i], x[::i]], (*_V, np.array(-2))),
    Case("set number", lambda x, y: T.set_subtensor(x[1], y), (*_X, np.arange(4.0))),
    Case("inc slice", lambda x, y: T.inc_subtensor(x[1:, ::2], y), (*_X, np.array(2.0))),
    Case("inc reversed", lambda x, y: T.inc_subtensor(x[::-1], y), (*_X, np.arange(4.0))),
    Case(
        "set symbolic",
        lambda x, y, i: T.set_subtensor(x[i], y),
        (*_X, np.arange(4.0), np.array(-1)),
    ),
    Case(
        "set symbolic slice",
        lambda x, y, i: T.set_subtensor(x[i : i + 2], y),
        (*_V, np.array([7.0, 8.0]), np.array(3)),
    ),
    Case("inc symbolic slice", lambda x, i: T.inc_subtensor(x[i:], 1.0), (*_V, np.array(3))),
    Case("set none", lambda x: T.set_subtensor(x[5:], 1.0), _X),
    Case("rows", lambda x, i: x[i], (*_X, _INDEX)),
    Case("rows and columns", lambda x, i: x[i, i], (*_X, _INDEX)),
    Case("columns", lambda x, i: x[:, i], (*_X, _INDEX)),
    Case("rows of matrix of numbers", lambda x, i: x[i], (*_X, np.array([[0, 1], [2, -3]]))),
    Case("add to rows", lambda x, i: T.inc_subtensor(x[i], 1.5), (*_X, _INDEX)),
    Case("add rows", lambda x, y, i: T.inc_subtensor(x[i], y), (*_values((3, 2, 4), (4,)), _INDEX)),
    Case(
        "add to table of rows",
        lambda x, i: T.inc_subtensor(x[i], 1.5),
        (*_V, np.array([[0, 5, 2], [2, 2, -1]])),
    ),
    Case("add to no rows", lambda x, i: T.inc_subtensor(x[i], 1.5), (np.ones((0, 2)), _INDEX[:0])),
    Case("set rows", lambda x, i, y: T.set_subtensor(x[i], y), (*_X, np.array([2, 0]), np.ones(4))),
    Case("add to elements", lambda x, i: T.inc_subtensor(x[i, i], 1.5), (*_X, _INDEX)),
    Case("mask", lambda x: x[x > 0], _X, on_host=True),
    Case("nonzero", lambda x: T.nonzero(x > 0), _X, on_host=True),
    Case("take", lambda x, i: T.take(x, i, axis=1), (*_X, _INDEX)),
    Case("diagonal", lambda x: [T.diag(x), T.diag(T.diag(x))], _values((3, 3))),
    Case("one of each row", lambda x, i: x[T.arange(x.shape[0]), i], (*_X, np.array([1, 0, 3]))),
]

SHAPES = [
    Case("shape", lambda x: [x.shape, x.shape[0] * 2, x.size], _X),
    Case("reshape", lambda x: [x.reshape((4, 3)), x.reshape((2, -1)), x.flatten()], _X),
    Case("reshape symbolic", lambda x, n: x.reshape((n, -1)), (*_X, np.array(6))),
    Case("reshape by vector", lambda x, s: x.reshape(s, ndim=2), (*_X, np.array([6, 2]))),
    Case(
        "zeros",
        lambda x, n: [T.zeros((n, 3)), T.ones_like(x), T.alloc(x[0], n, 4)],
        (*_X, np.array(30)),
    ),
    Case("arange", lambda n: [T.arange(n), T.arange(2, n, 3), T.arange(n) * 1.5], (np.array(100),)),
    Case("arange of data", lambda x: T.arange(x.sum().astype("int64")), (np.array([2.0, 3.0]),)),
    Case("eye", lambda n: T.eye(n, n + 1, 1), (np.array(3),)),
    Case(
        "join",
        lambda a, b: [T.concatenate([a, b], axis=1), T.stack([a, b])],
        _values((2, 3), (2, 3)),
    ),
    Case(
        "join of dtypes",
        lambda a, b: T.concatenate([a, b]),
        _values((2,), dtype="int32") + _values((3,)),
    ),
    Case("split", lambda x: list(T.split(x, [1, 3], 2, axis=1)), _X),
    Case("dimshuffle", lambda x: [x.dimshuffle(1, "x", 0), x.T, x.dimshuffle("x", 0, 1)], _X),
    Case("squeeze", lambda x: T.addbroadcast(x, 1).dimshuffle(0), _values((3, 1))),
    Case("repeat", lambda x: [T.repeat(x, 3, axis=0), T.repeat(x, 2)], _X),
    Case("repeat symbolic", lambda x, n: T.repeat(x, n, axis=1), (*_X, np.array(3))),
    Case("tile", lambda x: T.tile(x, (2, 3)), _X),
    Case("roll", lambda x: T.roll(x, 2, axis=1), _X),
    Case("tri", lambda x: [T.tril(x), T.triu(x)], _X),
    Case("vector of numbers", lambda x: T.stack([x.sum(), x.max()]), _X),
    Case("sort", lambda x: [T.sort(x, axis=0), T.argsort(x), T.sort(x, axis=None)], _X),
    Case(
        "largest",
        lambda x: [*_largest(x, 2), *_largest(x, -3, axis=0), *_largest(x, 4)],
        (_values((3, 4))[0].round(2),),
    ),
    Case(
        "largest of integers", lambda x: _largest(x, 3), (np.array([[5, -2, 9, 1], [0, 7, 3, 8]]),)
    ),
    Case(
        "largest next to NaN", lambda x: _largest(x, 2)[0], (np.array([1.0, np.nan, 3.0, np.inf]),)
    ),
    Case("Fourier transforms", lambda x: _transforms(x, None, False), _values((2, 8))),
    Case(
        "Fourier transforms in planes", lambda x: _transforms(x, "ortho", True), _values((2, 6, 5))
    ),
    Case("Fourier transforms, float32", lambda x: fft.rfft(x), _values((3, 6), dtype="float32")),
    Case("specify shape", lambda x: T.specify_shape(x, (3, 4)) * 2, _X),
]

ROWS = [
    Case("softmax", lambda x: [T.nnet.softmax(x), T.nnet.logsoftmax(x)], _X),
    Case(
        "crossentropy",
        lambda x, i: T.nnet.categorical_crossentropy(T.nnet.softmax(x), i).mean(),
        (*_X, np.array([1, 0, 3])),
    ),
    Case("relu", lambda x: [T.nnet.relu(x), T.nnet.elu(x), T.nnet.hard_sigmoid(x)], _X),
    Case(
        "connectionist temporal classification",
        lambda rates, labels, lengths: _cost_and_gradient(ctc, rates, labels, lengths),
        (
            *_values((6, 2, 5), dtype="float32"),
            np.array([[1, 2], [3, -1]], "int32"),
            np.array([6, 5], "int32"),
        ),
    ),
    Case("binary crossentropy", lambda p: T.nnet.binary_crossentropy(p, 0.3), (np.abs(_UNIT[0]),)),
]

_SQUARE = np.random.default_rng(7).normal(size=(4, 4)) + 3 * np.eye(4)
_DEFINITE = _SQUARE @ _SQUARE.T
_RIGHT = np.random.default_rng(8).normal(size=(4, 3))
# what stands in the triangle that nobody reads
_UNREAD = np.triu(np.ones((4, 4)), 1)


def _triangle_cases(name: str, build: Callable[..., Any], *others: Any) -> list[Case]:
    """An operation on a matrix of which the other triangle, then this one, is another's."""
    return [
        Case(f"{name}, lower", lambda x, *y: build(x, True, *y), (_DEFINITE + _UNREAD, *others)),
        Case(f"{name}, upper", lambda x, *y: build(x, False, *y), (_DEFINITE + _UNREAD.T, *others)),
    ]


def _solve(form: str) -> Callable[..., Any]:
    return lambda x, lower, right: linalg.solve(x, right, assume_a=form, lower=lower)


MATRICES = [
    *_triangle_cases("factor", lambda x, lower: linalg.cholesky(x, lower=lower)),
    *_triangle_cases("eigenvalues", lambda x, lower: linalg.eigh(x, lower=lower)[0]),
    *_triangle_cases("vectors", lambda x, lower: abs(linalg.eigh(x, lower=lower)[1])),
    *_triangle_cases("solution of a symmetric system", _solve("sym"), _RIGHT),
    *_triangle_cases("solution of a Hermitian system", _solve("her"), _RIGHT),
    Case("no factor", linalg.cholesky, (-_DEFINITE,)),
    Case("factors of a stack", linalg.cholesky, (np.stack([_DEFINITE, 2 * _DEFINITE]),)),
    Case("solution", lambda x, b: linalg.solve(x, b), (_SQUARE, _RIGHT)),
    Case(
        "solution, one column", lambda x, b: linalg.solve(x, b, b_ndim=1), (_SQUARE, _RIGHT[:, 0])
    ),
    Case("no solution", lambda x: linalg.solve(x, x), (np.ones((3, 3)),)),
    Case(
        "solution of a definite system",
        lambda x, b: linalg.solve(x, b, assume_a="pos"),
        (_DEFINITE, _RIGHT),
    ),
    Case(
        "solution of a system of three diagonals",
        lambda x, b: linalg.solve(x, b, assume_a="tridiagonal"),
        (np.diag(np.arange(4.0)) + np.eye(4, k=1) + 2 * np.eye(4, k=-1), _RIGHT),
    ),
    *[
        Case(f"QR, {mode}", lambda x, mode=mode: T.nlinalg.qr(x, mode), _X)
        for mode in ("reduced", "complete", "r")
    ],
    Case(
        "QR with pivots",
        lambda x: linalg.qr(x, mode="economic", pivoting=True),
        _X,
        on_host=True,
    ),
]

POSITIONS = [
    Case("diagonal", lambda x: T.fill_diagonal(x, 2.0), _X),
    Case("diagonal of a tall matrix", lambda x: T.fill_diagonal(x, 2.0), _values((5, 3))),
    Case("diagonal of a cube", lambda x: T.fill_diagonal(x, 2.0), _values((3, 3, 3))),
    Case(
        "diagonals",
        lambda x, k: [T.fill_diagonal_offset(x, 2.0, offset) for offset in (k, -1, 2)],
        (*_X, np.array(1)),
    ),
    *[
        Case(
            f"one number, {mode}, {order}",
            lambda i, j, mode=mode, order=order: T.extra_ops.ravel_multi_index(
                (i, j), (4, 5), mode=mode, order=order
            ),
            (np.array([0, 3, 2]), np.array([4, 1, 0]))
            if mode == "raise"
            else ([0, 7, -1], [4, -6, 9]),
        )
        for mode in ("raise", "wrap", "clip")
        for order in "CF"
    ],
    *[
        Case(
            f"one for each dimension, {order}",
            lambda i, order=order: T.extra_ops.unravel_index(i, (4, 5, 2), order=order),
            (np.array([0, 39, 7, 22]),),
        )
        for order in "CF"
    ],
    *[
        Case(
            f"places in order, {side}",
            lambda x, y, side=side: T.extra_ops.searchsorted(x, y, side=side),
            (np.array([1.0, 2, 2, 4]), np.array([[0.0, 2, 9], [4, 2.5, np.nan]])),
        )
        for side in ("left", "right")
    ],
    Case(
        "places by a permutation",
        lambda x, y, order: T.extra_ops.searchsorted(x, y, sorter=order),
        (np.array([4, 2, 1, 3]), np.array([0.0, 2.5, 9]), np.array([2, 1, 3, 0])),
    ),
    Case("repeats of a narrow dtype", T.repeat, (np.arange(100.0), np.full(100, 3, "uint8"))),
]

GROUPS = {
    "matrices": MATRICES,
    "positions": POSITIONS,
    "elementwise": ELEMENTWISE,
    "pairs": PAIRS,
    "reductions": REDUCTIONS,
    "products": PRODUCTS,
    "indexing": INDEXING,
    "shapes": SHAPES,
    "rows": ROWS,
}
