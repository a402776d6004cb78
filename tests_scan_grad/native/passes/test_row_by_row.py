"""Passes over rows of large arrays, of which one reads what another makes, done row by row."""

from __future__ import annotations

import re

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from tests_scan_grad.native.loops import compiled, numbers, python_mode
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native import source
from theano.link.native.schedule.row_by_row import ELEMENTS

SIGN = "/* row by row: "


def softmax(x, b):
    raised = pt.exp(x + b - (x + b).max(axis=1, keepdims=True))
    return [raised / raised.sum(axis=1, keepdims=True)]


def log_softmax(x, b):
    centred = x - x.max(axis=1, keepdims=True)
    return [centred - pt.log(pt.exp(centred).sum(axis=1, keepdims=True)), b.sum()]


def normalized(x, b):
    mean = x.mean(axis=1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=1, keepdims=True)
    return [(x - mean) / pt.sqrt(variance + 1e-5) * b, variance[:, 0]]


def with_all_results(x, b):
    largest = (x * b).max(axis=1)
    raised = pt.exp(x * b - largest[:, None])
    return [x * b, largest, raised, raised.sum(axis=1), raised / raised.sum(axis=1)[:, None]]


def with_a_detour(x, b):
    """The largest of each row are sorted before they come back."""
    y = pt.exp(x) + b
    return [y / pt.sort(y.max(axis=1))[:, None]]


def read_backwards(x, b):
    y = pt.tanh(x + b)
    return [y * y.sum(axis=1)[::-1, None] + y[::-1]]


def sums_of_columns_between(x, b):
    y = pt.exp(x - x.max(axis=1, keepdims=True))
    z = y / y.sum(axis=0)
    return [z / z.sum(axis=1, keepdims=True), y]


def beside_others(x, b):
    """Parts of an array, of which one is done row by row."""
    y = x - x.max(axis=1, keepdims=True)
    return [pt.concatenate([y / y.min(axis=1, keepdims=True), x * b], axis=1)]


def of_three_dimensions(x, b):
    stack = x[:, :, None] * b[:2]
    raised = pt.exp(stack - stack.max(axis=(1, 2), keepdims=True))
    return [raised / raised.sum(axis=1, keepdims=True), raised.sum(axis=(1, 2))]


# whether anything is done row by row
GRAPHS = {
    softmax: True,
    log_softmax: True,
    normalized: True,
    with_all_results: True,
    with_a_detour: False,
    read_backwards: True,
    sums_of_columns_between: True,
    beside_others: True,
    of_three_dimensions: True,
}
SHAPES = ((1, 2), (3, 5), (40, 33), (17, ELEMENTS + 5), (300, 70))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
def test_results(graph, dtype):
    x, b = pt.matrix("x", dtype=dtype), pt.vector("b", dtype=dtype)
    function = compiled([x, b], graph(x, b), on_unused_input="ignore")
    assert (SIGN in source(function)) == GRAPHS[graph]
    expected = pytensor.function([x, b], graph(x, b), mode=python_mode(), on_unused_input="ignore")
    tolerance = 1e-11 if dtype == "float64" else 1e-4
    for shape in SHAPES:
        values = numbers(*shape, dtype=dtype), numbers(shape[1], seed=1, dtype=dtype) + 4
        for found, right in zip(function(*values), expected(*values), strict=True):
            np.testing.assert_allclose(found, right, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("graph", [softmax, normalized, with_all_results], ids=lambda g: g.__name__)
def test_the_same_bits_on_any_number_of_threads(graph, any_work):
    x, b = pt.fmatrix("x"), pt.fvector("b")
    function = compiled([x, b], graph(x, b), on_unused_input="ignore")
    values = numbers(500, 210, dtype="float32"), numbers(210, seed=1, dtype="float32")
    runtime_calls.set_threads(1)
    alone = function(*values)
    for threads in (2, 3):
        runtime_calls.set_threads(threads)
        for found, right in zip(function(*values), alone, strict=True):
            np.testing.assert_array_equal(found, right)


def test_few_rows_are_left_to_passes_that_all_threads_share():
    x, b = pt.tensor("x", dtype="float64", shape=(1, None)), pt.dvector("b")
    assert SIGN not in source(compiled([x, b], softmax(x, b)))


def test_arrays_that_are_known_to_be_small():
    x, b = pt.tensor("x", dtype="float64", shape=(20, 30)), pt.dvector("b")
    assert SIGN not in source(compiled([x, b], softmax(x, b)))


def test_large_arrays_lie_in_the_same_memory():
    """Scores, exponentials and quotients of a softmax, in the memory of the product."""
    x, w = pt.fmatrix("x"), pt.fmatrix("w")
    scores = pt.dot(x, w)
    raised = pt.exp(scores - scores.max(axis=1, keepdims=True))
    shares = raised / raised.sum(axis=1, keepdims=True)
    function = compiled([x, w], pt.dot(shares, w.T))
    slots_of_matrices = re.findall(r"^ +\d+, \d+, 3, 0, ", source(function), re.MULTILINE)
    assert len(slots_of_matrices) == 1
    values = numbers(50, 20, dtype="float32"), numbers(20, 40, seed=1, dtype="float32")
    wide = [value.astype("float64") for value in values]
    raised = np.exp(wide[0] @ wide[1])
    expected = raised / raised.sum(axis=1, keepdims=True) @ wide[1].T
    np.testing.assert_allclose(function(*values), expected, rtol=1e-4, atol=1e-5)


def test_an_operand_that_is_needed_once_more_keeps_its_memory():
    x, w = pt.dmatrix("x"), pt.dmatrix("w")
    product = pt.dot(x, w)
    smaller = product / product.sum(axis=1, keepdims=True)
    function = compiled([x, w], pt.dot(pt.dot(smaller, w.T), product.T[:20]))
    values = numbers(30, 20), numbers(20, 30, seed=1)
    whole = values[0] @ values[1]
    expected = whole / whole.sum(axis=1, keepdims=True) @ values[1].T @ whole.T[:20]
    np.testing.assert_allclose(function(*values), expected, rtol=1e-9, atol=1e-9)


def test_an_operand_that_is_read_backwards_keeps_its_memory():
    x, w = pt.dmatrix("x"), pt.dmatrix("w")
    product = pt.dot(x, w)
    weighed = product * product[::-1].max(axis=1, keepdims=True) + product.min(
        axis=1, keepdims=True
    )
    function = compiled([x, w], pt.dot(weighed / weighed.sum(axis=1, keepdims=True), w.T))
    values = numbers(300, 20), numbers(20, 400, seed=1)
    whole = values[0] @ values[1]
    weighed = whole * whole[::-1].max(axis=1, keepdims=True) + whole.min(axis=1, keepdims=True)
    expected = weighed / weighed.sum(axis=1, keepdims=True) @ values[1].T
    np.testing.assert_allclose(function(*values), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_a_logarithm_of_a_softmax_and_its_gradient_have_the_same_exponentials(axis):
    x = pt.dmatrix("x")
    result = pt.special.log_softmax(x, axis=axis)
    function = compiled([x], [result, pytensor.grad((result**3).sum(), x)])
    # in a loop in lanes, and for the last elements
    assert source(function).partition(" statement0(")[2].count("tn_v_exp_f64(") == 2
    value = numbers(70, 31)
    expected = value - np.log(np.exp(value).sum(axis=axis, keepdims=True))
    given = 3 * expected**2
    slope = given - np.exp(expected) * given.sum(axis=axis, keepdims=True)
    for found, wanted in zip(function(value), [expected, slope], strict=True):
        np.testing.assert_allclose(found, wanted, 1e-11, 1e-11)
