"""Smooth functions of floating values, and where they are cut off."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import theano.tensor as T
from tests_scan_grad.differential import dual
from tests_scan_grad.differential.dual import Dual
from tests_scan_grad.differential.operation import (
    Operation,
    Trace,
    floats,
    of_kinds,
    plain,
    reading,
)
from tests_scan_grad.differential.programs import Value


def _smooth(f, slope, curvature) -> Callable:
    def run(trace: Trace, x: Dual) -> Dual:
        return dual.unary(x, f(x.value), slope(x.value), curvature(x.value))

    return run


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _clipped(trace: Trace, x: Dual) -> Dual:
    trace.branch(x.value - 0.5)
    trace.branch(x.value + 0.5)
    inside = np.abs(x.value) < 0.5
    _, *derivatives = x.parts
    return Dual(
        x.dtype, (np.clip(x.value, -0.5, 0.5), *(np.where(inside, p, 0) for p in derivatives))
    )


def _floor_to_integer(trace: Trace, x: Dual) -> Dual:
    scaled = 3 * x.value
    trace.branch(scaled - np.round(scaled))
    return dual.constant(np.floor(scaled).astype("int64"), "int64")


def _softmax(trace: Trace, x: Dual) -> Dual:
    shifted = dual.subtract(x, dual.constant(x.value.max(axis=-1, keepdims=True), x.dtype))
    e = np.exp(shifted.value)
    powers = dual.unary(shifted, e, e, e)
    total = dual.linear(lambda part: part.sum(axis=-1, keepdims=True), powers)
    return dual.multiply(powers, dual.reciprocal(total))


FLOATING = {
    "tanh": Operation(
        1,
        floats,
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
        floats,
        T.nnet.sigmoid,
        _smooth(
            _sigmoid,
            lambda x: _sigmoid(x) * (1 - _sigmoid(x)),
            lambda x: _sigmoid(x) * (1 - _sigmoid(x)) * (1 - 2 * _sigmoid(x)),
        ),
    ),
    "sin": Operation(1, floats, T.sin, _smooth(np.sin, np.cos, lambda x: -np.sin(x))),
    "square": Operation(
        1, floats, T.sqr, _smooth(np.square, lambda x: 2 * x, lambda x: np.full(x.shape, 2.0))
    ),
    "bell": Operation(
        1,
        floats,
        lambda x: T.exp(-T.sqr(x)),
        _smooth(
            lambda x: np.exp(-(x**2)),
            lambda x: -2 * x * np.exp(-(x**2)),
            lambda x: (4 * x**2 - 2) * np.exp(-(x**2)),
        ),
    ),
    "logarithm": Operation(
        1,
        floats,
        lambda x: T.log(T.sqr(x) + T.constant(np.array(1, x.dtype))),
        _smooth(
            lambda x: np.log1p(x**2),
            lambda x: 2 * x / (1 + x**2),
            lambda x: 2 * (1 - x**2) / (1 + x**2) ** 2,
        ),
    ),
    "root": Operation(
        1,
        floats,
        lambda x: T.sqrt(T.sqr(x) + T.constant(np.array(1, x.dtype))),
        _smooth(
            lambda x: np.sqrt(1 + x**2),
            lambda x: x / np.sqrt(1 + x**2),
            lambda x: (1 + x**2) ** -1.5,
        ),
    ),
    "softplus": Operation(
        1,
        floats,
        T.nnet.softplus,
        _smooth(lambda x: np.log1p(np.exp(x)), _sigmoid, lambda x: _sigmoid(x) * (1 - _sigmoid(x))),
    ),
    "divide": Operation(
        2,
        floats,
        lambda x, y: x / (T.sqr(y) + T.constant(np.array(1, y.dtype))),
        plain(
            lambda x, y: dual.multiply(
                x,
                dual.reciprocal(dual.add(dual.multiply(y, y), dual.constant(np.ones(()), y.dtype))),
            )
        ),
    ),
    "clip": Operation(
        1,
        floats,
        lambda x: T.clip(x, np.array(-0.5, x.dtype), np.array(0.5, x.dtype)),
        _clipped,
    ),
    "either way": Operation(
        1,
        floats,
        lambda x: T.switch(T.lt(x, T.constant(np.array(0, x.dtype))), x, x),
        reading(lambda x: x),
    ),
    "softmax": Operation(
        1, of_kinds("matrix", result="matrix", floating=True), T.nnet.softmax, _softmax
    ),
    "mean of rows": Operation(
        1,
        of_kinds("matrix", result="vector", floating=True),
        lambda x: x.mean(axis=0),
        reading(lambda x: x.mean(axis=0)),
    ),
    "to an integer": Operation(
        1,
        lambda x: Value(x.kind, "int64") if x.is_floating else None,
        lambda x: T.cast(T.floor(T.constant(np.array(3, x.dtype)) * x), "int64"),
        _floor_to_integer,
        0.5,
    ),
}
