"""Operations element by element, and casts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.random_steps.values import (
    Applied,
    Chooser,
    Rule,
    Value,
    alike,
    floating,
    whole,
)

# of one floating array: smooth almost everywhere, and bounded where loops would grow
FLOATING: dict[str, Callable] = {
    "tanh": T.tanh,
    "sigmoid": T.nnet.sigmoid,
    "relu": T.nnet.relu,
    "square": lambda x: T.sqr(T.tanh(x)),
    "cube": lambda x: T.tanh(x) ** 3,
    "power": lambda x: abs(x) ** 1.5,
    "exp": lambda x: T.exp(-abs(x)),
    "log1p": lambda x: T.log1p(abs(x)),
    "sqrt": lambda x: T.sqrt(x * x + 0.5),
    "softplus": T.nnet.softplus,
    "sin": T.sin,
    "cos": lambda x: x * T.cos(x),
    "floor": lambda x: T.floor(3 * x),
    "round": lambda x: T.round(2 * x),
    "sign": lambda x: x * T.sgn(x),
    "clip": lambda x: T.clip(x, -0.5, 0.5),
    "leaky": lambda x: T.switch(x > 0, x, 0.1 * x),
    "log of a chosen one": lambda x: T.switch(x > 0, T.log(T.switch(x > 0, x, 1)), 0.5 * x),
    "where NaN": lambda x: T.where(T.isnan(T.log(x)), x, T.log(abs(x) + 0.3)),
    "erf": T.erf,
    "expm1": lambda x: T.expm1(T.tanh(x)),
    "log of sigmoid": lambda x: T.log(T.nnet.sigmoid(x)),
    "log of the rest": lambda x: T.log(1 - T.nnet.sigmoid(x)),
    "log of exp": lambda x: T.log(T.exp(x) + 1),
    "inverse": lambda x: 1 / (2 + x * x),
    "elu": T.nnet.elu,
    "hard sigmoid": T.nnet.hard_sigmoid,
    "arctan": T.arctan,
    "cosh": lambda x: T.cosh(T.tanh(x)),
    "gammaln": lambda x: T.gammaln(1.2 + abs(x)),
    "psi": lambda x: T.psi(2 + abs(x)),
    "modulo": lambda x: T.mod(x, np.float32(0.7)),
    "gradient clipped": lambda x: theano.gradient.grad_clip(x, -10, 10),
    "half constant": lambda x: 0.5 * theano.gradient.disconnected_grad(x) + 0.5 * x,
    "without what is zero": lambda x: x - x * 0 + T.zeros_like(x),
    "cancelled": lambda x: x * x / T.maximum(x * x, 1e-2),
    "own gradient": lambda x: theano.grad(T.sum(T.sin(x) * T.tanh(x)), x),
}

# of two floating arrays that broadcast
FLOATING_PAIRS: dict[str, Callable] = {
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: x - y,
    "product": lambda x, y: x * T.tanh(y),
    "quotient": lambda x, y: x / (1.5 + T.tanh(y)),
    "maximum": T.maximum,
    "minimum": T.minimum,
    "blend": lambda x, y: T.nnet.sigmoid(x) * x + (1 - T.nnet.sigmoid(x)) * y,
    "greater": lambda x, y: T.switch(x > y, x, 0.5 * y),
    "where less": lambda x, y: T.switch(T.lt(x, y), 0.0, x * y),
    "hypotenuse": lambda x, y: T.sqrt(x * x + y * y + 0.1),
    "angle": lambda x, y: T.arctan2(x, 1 + y * y),
    "scaled sum": lambda x, y: 0.3 * x - 1.7 * y + 0.1,
    "power of two": lambda x, y: (1.1 + T.tanh(x)) ** T.tanh(y),
    "log-sum-exp": lambda x, y: T.log(T.exp(x) + T.exp(y)),
}


def _of_bits(operation: Callable) -> Callable:
    """An operation on two arrays of one kind: PyTensor 3.0 takes no boolean next to an integer."""

    def build(x, y):
        if x.dtype == "bool" and y.dtype != "bool":
            x = T.cast(x, y.dtype)
        if y.dtype == "bool" and x.dtype != "bool":
            y = T.cast(y, x.dtype)
        return operation(x, y)

    return build


# of two arrays of integers or booleans that broadcast
WHOLE_PAIRS: dict[str, Callable] = {
    "whole sum": lambda x, y: x + y,
    "whole product": lambda x, y: x * y,
    "whole maximum": T.maximum,
    "xor": _of_bits(T.bitwise_xor),
    "and": _of_bits(T.bitwise_and),
    "or": _of_bits(T.bitwise_or),
    "less": T.lt,
    "equal": T.eq,
    "whole quotient": lambda x, y: x // (T.cast(y if y.dtype == "bool" else y % 3 + 1, "int8") + 1),
    "remainder": lambda x, y: T.cast(x, "int32") % (abs(T.cast(y, "int32")) + 2),
    "true quotient": lambda x, y: x / (abs(T.cast(y, "int32")) + 1),
}

# of a floating array and integers of its shape
MIXED: dict[str, Callable] = {
    "times whole": lambda x, k: x * k,
    "plus whole": lambda x, k: x + k,
    "chosen": lambda x, k: T.switch(k, x, -x),
    "chosen if positive": lambda x, k: T.switch(k > 0, x, 0.5 * x),
    "where none": lambda x, k: T.switch(T.eq(k, 0), 0, x),
}


def _of_one(f: Callable) -> Callable[[Chooser], Applied | None]:
    def draw(choose: Chooser) -> Applied | None:
        x = choose.value(floating)
        return None if x is None else Applied((x,), x.shape, f)

    return draw


def _of_pair(f: Callable, fits: Callable[[Value], bool]) -> Callable[[Chooser], Applied | None]:
    def draw(choose: Chooser) -> Applied | None:
        pair = choose.pair(fits, lambda x, y: fits(y) and _broadcast(x, y) is not None)
        if pair is None:
            return None
        x, y = pair if choose.chance(0.5) else pair[::-1]
        shape = _broadcast(x, y)
        return None if shape is None else Applied((x, y), shape, f)

    return draw


def _broadcast(x: Value, y: Value) -> tuple[int, ...] | None:
    if 1 in x.shape + y.shape:
        # whether a length of 1 is stretched must be known of the types
        return None
    try:
        return np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return None


def _mixed(f: Callable) -> Callable[[Chooser], Applied | None]:
    def draw(choose: Chooser) -> Applied | None:
        pair = choose.pair(floating, lambda x, k: whole(k) and k.shape == x.shape)
        return None if pair is None else Applied(pair, pair[0].shape, f)

    return draw


def _cast(dtype: str) -> Callable[[Chooser], Applied | None]:
    def build(x):
        if x.dtype.startswith("float") and not dtype.startswith("float"):
            x = T.clip(x, 0 if dtype.startswith("u") else -100, 100)
        return T.cast(x, dtype)

    def draw(choose: Chooser) -> Applied | None:
        x = choose.value(lambda value: True)
        return None if x is None else Applied((x,), x.shape, build)

    return draw


def _compared(choose: Chooser) -> Applied | None:
    x = choose.value(floating)
    compare = choose.one((T.lt, T.ge, T.gt, T.le, T.neq))
    return None if x is None else Applied((x,), x.shape, lambda x: compare(x, 0.1))


def _through_complex(choose: Chooser) -> Applied | None:
    """Complex numbers have neither gradients nor directional derivatives."""
    pair = choose.pair(lambda value: value.dtype == "float64", alike)

    def build(x, y):
        a, b = map(theano.gradient.disconnected_grad, (x, y))
        product = T.complex(a, b) * T.complex(b, T.tanh(a))
        return theano.gradient.disconnected_grad(T.real(product)) + x

    return None if pair is None else Applied(pair, pair[0].shape, build)


def _through_half(choose: Chooser) -> Applied | None:
    """Numbers of which float16 has all digits."""
    x = choose.value(floating)

    def build(x):
        return T.cast(T.cast(T.round(8 * T.clip(x, -2, 2)) / 8, "float16"), x.dtype)

    return None if x is None else Applied((x,), x.shape, build)


RULES = (
    *(Rule(name, _of_one(f), 0.35) for name, f in FLOATING.items()),
    *(Rule(name, _of_pair(f, floating), 0.6) for name, f in FLOATING_PAIRS.items()),
    *(Rule(name, _of_pair(f, whole), 0.35) for name, f in WHOLE_PAIRS.items()),
    *(Rule(name, _mixed(f), 0.15) for name, f in MIXED.items()),
    *(Rule(f"to {d}", _cast(d), 0.15) for d in ("float64", "float32", "int64", "int8", "uint8")),
    Rule("compared", _compared, 0.6),
    Rule("complex", _through_complex, 0.4),
    Rule("half", _through_half, 0.4),
)
