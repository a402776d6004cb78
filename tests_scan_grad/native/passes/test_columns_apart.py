"""Arrays of short rows: where rows are reduced, all that is done with them is one pass over columns."""

from __future__ import annotations

import re

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
import scipy.special

from tests_scan_grad.native.loops import compiled, numbers
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native import source

ROWS = 333


def row_major(x, k):
    """Some rows of terms of a mixture of k, of one number each."""
    means, scales = numbers(k, seed=1), np.exp(numbers(k, seed=2) / 4)
    return -0.5 * ((x[:, None] - means) / scales) ** 2 - np.log(scales)


def largest_taken(terms, library=pt):
    if library is np:
        return np.exp(terms - terms.max(axis=1, keepdims=True))
    return pt.exp(terms - terms.max(axis=1, keepdims=True))


def passes_over_rows(function, rows=ROWS):
    """The loops over that many elements, reductions of what lies in memory among them."""
    text = source(function)
    return len(re.findall(rf"<= {rows}; i \+=|i < {rows}; i\+\+|many = {rows};", text))


@pytest.mark.parametrize("k", [2, 3, 8])
def test_a_sum_of_exponentials_is_one_pass(k):
    x = pt.dvector("x", shape=(ROWS,))
    total = pt.log(largest_taken(row_major(x, k)).sum(axis=1))
    function = compiled([x], total)
    assert passes_over_rows(function) == 1
    assert "tn_v_exp_f64" in source(function)
    value = numbers(ROWS)
    expected = np.log(largest_taken(row_major(value, k), np).sum(axis=1))
    np.testing.assert_allclose(function(value), expected, rtol=1e-12)


def test_what_columns_are_reduced_to():
    """Shares of each term, of which each column is added up: a pass, and a reduction for each column."""
    x = pt.dvector("x", shape=(ROWS,))
    raised = largest_taken(row_major(x, 3))
    shares = raised / raised.sum(axis=1, keepdims=True)
    function = compiled([x], [shares.sum(axis=0), shares[:, 1], (shares**2).sum(), shares.max(1)])
    value = numbers(ROWS)
    raised = largest_taken(row_major(value, 3), np)
    shares = raised / raised.sum(axis=1, keepdims=True)
    expected = [shares.sum(axis=0), shares[:, 1], (shares**2).sum(), shares.max(axis=1)]
    for found, wanted in zip(function(value), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    # no row lies in memory
    assert not re.search(r"\bi0 \* 3\b", source(function))


@pytest.mark.parametrize("operation", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_any_reduction_of_rows(operation, dtype):
    x, w = pt.matrix("x", dtype=dtype, shape=(None, 4)), pt.vector("w", dtype=dtype, shape=(4,))
    rows = x[::-1] * w + x
    reduced = getattr(rows, operation)(axis=1, keepdims=True)
    function = compiled([x, w], [reduced, (rows - reduced).sum(axis=0), rows.sum()])
    for count in (0, 1, 70, ROWS):
        values = np.rint(numbers(count, 4) * 3).astype(dtype)
        weights = np.array([1, -2, 3, 1], dtype)
        rows = values[::-1] * weights + values
        if operation in ("max", "min") and not count:
            reduced = np.zeros((0, 1), dtype)
        else:
            reduced = getattr(rows, operation)(axis=1, keepdims=True)
        expected = [reduced, (rows - reduced).sum(axis=0), rows.sum()]
        for found, wanted in zip(function(values, weights), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5 if dtype == "float32" else 1e-12)


def test_rows_of_several_dimensions_and_what_is_returned():
    x = pt.dtensor3("x", shape=(7, 40, 2))
    raised = pt.exp(x) + 1
    total = raised.sum(axis=2)
    function = compiled([x], [raised, raised / total[:, :, None], total.sum(axis=0)])
    value = numbers(7, 40, 2)
    raised = np.exp(value) + 1
    total = raised.sum(axis=2)
    expected = [raised, raised / total[:, :, None], total.sum(axis=0)]
    for found, wanted in zip(function(value), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_nan_and_infinities():
    x = pt.dmatrix("x", shape=(None, 3))
    terms = x + 1
    largest = terms.max(axis=1, keepdims=True)
    safe = pt.switch(pt.isinf(largest), 0, largest)
    function = compiled([x], pt.log(pt.exp(terms - safe).sum(axis=1)) + safe[:, 0])
    value = numbers(70, 3)
    value[3], value[5, 1], value[8, 0], value[9, 2] = -np.inf, np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        expected = scipy.special.logsumexp(value + 1, axis=1)
    np.testing.assert_allclose(function(value), expected, rtol=1e-12)


def test_the_same_bits_on_any_number_of_threads(any_work):
    x = pt.dvector("x")
    raised = largest_taken(row_major(x, 3))
    total = raised.sum(axis=1, keepdims=True)
    cost = pt.log(total).sum()
    function = compiled([x], [cost, (raised / total).sum(axis=0), pytensor.grad(cost, x)])
    value = numbers(20_000)
    found = []
    for threads in (1, 2, 3):
        runtime_calls.set_threads(threads)
        found.append(function(value))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, same)
