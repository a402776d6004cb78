"""Special functions are right to 4 units in the last place, where SciPy's are."""

from __future__ import annotations

import mpmath
import numpy as np
import pytensor.tensor as pt
import pytest
import scipy.special

import theano
from theano.link.native import report

COUNT = 2000
UNITS = 4


def between(low: float, high: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, COUNT)


def over_scales(low: float, high: float, seed: int = 0) -> np.ndarray:
    return np.exp(between(np.log(low), np.log(high), seed))


def trigamma(values: np.ndarray) -> np.ndarray:
    """By mpmath: SciPy's is up to five units off."""
    return np.array([float(mpmath.psi(1, x)) for x in values])


# ours, SciPy's, and where SciPy's is right
CASES = {
    "logarithm of gamma": (pt.gammaln, scipy.special.gammaln, [over_scales(3, 1e8)]),
    "digamma": (pt.psi, scipy.special.psi, [over_scales(1e-6, 1e6)]),
    "digamma around its zero": (pt.psi, scipy.special.psi, [between(1.2, 1.8)]),
    "trigamma": (pt.tri_gamma, trigamma, [over_scales(1e-6, 1e6)]),
    "polygamma": (lambda x: pt.polygamma(1, x), trigamma, [between(0.1, 9)]),
    "scaled erfc": (pt.erfcx, scipy.special.erfcx, [over_scales(12, 1e6)]),
    "inverse of erf": (pt.erfinv, scipy.special.erfinv, [between(-0.999, 0.999)]),
    "inverse of erfc": (pt.erfcinv, scipy.special.erfcinv, [over_scales(1e-300, 1)]),
    "I0": (pt.i0, scipy.special.i0, [between(-60, 60)]),
    "I1": (pt.i1, scipy.special.i1, [between(60, 700)]),
    "softplus": (pt.softplus, lambda x: np.logaddexp(0, x), [between(-30, 30)]),
    "logsumexp": (
        lambda x: pt.logsumexp(pt.stack([x, x / 2]), axis=0),
        lambda x: scipy.special.logsumexp([x, x / 2], axis=0),
        [between(1, 30)],
    ),
}

# arguments and the value, by mpmath with 50 digits, where SciPy's are off by up to thousands of units
TRUE = {
    "gammainc": [
        (133.2, 117.2, 0.0782557081104133),
        (137.1, 72.54, 9.715064485328456e-12),
        (7.795, 4.144, 0.07063019706823127),
        (0.8225, 1.654, 0.8572565284125993),
        (0.08481, 0.105, 0.8556472339106241),
        (2.139, 1.475, 0.39130155842641656),
        (0.5325, 1.1305, 0.8561610612879266),
        (900.0, 850.0, 0.0457624941792418),
    ],
    "gammaincc": [
        (133.2, 117.2, 0.9217442918895867),
        (137.1, 72.54, 0.9999999999902849),
        (7.795, 4.144, 0.9293698029317687),
        (0.8225, 1.654, 0.14274347158740075),
        (0.08481, 0.105, 0.14435276608937586),
        (2.139, 1.475, 0.6086984415735834),
        (0.098, 0.2224, 0.11061717704637217),
        (0.00102, 0.9352, 0.0002500002182584891),
        (0.643, 1.121, 0.1855814606451558),
        (133.1, 322.5, 1.920168173627386e-33),
    ],
    "betainc": [
        (3.254, 244.0, 0.835, 1.0),
        (132.2, 86.2, 0.0667, 9.521238667471923e-97),
        (2.314, 5.18, 0.687, 0.9842897359158673),
        (22.54, 0.1627, 0.0511, 1.0358530431540437e-31),
        (8.548, 0.8788, 0.503, 0.0021336901122391947),
        (114.5, 0.1672, 0.443, 1.8343004713294632e-43),
        (22.99, 106.0, 0.233, 0.9409267953561661),
        (0.6172, 129.9, 0.342, 1.0),
        (249.9, 6.967, 0.2919, 9.65038699682969e-124),
        (188.3, 0.2179, 0.1216, 2.1623167035115082e-175),
    ],
    "psi": [
        (-0.5041, -0.00015190292676457303),
        (-0.001039, 961.884981553207),
        (1.4714, 0.009410077167274293),
        (-1.5918, -0.18480954887169004),
        (1.4616, -3.110625123034165e-05),
    ],
    # next to the poles at 0, -3 and -8, too
    "tri_gamma": [
        (-1e-08, 1.0000000000000002e16),
        (-1e-30, 9.999999999999998e59),
        (-3.0000001, 100000000327318.78),
        (-7.99999, 10000000003.92951),
        (-0.5, 8.934802200544679),
        (-4.75, 19.549301390239464),
    ],
    "erfcx": [
        (-19.43, 1.811385332388687e164),
        (9.6887, 0.05792637144032311),
        (0.0956, 0.9006485336210207),
        (-26.5, 1.924553162418569e305),
        (100000.0, 5.6418958351954685e-06),
    ],
    "i0": [
        (23.25, 1040957112.7776748),
        (3.99, 11.204769047567849),
        (8.999, 1092.5579291542228),
        (31.9, 5066850240684.24),
        (346.9, 9.72121180510952e148),
        (712.0, 2.4684110577627523e307),
    ],
    "i1": [
        (24.0, 2122947893.2873137),
        (3.99, 9.671251024883073),
        (9.0, 1030.9147225169565),
        (-31.9, -4986789595018.576),
        (47.77, 3.192524420503034e19),
        (0.001, 0.0005000000625000026),
    ],
    "log1mexp": [
        (-1e-10, -23.025850929990458),
        (-0.6931, -0.6931943633460008),
        (-2.01, -0.1438572927555671),
        (-40.0, -4.248354255291589e-18),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_units_in_the_last_place(name):
    ours, theirs, values = CASES[name]
    inputs = [pt.dvector() for _ in values]
    f = theano.function(inputs, ours(*inputs))
    assert not report(f).calls
    expected = theirs(*values)
    away = np.abs(f(*values) - expected) / np.spacing(np.abs(expected))
    worst = int(away.argmax())
    assert away[worst] <= UNITS, f"{away[worst]} units at {[float(v[worst]) for v in values]}"


@pytest.mark.parametrize("name", TRUE)
def test_units_where_scipy_is_not_right(name):
    *values, expected = np.array(TRUE[name]).T
    inputs = [pt.dvector() for _ in values]
    result = theano.function(inputs, getattr(pt, name)(*inputs))(*values)
    away = np.abs(result - expected) / np.spacing(np.abs(expected))
    # sums of many terms, and products of three values of the gamma function
    assert away.max() <= (8 if "inc" in name else UNITS), away


def test_scaled_bessel_functions_of_whole_orders():
    orders = np.r_[np.arange(-3, 60), 200, 1000, 9999, 10001, 30000][:, None]
    x = np.r_[0, over_scales(1e-3, 1e4)[:200], 1e5, 3e6, -0.5, -7.0, -300.0][None]
    n, y = pt.lcol(), pt.drow()
    found = theano.function([n, y], pt.ive(n, y))(orders, x)
    # SciPy's gives up where the result is small
    expected = scipy.special.ive(orders.astype(float), x)
    np.testing.assert_allclose(found[:-5], expected[:-5], rtol=3e-13, atol=1e-290)
    np.testing.assert_allclose(found, expected, rtol=3e-12, atol=1e-290)
    assert np.isnan(theano.function([n, y], pt.ive(n, y))([[2]], [[np.nan]])).all()


def test_incomplete_functions_far_out():
    r = np.random.default_rng(3)
    a, b = (np.exp(r.uniform(np.log(1e-6), np.log(1e4), 20000)) for _ in range(2))
    near = a * np.exp(r.normal(0, 1, a.size))
    x, y, z = pt.dvectors("xyz")
    outputs = [pt.gammainc(x, y), pt.gammaincc(x, y), pt.betainc(x, z, pt.minimum(x / (x + z), y))]
    f = theano.function([x, y, z], outputs)
    for values in (near, 1e3 * near / near.mean()):
        at = np.minimum(a / (a + b), values)
        expected = [scipy.special.gammainc(a, values), scipy.special.gammaincc(a, values)]
        expected.append(scipy.special.betainc(a, b, at))
        for ours, theirs in zip(f(a, values, b), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-250)
    large = f([2e5, 2e5], [1.95e5, 2.05e5], [1, 1])[:2]
    np.testing.assert_allclose(large[0][0], scipy.special.gammainc(2e5, 1.95e5), rtol=1e-7)
    np.testing.assert_allclose(large[1][1], scipy.special.gammaincc(2e5, 2.05e5), rtol=1e-7)
