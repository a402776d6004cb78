"""Remainders and rounded quotients on vectors have the bits of those one by one, which C's remainder gives."""

import numpy as np
import pytensor.tensor as pt
import pytest

from tests_scan_grad.native.loops import compiled
from theano.link.native import source

DTYPES = ["float32", "float64"]
ODD = [0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 3.0, np.inf, -np.inf, np.nan, 1e-39, -1e-310, 1e38, 7e-45]


def expected(a, b):
    """Return what Python gives, from NumPy's remainder with the sign of the first number."""
    rest = np.fmod(a, b)
    across = (rest != 0) & ((rest < 0) != (b < 0))
    quotient = np.rint((a - rest) / b)
    whole = np.where(b == 0, a / b, np.where(across, quotient - 1, quotient))
    return np.where(across, rest + b, rest), whole


def pairs(dtype):
    """Return numbers and divisors: of all sizes, near multiples, and odd ones with each other."""
    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, 20_000)).astype(dtype)
    far = np.float64(10.0) ** random.uniform(-30, 30, (2, 20_000))
    whole = random.integers(-1000, 1000, 20_000).astype(dtype)
    multiples = whole * b
    near = [multiples, np.nextafter(multiples, dtype_number(dtype, 9)), np.nextafter(multiples, a)]
    odd = np.array(ODD).astype(dtype)
    left = [
        a,
        1e5 * a,
        1e12 * a,
        far[0] * a,
        *near,
        whole,
        np.repeat(odd, len(odd)),
        np.repeat(odd, 99),
    ]
    right = [
        b,
        b,
        b,
        far[1] * b,
        b,
        b,
        b,
        np.roll(whole, 1),
        np.tile(odd, len(odd)),
        b[: 99 * len(odd)],
    ]
    return (np.concatenate([one.astype(dtype) for one in side]) for side in (left, right))


def dtype_number(dtype, number):
    return np.dtype(dtype).type(number)


@pytest.mark.parametrize("dtype", DTYPES)
def test_remainders_and_rounded_quotients(dtype):
    x, y = (pt.vector(name, dtype=dtype) for name in "xy")
    function = compiled([x, y], [x % y, x // y])
    assert "tn_v_remainder_" in source(function) and "tn_v_floor_division_" in source(function)
    with np.errstate(all="ignore"):
        a, b = pairs(dtype)
        for found, wanted in zip(function(a, b), expected(a, b), strict=True):
            wrong = ~((found == wanted) | np.isnan(found) & np.isnan(wanted))
            assert not wrong.any(), (
                a[wrong][:5],
                b[wrong][:5],
                found[wrong][:5],
                wanted[wrong][:5],
            )
            there = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(found[there]), np.signbit(wanted[there]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_same_bits_alone(dtype):
    x, y = (pt.vector(name, dtype=dtype) for name in "xy")
    s, t = (pt.scalar(name, dtype=dtype) for name in "st")
    together, alone = compiled([x, y], [x % y, x // y]), compiled([s, t], [s % t, s // t])
    random = np.random.default_rng(1)
    a, b = (random.standard_normal((2, 40)) * [[100], [1]]).astype(dtype)
    found = np.array(together(a, b))
    np.testing.assert_array_equal(
        found, np.array([alone(*one) for one in zip(a, b, strict=True)]).T
    )
