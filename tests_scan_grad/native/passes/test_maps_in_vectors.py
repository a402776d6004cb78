"""Element-wise work of which a part has no form on vectors: the rest is on vectors."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
import scipy.special

import theano
import theano.tensor as T
from tests_scan_grad.native.loops import check, compiled, numbers
from theano.link.native import source

ODD = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, -2.5, 4.0, 1e300, 0.25])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_has_no_form_on_vectors_is_done_one_by_one(dtype):
    x, y = pt.matrix("x", dtype=dtype), pt.matrix("y", dtype=dtype)
    outputs = [pt.exp(x) + pt.j0(x) * y, pt.cos(pt.tanh(y)) ** y, pt.erf(x) * 2]
    function = compiled([x, y], outputs)
    text = source(function)
    assert "[lane] = " in text and "tn_v_exp_" in text
    for shape in ((5, 7), (3, 64), (1, 1), (0, 4), (2, 1)):
        given = numbers(*shape, dtype=dtype), numbers(*shape, seed=1, dtype=dtype)
        a, b = (one.astype("float64") for one in given)
        found = function(*given)
        tolerance = 1e-12 if dtype == "float64" else 2e-6
        np.testing.assert_allclose(
            found[0], np.exp(a) + scipy.special.j0(a) * b, tolerance, tolerance
        )
        np.testing.assert_allclose(found[1], np.cos(np.tanh(b)) ** b, tolerance, tolerance)


def test_loops_too():
    x, s = pt.dmatrix("x"), pt.dvector("s")
    states = pytensor.scan(
        lambda x, s: pt.tanh(x + pt.j0(s)) * pt.cos(s), [x], [s], return_updates=False
    )
    gradients = pytensor.grad(states.sum(), [x, s])
    native = check([x, s], [states, *gradients], [numbers(6, 21), numbers(21, seed=1)])
    assert "[lane] = " in source(native)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: pt.sgn(x) if hasattr(pt, "sgn") else pt.sign(x), np.sign),
        (lambda x: pt.clip(x, -1, 2), lambda x: np.clip(x, -1, 2)),
        (lambda x: x**1.5, lambda x: x**1.5),
        (lambda x: x**-1.5, lambda x: x**-1.5),
        (lambda x: pt.switch(pt.isinf(x), 2, x), lambda x: np.where(np.isinf(x), 2, x)),
        (
            lambda x: pt.log1mexp(-x),
            lambda x: np.where(x > 0.7, np.log1p(-np.exp(-x)), np.log(-np.expm1(-x))),
        ),
    ],
    ids=["sign", "clip", "1.5", "-1.5", "infinite", "log1mexp"],
)
def test_operations_that_vectors_have(build, expected, dtype):
    x = pt.vector("x", dtype=dtype)
    function = compiled([x], [build(x), pt.exp(x)])
    assert "[lane] = " not in source(function)
    with np.errstate(all="ignore"):
        for values in (ODD.astype(dtype), np.abs(numbers(100, dtype=dtype)) * 3):
            found, wanted = function(values)[0], expected(values)
            tolerance = 1e-15 * 4 if dtype == "float64" else 4e-7
            np.testing.assert_allclose(found, wanted, rtol=tolerance)
            np.testing.assert_array_equal(np.signbit(found[:2]), np.signbit(wanted[:2]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_condition_that_is_one_number_is_a_mask(dtype):
    """As what is checked of a distribution's parameters, which makes all of a density infinite."""
    x, s = pt.vector("x", dtype=dtype), pt.scalar("s", dtype=dtype)
    valid = pt.all(pt.stack([s > 0, s < 9]))
    value = pt.switch(valid, pt.exp(x), -np.inf)
    either = pt.switch(pt.and_(valid, x > 0), pt.exp(x) * s, 1.0)
    function = compiled([x, s], [value, either])
    assert "const __auto_type m0 = " in source(function)
    values = numbers(101, dtype=dtype)
    for number in (2.0, -1.0, 10.0):
        found = function(values, dtype_number(dtype, number))
        right = 0 < number < 9
        expected = np.exp(values) if right else np.full_like(values, -np.inf)
        np.testing.assert_allclose(found[0], expected, rtol=1e-6)
        expected = np.where(right & (values > 0), np.exp(values) * number, 1)
        np.testing.assert_allclose(found[1], expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotients_by_one_number_are_those_of_division(dtype):
    x, s = pt.vector("x", dtype=dtype), pt.scalar("s", dtype=dtype)
    function = compiled([x, s], x / s)
    assert "tn_divided_" in source(function)
    values = numbers(1003, dtype=dtype)
    values[::50] = np.resize(ODD.astype(dtype), values[::50].shape)
    for divisor in (0.1, -3.0, 1e30, 0.0, np.inf, np.nan, 1e-40):
        with np.errstate(all="ignore"):
            expected = values / dtype_number(dtype, divisor)
        np.testing.assert_array_equal(function(values, dtype_number(dtype, divisor)), expected)


def dtype_number(dtype, number):
    return np.dtype(dtype).type(number)


def truths(x, y, one):
    """Return results computed of booleans by operators that NumPy and PyTensor have in common."""
    above, positive = x > y, x >= one
    return {
        "numbers of truth": above * x + y * positive - positive,
        "and": (above & positive) * y,
        "or": (above | ~positive) * y,
        "exclusive or": (above ^ positive) - x,
        "added": (above + positive) * x + (above * positive) * y,
        "as numbers": above.astype(x.dtype) / (positive.astype(x.dtype) + 2),
    }


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", truths(*(pt.dscalar() for _ in range(3))))
def test_truth_is_a_mask_on_vectors(name, dtype):
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    one = dtype_number(dtype, 1)
    function = compiled([x, y], truths(x, y, one)[name])
    assert "tn_store_some_" in source(function)
    a, b = np.resize(ODD.astype(dtype), 103), numbers(103, dtype=dtype)
    with np.errstate(all="ignore"):
        for given in ((a, b), (b, a), (a, a[::-1].copy()), (a[:0], b[:0]), (a[:3], b[:3])):
            np.testing.assert_array_equal(function(*given), truths(*given, one)[name])


def test_truth_that_is_compared_is_a_number():
    x, y = pt.vectors("xy")
    function = compiled([x, y], ((x > y) >= (x > 0)) * x + ((x > 0) < (y > 0)) * y)
    a, b = numbers(103), numbers(103, seed=1)
    expected = ((a > b) >= (a > 0)) * a + ((a > 0) < (b > 0)) * b
    np.testing.assert_array_equal(function(a, b), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_of_choices_are_on_vectors(dtype):
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    cost = pt.maximum(x, y) ** 2 + pt.clip(x, -1, 1) * y + pt.minimum(x * y, y) * abs(x)
    function = compiled([x, y], pytensor.grad(cost.sum(), [x, y]))
    assert "tn_store_some_" in source(function)
    given = numbers(103, dtype=dtype), numbers(103, seed=1, dtype=dtype)
    a, b = (one.astype("float64") for one in given)
    first, smaller = a >= b, a * b <= b
    by_x = 2 * a * first + np.where(abs(a) <= 1, b, 0)
    by_x += np.where(smaller, b * abs(a), 0) + np.minimum(a * b, b) * np.sign(a)
    found = function(*given)
    np.testing.assert_allclose(found[0], by_x, 1e-6 if dtype == "float32" else 1e-13)
    by_y = 2 * b * ~first + np.clip(a, -1, 1) + np.where(smaller, a, 1) * abs(a)
    np.testing.assert_allclose(found[1], by_y, 1e-6 if dtype == "float32" else 1e-13)
    assert 0 < smaller.sum() < 103


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_truth_in_memory_is_read_and_written_by_vectors(dtype):
    x, mask = pt.vector("x", dtype=dtype), pt.vector("mask", dtype="bool")
    above = x > 0
    function = compiled([x, mask], [above, above & ~mask, pt.switch(mask, x, pt.exp(x)), mask * x])
    text = source(function)
    assert "tn_mask_load_some_" in text and "tn_mask_store_some_" in text
    for length in (0, 1, 3, 16, 17, 103):
        values = numbers(length, dtype=dtype)
        # any byte but 0 is true in NumPy
        given = np.resize(np.array([0, 1, 2, 0, 255], "uint8"), length).view("bool")
        truth = given.view("uint8") != 0
        found = function(values, given)
        np.testing.assert_array_equal(found[0], values > 0)
        np.testing.assert_array_equal(found[1], (values > 0) & ~truth)
        assert found[1].view("uint8").max(initial=0) <= 1
        np.testing.assert_allclose(found[2], np.where(truth, values, np.exp(values)), 1e-6)
        np.testing.assert_array_equal(found[3], np.where(truth, values, 0 * values))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "view",
    [lambda x: x[:, ::-1], lambda x: x[:, 1::3], lambda x: x.T, lambda x: x[::-2, ::-2]],
    ids=["reversed", "every third", "transposed", "both"],
)
def test_functions_of_what_lies_apart_are_on_vectors(view, dtype):
    x = pt.matrix("x", dtype=dtype)
    function = compiled([x], pt.tanh(view(x)) + pt.exp(-view(x)))
    assert "tn_load_apart_some_" in source(function)
    for shape in ((70, 83), (3, 5), (1, 1), (0, 4), (130, 2)):
        values = numbers(*shape, dtype=dtype)
        wanted = np.tanh(view(values)) + np.exp(-view(values))
        tolerance = 1e-13 if dtype == "float64" else 2e-6
        np.testing.assert_allclose(function(values), wanted, tolerance, tolerance)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_transposed_operands_are_read_in_columns(dtype):
    x = pt.matrix("x", dtype=dtype)
    function = compiled([x], [x.T + x.T * 2, x.T.copy(), x + x.T])
    assert "column += 64" in source(function)
    for size in (1, 2, 63, 64, 65, 200):
        values = np.arange(size * size).reshape(size, size).astype(dtype)
        found = function(values)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(found[0], values.T * np.array(3, dtype))
            np.testing.assert_array_equal(found[2], values + values.T)
        np.testing.assert_array_equal(found[1], values.T)


@pytest.mark.parametrize("width", [1, 2, 3, 8, 9])
def test_short_rows_of_a_known_length(width):
    x, s = pt.tensor("x", shape=(None, width), dtype="float64"), pt.dvector("s")
    function = compiled([x, s], [x * s, pt.exp(x[:, ::-1]) / x[:, :1], pt.repeat(x, width, axis=1)])
    for rows in (0, 1, 7, 100_000):
        values, row = numbers(rows, width), numbers(width, seed=1)
        found = function(values, row)
        np.testing.assert_array_equal(found[0], values * row)
        np.testing.assert_allclose(found[1], np.exp(values[:, ::-1]) / values[:, :1], 1e-13)
        np.testing.assert_array_equal(found[2], np.repeat(values, width, axis=1))


def test_what_is_repeated_and_reshaped_is_copied_once():
    x = pt.dmatrix("x")
    function = compiled([x], [pt.tile(x, (3, 2)), pt.repeat(x, 4, axis=0)])
    assert source(function).count("tn_copy(p") == 2
    values = numbers(5, 7)
    np.testing.assert_array_equal(function(values)[0], np.tile(values, (3, 2)))
    np.testing.assert_array_equal(function(values)[1], np.repeat(values, 4, axis=0))


@pytest.mark.parametrize("compared", [pt.lt, pt.neq])
def test_maps_on_truth_beside_one_number_of_each_row(compared):
    mask, x = pt.matrix("mask", dtype="bool"), pt.fvector("x")
    function = compiled([mask, x], compared(mask, x[:, None]))
    given = numbers(5, 7) > 0, np.array([0, 1, 0.5, 2, -1], "float32")
    expected = np.less if compared is pt.lt else np.not_equal
    np.testing.assert_array_equal(function(*given), expected(given[0], given[1][:, None]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_integer_beside_vectors_needs_no_memory(dtype):
    """Bounds and comparisons with literals are numbers, and the map is one on vectors."""
    x, h = T.TensorType(dtype, (None, None))("x"), T.TensorType(dtype, (None,))("h")
    states, _ = theano.scan(
        lambda x, h: T.clip(T.switch(h > 0, h - x, x), -1, 1), sequences=x, outputs_info=h
    )
    function = theano.function([x, h], states[-1], mode="NATIVE")
    text = source(function)
    step = text[text.index("for (; step < steps; step++)") : text.index("next:")]
    assert "signed char" not in step and "tn_load_f" in step
    rows = numbers(4, 21, dtype=dtype)
    expected = np.zeros(21, dtype)
    for row in rows:
        expected = np.clip(np.where(expected > 0, expected - row, row), -1, 1)
    np.testing.assert_array_equal(function(rows, np.zeros(21, dtype)), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("divisor", [1, 2, 1024, 3])
def test_remainders_by_a_literal_are_those_of_numpy(dtype, divisor):
    x = T.TensorType(dtype, (None,))("x")
    function = theano.function([x], x % np.asarray(divisor, dtype), mode="NATIVE")
    scales = 10.0 ** np.random.default_rng(1).integers(-45, 30, 4000)
    with np.errstate(all="ignore"):
        given = np.concatenate([numbers(4000) * scales, ODD, np.arange(-9.0, 9)]).astype(dtype)
        expected = np.remainder(given, np.asarray(divisor, dtype))
    np.testing.assert_array_equal(function(given), expected)
    assert (f"tn_remainder_by_power_f{dtype[-2:]}(" in source(function)) == (divisor != 3)
