"""Reductions, what goes along an axis, parts of arrays read and written, arrangements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import theano.tensor as T
from tests_scan_grad.random_steps.values import (
    Applied,
    Chooser,
    Rule,
    Value,
    array,
    counted,
    floating,
    matrix,
    shape_of,
    vector,
)

REDUCTIONS: dict[str, Callable] = {
    "sum over": T.sum,
    "mean over": T.mean,
    "maximum over": T.max,
    "minimum over": T.min,
    "product over": lambda x, axis, keepdims: T.prod(
        T.tanh(x) + 0.1, axis=axis, keepdims=keepdims, no_zeros_in_input=True
    ),
    "variance over": T.var,
    "argmax over": T.argmax,
}

# of an array and one of its axes, to an array of the same shape
ALONG_AXIS: dict[str, Callable] = {
    "softmax": lambda x, axis: T.exp(x) / T.sum(T.exp(x), axis=axis, keepdims=True),
    "log-softmax": lambda x, axis: x - T.log(T.sum(T.exp(x), axis=axis, keepdims=True)),
    "sorted": lambda x, axis: T.sort(x, axis=axis),
    "order": lambda x, axis: T.argsort(x, axis=axis),
    "cumulative sum": lambda x, axis: T.cumsum(x, axis=axis) / 3,
    "cumulative product": lambda x, axis: T.cumprod(T.tanh(x) + 0.5, axis=axis),
    "below maximum": lambda x, axis: x - T.max(x, axis=axis, keepdims=True),
    "normalized": lambda x, axis: (
        (x - x.mean(axis=axis, keepdims=True)) / T.sqrt(x.var(axis=axis, keepdims=True) + 0.1)
    ),
    "rolled": lambda x, axis: T.roll(x, 1, axis=axis),
    "only maximum": lambda x, axis: T.eq(x, T.max(x, axis=axis, keepdims=True)) * x,
}


def _reduced(f: Callable) -> Callable[[Chooser], Applied | None]:
    def draw(choose: Chooser) -> Applied | None:
        x = choose.value(array)
        if x is None:
            return None
        axis, keep = choose.one([None, *range(-len(x.shape), len(x.shape))]), choose.chance(0.3)
        shape = shape_of(lambda zeros: np.sum(zeros, axis=axis, keepdims=keep), x)
        return Applied((x,), shape, lambda x: f(x, axis=axis, keepdims=keep))

    return draw


def _along_axis(f: Callable) -> Callable[[Chooser], Applied | None]:
    def draw(choose: Chooser) -> Applied | None:
        x = choose.value(array)
        if x is None:
            return None
        axis = choose.random.randrange(len(x.shape))
        return Applied((x,), x.shape, lambda x: f(x, axis))

    return draw


def _index(choose: Chooser, shape: tuple[int, ...], axes_added: bool) -> tuple:
    """A basic index of the first dimensions."""
    index: list[Any] = []
    for length in shape[: choose.random.randint(1, len(shape))]:
        kind = choose.random.random()
        bounds = [None, *range(-length - 1, length + 2)]
        if kind < 0.25 and length:
            index.append(choose.random.randrange(-length, length))
        elif kind < 0.35 and axes_added:
            index += [None, slice(None)]
        else:
            step = choose.one((None, None, 1, -1, 2, -2))
            index.append(slice(choose.one(bounds), choose.one(bounds), step))
    return tuple(index)


def _part(choose: Chooser) -> Applied | None:
    x = choose.value(lambda value: bool(value.shape))
    if x is None:
        return None
    index = _index(choose, x.shape, axes_added=True)
    shape = shape_of(lambda zeros: zeros[index], x)
    if 0 in shape and choose.chance(0.9):
        return None
    return Applied((x,), shape, lambda x: x[index])


def _part_changed(choose: Chooser) -> Applied | None:
    x = choose.value(lambda value: bool(value.shape) and 0 not in value.shape)
    if x is None:
        return None
    index = _index(choose, x.shape, axes_added=False)
    shape = shape_of(lambda zeros: zeros[index], x)
    change = choose.one((T.set_subtensor, T.inc_subtensor))
    if x.dtype == "bool":
        change = T.set_subtensor
    y = choose.value(lambda value: value.dtype == x.dtype and value.shape in (shape, ()))
    kind = choose.random.randrange(4)
    if y is None or kind == 0:
        return Applied((x,), x.shape, lambda x: change(x[index], 1))
    if kind == 1:
        return Applied((x, y), x.shape, lambda x, y: change(T.zeros_like(x)[index], y))
    return Applied((x, y), x.shape, lambda x, y: change(x[index], y))


def _within(k, length: int):
    return T.cast(k, "int64") % length


# of an array, a number and the length that it stays below; with the shape of the result
BY_NUMBER: tuple[tuple[bool, Callable], ...] = (
    (False, lambda x, k, n: x[_within(k, n)]),
    (False, lambda x, k, n: x[: _within(k, n) + 1].sum(axis=0)),
    (False, lambda x, k, n: x[_within(k, n) :].sum(axis=0)),
    (False, lambda x, k, n: x[-1 - _within(k, n)]),
    (True, lambda x, k, n: T.set_subtensor(x[_within(k, n) :], 0.5)),
    (True, lambda x, k, n: T.inc_subtensor(x[: _within(k, n)], x[0])),
)


def _by_number(choose: Chooser) -> Applied | None:
    pair = choose.pair(array, lambda x, k: counted(k) and k.shape == ())
    if pair is None:
        return None
    whole_shape, f = choose.one(BY_NUMBER)
    length = pair[0].shape[0]
    shape = pair[0].shape if whole_shape else pair[0].shape[1:]
    return Applied(pair, shape, lambda x, k: f(x, k, length))


def _at_places(choose: Chooser) -> Applied | None:
    pair = choose.pair(array, lambda x, k: counted(k) and len(k.shape) in (1, 2))
    if pair is None:
        return None
    x, k = pair
    rows, kind = x.shape[0], choose.random.randrange(4)
    if len(x.shape) == 1 or kind < 2:
        return Applied(pair, k.shape + x.shape[1:], lambda x, k: x[_within(k, rows)])
    columns, rest = x.shape[1], x.shape[2:]
    if kind == 2:
        return Applied(pair, (rows, *k.shape, *rest), lambda x, k: x[:, _within(k, columns)])
    return Applied(
        pair, k.shape + rest, lambda x, k: x[_within(k, rows), _within(2 * k + 1, columns)]
    )


def _places_changed(choose: Chooser) -> Applied | None:
    pair = choose.pair(array, lambda x, k: counted(k) and len(k.shape) == 1)
    if pair is None:
        return None
    x, k = pair
    rows = x.shape[0]
    shape = k.shape + x.shape[1:]
    y = choose.value(lambda value: value.dtype == x.dtype and value.shape == shape)
    if y is not None and choose.chance(0.7):
        return Applied((x, k, y), x.shape, lambda x, k, y: T.inc_subtensor(x[_within(k, rows)], y))
    quarter = np.float32(0.25)
    if len(x.shape) == 1 or choose.chance(0.5):
        return Applied(pair, x.shape, lambda x, k: T.inc_subtensor(x[_within(k, rows)], quarter))
    columns = x.shape[1]
    return Applied(pair, x.shape, lambda x, k: T.inc_subtensor(x[:, _within(k, columns)], quarter))


# of an array and a mask of its shape or of its rows
BY_MASK: tuple[Callable, ...] = (
    lambda x, m: T.set_subtensor(x[m], 0.3),
    lambda x, m: T.inc_subtensor(x[m], 0.5 * x[m]),
    lambda x, m: T.set_subtensor(x[m.nonzero()], 0),
)


def _by_mask(choose: Chooser) -> Applied | None:
    pair = choose.pair(array, lambda x, m: m.dtype == "bool" and m.shape in (x.shape, x.shape[:1]))
    if pair is None:
        return None
    x, m = pair
    if choose.chance(0.3):
        shape = x.shape[1:] if m.shape == x.shape[:1] else ()
        return Applied(pair, shape, lambda x, m: x[m].sum(axis=0))
    return Applied(pair, x.shape, choose.one(BY_MASK))


def _joined(choose: Chooser) -> Applied | None:
    x = choose.value(array)
    if x is None:
        return None
    axis = choose.random.randrange(len(x.shape))

    def fits(y: Value) -> bool:
        others = len(y.shape) == len(x.shape) and all(
            one == other or k == axis
            for k, (one, other) in enumerate(zip(x.shape, y.shape, strict=True))
        )
        return array(y) and others and x.shape[axis] + y.shape[axis] <= 6

    y = choose.value(fits)
    if y is None:
        return None
    shape = shape_of(lambda a, b: np.concatenate([a, b], axis=axis), x, y)
    return Applied((x, y), shape, lambda x, y: T.concatenate([x, y], axis=axis))


def _stacked(choose: Chooser) -> Applied | None:
    pair = choose.pair(
        lambda x: floating(x) and len(x.shape) < 3, lambda x, y: floating(y) and x.shape == y.shape
    )
    return (
        None if pair is None else Applied(pair, (2, *pair[0].shape), lambda x, y: T.stack([x, y]))
    )


def _split(choose: Chooser) -> Applied | None:
    x = choose.value(array)
    if x is None or x.shape[0] < 2:
        return None
    first = choose.random.randint(1, x.shape[0] - 1)
    sizes, which = [first, x.shape[0] - first], choose.random.randrange(2)
    return Applied((x,), (sizes[which], *x.shape[1:]), lambda x: T.split(x, sizes, 2)[which])


def _reshaped(choose: Chooser) -> Applied | None:
    x = choose.value(array)
    if x is None:
        return None
    size = int(np.prod(x.shape))
    if size % 2 == 0 and choose.chance(0.4):
        return Applied((x,), (2, size // 2), lambda x: x.reshape((2, -1)))
    if choose.chance(0.5):
        return Applied((x,), (size,), lambda x: x.flatten())
    return Applied((x,), x.shape, lambda x: T.tanh(x.flatten()).reshape(x.shape))


def _reordered(choose: Chooser) -> Applied | None:
    x = choose.value(lambda value: len(value.shape) >= 2)
    if x is None:
        return None
    order = choose.random.sample(range(len(x.shape)), len(x.shape))
    shape = tuple(x.shape[axis] for axis in order)
    return Applied((x,), shape, lambda x: x.dimshuffle(*order))


def _repeated(choose: Chooser) -> Applied | None:
    x = choose.value(array)
    if x is None or x.shape[0] > 2:
        return None
    return Applied((x,), (2 * x.shape[0], *x.shape[1:]), lambda x: T.repeat(x, 2, axis=0))


def _differences(choose: Chooser) -> Applied | None:
    x = choose.value(array)
    if x is None or x.shape[-1] < 2:
        return None
    return Applied((x,), (*x.shape[:-1], x.shape[-1] - 1), lambda x: T.diff(x))


def _rows_repeated(choose: Chooser) -> Applied | None:
    x, rows = (
        choose.value(lambda value: floating(value) and len(value.shape) <= 2),
        choose.one((2, 3)),
    )
    if x is None:
        return None
    return Applied((x,), (rows, *x.shape), lambda x: T.alloc(x, rows, *x.shape))


def _diagonal_matrix(choose: Chooser) -> Applied | None:
    x = choose.value(vector)
    return None if x is None else Applied((x,), 2 * x.shape, T.diag)


def _times_column(choose: Chooser) -> Applied | None:
    pair = choose.pair(vector, lambda x, y: matrix(y) and y.shape[0] == x.shape[0])
    return (
        None if pair is None else Applied(pair, pair[1].shape, lambda x, y: x[:, None] * T.tanh(y))
    )


def _one_hot(choose: Chooser) -> Applied | None:
    k = choose.value(lambda value: counted(value) and len(value.shape) == 1)
    if k is None:
        return None
    return Applied((k,), (*k.shape, 3), lambda k: T.extra_ops.to_one_hot(_within(k, 3), 3))


RULES = (
    *(Rule(name, _reduced(f), 0.4) for name, f in REDUCTIONS.items()),
    *(Rule(name, _along_axis(f), 0.45) for name, f in ALONG_AXIS.items()),
    Rule("part", _part, 2.5),
    Rule("part changed", _part_changed, 2.5),
    Rule("part by a number", _by_number, 1.5),
    Rule("places", _at_places, 2),
    Rule("places changed", _places_changed, 2),
    Rule("mask", _by_mask, 1.2),
    Rule("joined", _joined, 1.5),
    Rule("stacked", _stacked, 0.8),
    Rule("split", _split, 0.6),
    Rule("reshaped", _reshaped, 1),
    Rule("reordered", _reordered, 1),
    Rule("repeated", _repeated, 0.5),
    Rule("differences", _differences, 0.6),
    Rule("rows repeated", _rows_repeated, 0.6),
    Rule("diagonal matrix", _diagonal_matrix, 0.3),
    Rule("times a column", _times_column, 0.8),
    Rule("one-hot", _one_hot, 0.4),
)
