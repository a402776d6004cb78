"""Products of which only ranges of columns are read: split where the ranges lie apart."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.link.native import source

WIDTH = 6

# ranges of columns of a product of 12, by the width of a state
APART = {
    "numbers": lambda p, width: (p[:, :6], p[:, 6:]),
    "not all columns": lambda p, width: (p[:, 5:11], p[:, :5]),
    "from the end": lambda p, width: (p[:, :-6], p[:, -6:]),
    "of a width": lambda p, width: (p[:, :width], p[:, width : 2 * width]),
    "a part is left out": lambda p, width: (p[:, :3], p[:, 7:]),
    "of half the columns": lambda p, width: (p[:, : p.shape[1] // 2], p[:, p.shape[1] // 2 :]),
    "parted": lambda p, width: T.split(p, [6, 6], 2, axis=1),
}
OVERLAPPING = {
    "numbers": lambda p, width: (p[:, :6], p[:, 3:9]),
    "neighbours": lambda p, width: (p[:, :-1], p[:, 1:]),
    "one inside another": lambda p, width: (p[:, :11], p[:, 4:9]),
    "of a width": lambda p, width: (p[:, :width], p[:, width - 1 :]),
}


def products_of(ranges) -> int:
    """Count the products of a step that reads these ranges, after checking its values."""
    h0, weights = T.dmatrix("h0"), theano.shared(np.random.default_rng(1).normal(size=(6, 12)))

    def step(h, u):
        first, second = ranges(T.dot(h, u), h.shape[1])
        return T.tanh(first.sum(axis=1) + T.sqr(second).sum(axis=1))[:, None] * h

    states, _ = theano.scan(step, outputs_info=h0, non_sequences=weights, n_steps=3)
    function = theano.function([h0], states[-1], mode="FAST_RUN")
    state = given = np.random.default_rng(2).normal(size=(4, WIDTH))
    for _ in range(3):
        first, second = map(np.asarray, _in_numpy(ranges, state @ weights.get_value()))
        state = np.tanh(first.sum(axis=1) + (second**2).sum(axis=1))[:, None] * state
    np.testing.assert_allclose(function(given), state, rtol=1e-9)
    return source(function).count("runtime->gemm_packed_f64(")


def _in_numpy(ranges, product):
    if ranges is APART["parted"]:
        return np.split(product, 2, axis=1)
    return ranges(product, WIDTH)


@pytest.mark.parametrize("name", APART)
def test_ranges_that_lie_apart_are_products_of_their_own(name):
    assert products_of(APART[name]) == 2


def test_three_ranges_whose_widths_are_known_in_the_call():
    """The first and the last lie apart because one lies between them."""

    h0, weights = T.dmatrix("h0"), theano.shared(np.ones((6, 12)))

    def step(h, u):
        product, width = T.dot(h, u), h.shape[1]
        first, second = product[:, :width], product[:, width : 2 * width]
        return T.tanh(first) * second + product[:, 2 * width :].sum()

    states, _ = theano.scan(step, outputs_info=h0, non_sequences=weights, n_steps=2)
    function = theano.function([h0], states[-1], mode="FAST_RUN")
    function(np.ones((2, WIDTH)))
    assert source(function).count("runtime->gemm_packed_f64(") == 3


@pytest.mark.parametrize("name", OVERLAPPING)
def test_no_column_is_computed_twice(name):
    assert products_of(OVERLAPPING[name]) == 1
