"""The angle of a point, on vectors: how exact it is, all pairs of odd numbers, and the same bits alone."""

from __future__ import annotations

import mpmath
import numpy as np
import pytensor.tensor as pt
import pytest

from tests_scan_grad.native.loops import compiled
from theano.link.native import source

DTYPES = ["float32", "float64"]


def angle(dtype):
    y, x = pt.vector("y", dtype=dtype), pt.vector("x", dtype=dtype)
    function = compiled([y, x], pt.arctan2(y, x))
    assert "tn_v_atan2_" in source(function)
    return function


def points(dtype, count=2000):
    """Points whose quotients are of all magnitudes, near 1 / 2, 1 and 2, too."""
    random = np.random.default_rng(4)
    bound = 80 if dtype == "float32" else 600
    y, x = np.exp(random.uniform(-bound, bound, (2, count)))
    near = slice(0, count // 2)
    y[near] = x[near] * random.choice([0.5, 1, 2], count // 2) * random.normal(1, 0.01, count // 2)
    signs = random.choice([-1, 1], (2, count))
    return (y * signs[0]).astype(dtype), (x * signs[1]).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_units_in_the_last_place(dtype):
    y, x = points(dtype)
    found = angle(dtype)(y, x)
    with mpmath.workdps(50):
        exact = [mpmath.atan2(float(a), float(b)) for a, b in zip(y, x, strict=True)]
        units = np.spacing(np.abs(np.array([float(e) for e in exact])).astype(dtype))
        away = [abs(float(f) - e) / float(u) for f, e, u in zip(found, exact, units, strict=True)]
    assert max(away) <= 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_odd_numbers(dtype):
    kind = np.finfo(dtype)
    magnitudes = [0.0, kind.smallest_subnormal, kind.tiny, 1, 2, kind.max, np.inf]
    odd = np.array([np.nan, *magnitudes, *(-m for m in magnitudes)], dtype)
    y, x = (each.ravel() for each in np.meshgrid(odd, odd))
    found, expected = angle(dtype)(y, x), np.arctan2(y, x)
    np.testing.assert_array_max_ulp(found, expected, 1)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_same_bits_alone(dtype):
    y, x = points(dtype, 101)
    a, b = pt.scalar("a", dtype=dtype), pt.scalar("b", dtype=dtype)
    alone = compiled([a, b], pt.arctan2(a, b))
    found = angle(dtype)(y, x)
    np.testing.assert_array_equal(found, [alone(*pair) for pair in zip(y, x, strict=True)])
    np.testing.assert_array_equal(angle(dtype)(y[5:], x[5:]), found[5:])
