"""Powers on vectors: near the exact ones, those of NumPy where arguments are odd, the same bits anywhere."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.native.loops import numbers
from theano.link.native import source

DTYPES = ["float32", "float64"]


def power(dtype):
    x, y = (T.TensorType(dtype, (None,))(name) for name in "xy")
    return theano.function([x, y], x**y, mode="NATIVE")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("of_base, of_exponent", [(1, 3), (0.01, 100), (10, 10), (50, 1)])
def test_powers_are_near_the_exact_ones(dtype, of_base, of_exponent):
    function = power(dtype)
    assert f"tn_v_power_f{dtype[-2:]}(" in source(function)
    with np.errstate(all="ignore"):
        x = np.exp(of_base * numbers(20_000)).astype(dtype)
    y = (of_exponent * numbers(20_000, seed=1)).astype(dtype)
    wider = np.float64 if dtype == "float32" else np.longdouble
    with np.errstate(all="ignore"):
        exact = x.astype(wider) ** y.astype(wider)
    limits = np.finfo(dtype)
    usual = (exact > limits.tiny) & (exact < limits.max)
    unit = np.spacing(exact[usual].astype(dtype)).astype(wider)
    assert usual.sum() > 10_000
    # where long double is no longer, NumPy's powers have their own errors
    assert (abs(function(x, y)[usual] - exact[usual]) / unit).max() < 2.5


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_of_odd_numbers_are_those_of_numpy(dtype):
    limits = np.finfo(dtype)
    odd = [0, -0.0, 1, -1, 2, -2, 3, 0.5, -0.5, np.inf, -np.inf, np.nan, 1e30, -1e30]
    odd = np.array([*odd, limits.max, limits.tiny, limits.tiny / 4], dtype)
    x, y = map(np.ravel, np.meshgrid(odd, odd))
    with np.errstate(all="ignore"):
        expected = x**y
    np.testing.assert_allclose(power(dtype)(x, y), expected, 10 * limits.eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_do_not_depend_on_the_place(dtype):
    function = power(dtype)
    x, y = abs(numbers(37, dtype=dtype)), numbers(37, seed=1, dtype=dtype)
    whole = function(x, y)
    for first in range(37):
        np.testing.assert_array_equal(function(x[first:], y[first:]), whole[first:])
        np.testing.assert_array_equal(
            function(x[first : first + 1], y[first : first + 1]), whole[first : first + 1]
        )
