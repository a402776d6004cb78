"""Inverses of incomplete functions and Bessel functions of fractional orders are native, and SciPy's."""

from __future__ import annotations

import mpmath
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
import scipy.special

import theano
from theano.link.native import report

COUNT = 3000
random = np.random.default_rng(0)


def compiled(inputs, outputs):
    f = theano.function(inputs, outputs, mode="NATIVE", allow_input_downcast=True)
    assert len(report(f).segments) == 1 and not report(f).calls
    return f


def over_scales(low, high):
    return 10 ** random.uniform(low, high, COUNT)


PARTS = np.concatenate(
    [
        random.uniform(size=COUNT // 3),
        10 ** random.uniform(-12, 0, COUNT // 3),
        1 - 10 ** random.uniform(-12, -1, COUNT // 3),
    ]
)


@pytest.mark.parametrize("name", ["gammaincinv", "gammainccinv"])
def test_inverses_of_incomplete_gamma_functions(name):
    a, part = pt.dvectors("a", "part")
    of_shape = over_scales(-2, 4)
    found = compiled([a, part], getattr(pt, name)(a, part))(of_shape, PARTS)
    expected = getattr(scipy.special, name)(of_shape, PARTS)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-300)


def test_inverse_of_the_incomplete_beta_function():
    a, b, part = pt.dvectors("a", "b", "part")
    first, second = over_scales(-1, 3), over_scales(-1, 3)
    found = compiled([a, b, part], pt.betaincinv(a, b, part))(first, second, PARTS)
    # there and back, as far as the digits of what is found decide it
    inside = (found > 1e-290) & (found < 0.999)
    back = scipy.special.betainc(first, second, found)
    np.testing.assert_allclose(back[inside], PARTS[inside], rtol=1e-9)
    assert inside.sum() > COUNT / 2
    np.testing.assert_allclose(
        found, scipy.special.betaincinv(first, second, PARTS), rtol=1e-7, atol=1e-280
    )


def test_inverse_of_the_incomplete_beta_function_in_its_tails():
    """The inverse is accurate where SciPy's is NaN, or wrong by powers of ten."""
    a, b, part = pt.dscalars("a", "b", "part")
    f = compiled([a, b, part], pt.betaincinv(a, b, part))
    for given in ((13.5187, 1.47e-3, 5.533e-190), (6.4476, 784.475, 5.5729e-166)):
        x = mpmath.mpf(float(f(*given)))
        back = mpmath.betainc(given[0], given[1], 0, x, regularized=True)
        assert abs(back / given[2] - 1) < 1e-11


def test_what_the_inverses_are_at_their_ends():
    a, part = pt.dvectors("a", "part")
    functions = [pt.gammaincinv(a, part), pt.gammainccinv(a, part), pt.betaincinv(a, a, part)]
    f = compiled([a, part], functions)
    parts = np.array([0, 1, 0.5, -0.1, 1.1, np.nan, 0.5, 0.5])
    shapes = np.array([2, 2, np.nan, 2, 2, 2, -1, 0.0])
    expected = (
        scipy.special.gammaincinv(shapes, parts),
        scipy.special.gammainccinv(shapes, parts),
        scipy.special.betaincinv(shapes, shapes, parts),
    )
    for found, of_scipy in zip(f(shapes, parts), expected, strict=True):
        np.testing.assert_array_equal(found, of_scipy)


@pytest.mark.parametrize("name", ["ive", "kve"])
def test_bessel_functions_of_any_order(name):
    order, x = pt.dvectors("order", "x")
    f = compiled([order, x], getattr(pt, name)(order, x))
    for orders in (random.uniform(-5, 5, COUNT), over_scales(-3, 3), np.full(COUNT, -2.0)):
        values = over_scales(-3, 4)
        expected = getattr(scipy.special, name)(orders, values)
        finite = np.isfinite(expected) & (abs(expected) > 1e-290)
        np.testing.assert_allclose(f(orders, values)[finite], expected[finite], rtol=3e-12)
    ends = f([0, 0.5, 2, 0.5, np.nan, 3.3], [0, 0, 0, -1, 1, 0])
    expected = (
        [1, 0, 0, np.nan, np.nan, 0] if name == "ive" else [np.inf] * 3 + [np.nan] * 2 + [np.inf]
    )
    np.testing.assert_array_equal(ends, expected)


def test_single_precision_and_gradients():
    order, x = pt.fvectors("order", "x")
    orders, values = random.uniform(-2, 2, 50), random.uniform(0.1, 9, 50)
    results = [pt.kve(order, x), pt.ive(order, x), pt.gammaincinv(abs(order), x / 10)]
    found = compiled([order, x], results)(orders, values)
    expected = (
        scipy.special.kve(orders, values),
        scipy.special.ive(orders, values),
        scipy.special.gammaincinv(abs(orders), values / 10),
    )
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-30)
    y = pt.dvector("y")
    gradient = pytensor.grad((pt.kve(0.5, y) + pt.gammaincinv(2.5, y / 10)).sum(), y)
    step = 1e-6
    differences = (
        scipy.special.kve(0.5, values + step)
        - scipy.special.kve(0.5, values - step)
        + scipy.special.gammaincinv(2.5, (values + step) / 10)
        - scipy.special.gammaincinv(2.5, (values - step) / 10)
    ) / (2 * step)
    np.testing.assert_allclose(compiled([y], gradient)(values), differences, rtol=1e-5)
