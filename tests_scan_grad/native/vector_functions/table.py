"""Polynomial approximations of functions on vectors: the functions, intervals and degrees."""

from __future__ import annotations

from collections.abc import Callable

from mpmath import mp, mpf

from tests_scan_grad.native.vector_functions.pieces import COUNT, Pieces
from tests_scan_grad.native.vector_functions.polynomials import DIGITS, Polynomial

# of z = x^2 below it the limit at 0 is taken
_LEAST = mpf("1e-18")
# of z = 1 / x^2 below it the first terms of a series are taken, which are right to 70 bits
_FEW_DIGITS = mpf("1e-10")
# somewhat more than (pi / 4)^2
_EIGHTH_OF_TURN = ("0", "0.6177")
# somewhat more than log(2) / 2
_HALF_LOG_2 = ("-0.3467", "0.3467")


def _one(x: mpf) -> mpf:
    return mpf(1)


def _erf_near(z: mpf) -> mpf:
    return (mp.erf(mp.sqrt(z)) / mp.sqrt(z) if z > _LEAST else 2 / mp.sqrt(mp.pi)) - 1


def _log_erfcx(middle: str) -> Callable[[mpf], mpf]:
    return lambda t: mp.log(mp.erfc(t + mpf(middle))) + (t + mpf(middle)) ** 2


def _erfc(middle: str) -> Callable[[mpf], mpf]:
    return lambda t: mp.erfc(t + mpf(middle))


def _slope_of_erf(x: mpf) -> mpf:
    return 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)


def _of_units_or_erfc(x: mpf) -> mpf:
    """Return 1 / erfc(x) from 1 on, before it a power of 2 as large as half a unit of float32 of erf(x) wants."""
    return 1 / mp.erfc(x) if x >= 1 else mpf(2) ** -mp.ceil(mp.log(mp.erf(max(x, mpf("0.01"))), 2))


def _rounding_to(square: str, linear: str) -> list[mpf]:
    """Return up to where square x^2 + linear x is nearer to 0, 1, and so on, than to the next integer."""
    a, b = mpf(square), mpf(linear)
    ends = [k + mpf("0.5") for k in range(COUNT)]
    return [2 * end / (b + mp.sqrt(b * b + 4 * a * end)) for end in ends]


def _erfcx(middle: str) -> Callable[[mpf], mpf]:
    """Return (x + 1 / 2) exp(x^2) erfc(x) - 5 / 8 of (x - middle) / (x + middle)."""

    def function(t: mpf) -> mpf:
        if t > 1 - mpf("1e-9"):
            return 1 / mp.sqrt(mp.pi) * (1 + (1 - t) / (4 * mpf(middle))) - mpf("0.625")
        x = mpf(middle) * (1 + t) / (1 - t)
        if x < 1000:
            return (x + mpf("0.5")) * mp.exp(x * x) * mp.erfc(x) - mpf("0.625")
        # DLMF 7.12.1
        series = 1 - 1 / (2 * x**2) + 3 / (4 * x**4) - 15 / (8 * x**6) + 105 / (16 * x**8)
        return (1 + 1 / (2 * x)) * series / mp.sqrt(mp.pi) - mpf("0.625")

    return function


def _sin(z: mpf) -> mpf:
    z = max(z, _LEAST)
    return (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z


def _cos(z: mpf) -> mpf:
    z = max(z, _LEAST)
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def _odd(function: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
    """Return (f(x) - x) / x^3 of x^2."""

    def rest(z: mpf) -> mpf:
        x = mp.sqrt(max(z, _LEAST))
        return (function(x) - x) / x**3

    return rest


def _exp(x: mpf) -> mpf:
    x = _apart(x)
    return (mp.expm1(x) - x) / x**2


def _exp2(x: mpf) -> mpf:
    x = _apart(x) * mp.log(2)
    return (mp.expm1(x) - x) / (x / mp.log(2)) ** 2


def _log(z: mpf) -> mpf:
    s = mp.sqrt(max(z, _LEAST))
    return (mp.log((1 + s) / (1 - s)) / s - 2) / z if z > _LEAST else mpf(2) / 3


def _acosh(t: mpf) -> mpf:
    t = max(t, _LEAST)
    return (mp.acosh(1 + t) / mp.sqrt(2 * t) - 1) / t


def _erfinv_near(u: mpf) -> mpf:
    x = mp.sqrt(max(mpf("0.5625") - u, mpf("1e-20")))
    with mp.workdps(DIGITS + 20):
        return mp.erfinv(x) / x - 1


def erfcinv_of_small(q: mpf) -> mpf:
    """Return x with erfc(x) = q for q <= 1 / 2, by Halley's steps from the first terms for small q."""
    least = -mp.log(q * mp.sqrt(mp.pi))
    x = mp.sqrt(max(least - mp.log(max(least, 1)) / 2, mpf("0.2")))
    for _ in range(100):
        step = (mp.erfc(x) - q) * mp.sqrt(mp.pi) / 2 * mp.exp(x * x)
        step /= 1 - x * step
        x += step
        if abs(step) < x * mpf(10) ** (12 - mp.dps):
            break
    return x


def _erfcinv_less(first: str) -> Callable[[mpf], mpf]:
    return lambda t: (
        (t + mpf(first)) - mpf("0.3125") - erfcinv_of_small(mp.exp(-((t + mpf(first)) ** 2)))
    )


def _of_erfcinv(first: str) -> Callable[[mpf], mpf]:
    return lambda t: 1 / erfcinv_of_small(mp.exp(-((t + mpf(first)) ** 2)))


def _gammaln_near(e: mpf) -> mpf:
    e = _apart(e)
    return (mp.loggamma(2 + e) / e - 1 + mp.euler) / e


def _gamma_near(e: mpf) -> mpf:
    e = _apart(e)
    return (mp.gamma(2 + e) - 1) / e


def _stirling(z: mpf) -> mpf:
    """Return what Stirling's series leaves of log(gamma(x)), times x, for z = 1 / x^2."""
    if z < _FEW_DIGITS:
        return mpf(1) / 12 - z / 360
    x = 1 / mp.sqrt(z)
    with mp.workdps(2 * DIGITS):
        return (mp.loggamma(x) - (x - mpf("0.5")) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x


def _psi_near(t: mpf) -> mpf:
    zero = mp.findroot(mp.digamma, mpf("1.4616321449683623412626595423257213284681962"))
    y = t + mpf("1.5")
    return mp.digamma(y) / (y - zero)


def _psi_far(z: mpf) -> mpf:
    if z < _FEW_DIGITS:
        return mpf(1) / 12 - z / 120
    x = 1 / mp.sqrt(z)
    with mp.workdps(2 * DIGITS):
        return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) / z


def _trigamma_near(t: mpf) -> mpf:
    return mp.psi(1, t + mpf("2.5"))


def _trigamma_far(z: mpf) -> mpf:
    if z < _FEW_DIGITS:
        return mpf(1) / 6 - z / 30 + z * z / 42
    x = 1 / mp.sqrt(z)
    with mp.workdps(2 * DIGITS):
        return (mp.psi(1, x) - 1 / x - z / 2) * x**3


def _bessel_i_near(order: int) -> Callable[[mpf], mpf]:
    """Return I(x), or 2 I(x) / x, less 1 and divided by z = x^2 / 4."""

    def function(z: mpf) -> mpf:
        x = 2 * mp.sqrt(max(z, _LEAST))
        return (mp.besseli(order, x) / (x / 2) ** order - 1) / max(z, _LEAST)

    return function


def _bessel_i_far(order: int) -> Callable[[mpf], mpf]:
    """Return I(x) exp(-x) sqrt(x) - 3 / 8 of 31 / (2 x) - 1."""
    mu = 4 * order

    def function(t: mpf) -> mpf:
        v = (t + 1) / mpf("15.5")
        if v > mpf("1e-4"):
            return mp.besseli(order, 1 / v) * mp.exp(-1 / v) / mp.sqrt(v) - mpf("0.375")
        # DLMF 10.40.1
        term = total = mpf(1)
        for k in range(1, 16):
            term *= ((2 * k - 1) ** 2 - mu) * v / (8 * k)
            total += term
        return total / mp.sqrt(2 * mp.pi) - mpf("0.375")

    return function


def _relative(function: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
    """Return the weight of an error of z f(z) + 1."""
    return lambda z: max(z, mpf("0.01")) / (1 + z * function(z))


def _of_arctan(z: mpf) -> mpf:
    x = mp.sqrt(max(z, mpf("1e-3")))
    return x**3 / mp.atan(x)


def _apart(x: mpf) -> mpf:
    return x if abs(x) > _LEAST else _LEAST


PIECES: list[Pieces] = [
    Pieces("erf_pieces", "erf(x), 0 <= x <= 3.92, in pieces, the error in units, from 1 on relative to erfc(x)", mp.erf, _slope_of_erf,
           _rounding_to("0", "3.953125"), 4, _of_units_or_erfc, 1, 12),
    Pieces("erfc_pieces", "erfc(x), 0 <= x <= 3.99, in pieces, the error relative", mp.erfc, lambda x: -_slope_of_erf(x),
           _rounding_to("0.5078125", "1.84375"), 7, lambda x: 1 / mp.erfc(x), -1, 8,
           lambda low: mpf("0.5") if low < 1 else mpf("0.625")),
]  # fmt: skip

POLYNOMIALS: list[Polynomial] = [
    Polynomial("erf_near", "erf(x) / x - 1 of x^2 <= 1", _erf_near, ("0", "1"), 11, "float64", _one),
    Polynomial("erf_far", "x^2 + log(erfc(x)) of x - 3.5, 1 <= x <= 6, the error times erfc(x)",
               _log_erfcx("3.5"), ("-2.5", "2.5"), 18, "float64", _erfc("3.5")),
    Polynomial("sin", "(sin(x) / x - 1) / x^2 of x^2", _sin, _EIGHTH_OF_TURN, 5, "float64", _one),
    Polynomial("sin", "(sin(x) / x - 1) / x^2 of x^2", _sin, _EIGHTH_OF_TURN, 3, "float32", _one),
    Polynomial("cos", "(cos(x) - 1 + x^2 / 2) / x^4 of x^2", _cos, _EIGHTH_OF_TURN, 5, "float64", _one),
    Polynomial("cos", "(cos(x) - 1 + x^2 / 2) / x^4 of x^2", _cos, _EIGHTH_OF_TURN, 2, "float32", _one),
    Polynomial("erfcx", "(x + 1 / 2) erfcx(x) - 5 / 8 of (x - k) / (x + k), k = 3.75, 0 <= x", _erfcx("3.75"),
               ("-1", "1"), 25, "float64", _one),
    Polynomial("erfcx", "(x + 1 / 2) erfcx(x) - 5 / 8 of (x - k) / (x + k), k = 2.25, 0 <= x <= 10.1", _erfcx("2.25"),
               ("-1", "0.6357"), 10, "float32", _one),
    Polynomial("exp", "(exp(x) - 1 - x) / x^2", _exp, _HALF_LOG_2, 10, "float64", _one),
    Polynomial("exp", "(exp(x) - 1 - x) / x^2", _exp, _HALF_LOG_2, 5, "float32", _one),
    Polynomial("exp2", "(2^x - 1 - x log 2) / x^2 of |x| <= 1 / 2", _exp2, ("-0.5", "0.5"), 9, "float64", _one),
    Polynomial("exp2", "(2^x - 1 - x log 2) / x^2 of |x| <= 1 / 2", _exp2, ("-0.5", "0.5"), 4, "float32", _one),
    Polynomial("log", "(log((1 + s) / (1 - s)) / s - 2) / s^2 of s^2", _log, ("0", "0.02945"), 6, "float64", _one),
    Polynomial("log", "(log((1 + s) / (1 - s)) / s - 2) / s^2 of s^2", _log, ("0", "0.02945"), 2, "float32", _one),
    Polynomial("sinh", "(sinh(x) - x) / x^3 of x^2 <= 1", _odd(mp.sinh), ("0", "1"), 6, "float64", _one),
    Polynomial("sinh", "(sinh(x) - x) / x^3 of x^2 <= 1", _odd(mp.sinh), ("0", "1"), 3, "float32", _one),
    Polynomial("asinh", "(arcsinh(x) - x) / x^3 of x^2 <= 1 / 4", _odd(mp.asinh), ("0", "0.25"), 11, "float64", _one),
    Polynomial("asinh", "(arcsinh(x) - x) / x^3 of x^2 <= 1 / 4", _odd(mp.asinh), ("0", "0.25"), 4, "float32", _one),
    Polynomial("acosh", "(arccosh(1 + t) / sqrt(2 t) - 1) / t of t <= 1 / 2", _acosh, ("0", "0.5"), 11, "float64", _one),
    Polynomial("acosh", "(arccosh(1 + t) / sqrt(2 t) - 1) / t of t <= 1 / 2", _acosh, ("0", "0.5"), 5, "float32", _one),
    Polynomial("atanh", "(arctanh(x) - x) / x^3 of x^2 <= 1 / 4", _odd(mp.atanh), ("0", "0.25"), 13, "float64", _one),
    Polynomial("atanh", "(arctanh(x) - x) / x^3 of x^2 <= 1 / 4", _odd(mp.atanh), ("0", "0.25"), 5, "float32", _one),
    Polynomial("asin", "(arcsin(x) - x) / x^3 of x^2 <= 1 / 4", _odd(mp.asin), ("0", "0.25"), 12, "float64", _one),
    Polynomial("asin", "(arcsin(x) - x) / x^3 of x^2 <= 1 / 4", _odd(mp.asin), ("0", "0.25"), 5, "float32", _one),
    Polynomial("atan", "(arctan(x) - x) / x^3 of x^2 <= 1 / 4", _odd(mp.atan), ("0", "0.25"), 12, "float64", _one),
    Polynomial("atan", "(arctan(x) - x) / x^3 of x^2 <= 1 / 4", _odd(mp.atan), ("0", "0.25"), 5, "float32", _one),
    Polynomial("atan_to_1", "(arctan(x) - x) / x^3 of x^2 <= 1, the error relative to arctan(x)", _odd(mp.atan), ("0", "1"), 8,
               "float32", _of_arctan, in_turn=True),
    Polynomial("gammaln_near", "(log(gamma(2 + e)) / e - 1 + Euler's constant) / e of |e| <= 1 / 2", _gammaln_near,
               ("-0.5", "0.5"), 16, "float64", _one),
    Polynomial("gammaln_far", "x (log(gamma(x)) - (x - 1 / 2) log(x) + x - log(2 pi) / 2) of 1 / x^2, x >= 9 / 2",
               _stirling, ("0", "0.04939"), 7, "float64", _one),
    Polynomial("psi_near", "psi(x) / (x - its zero) of x - 3 / 2, 1 <= x <= 2", _psi_near, ("-0.5", "0.5"), 22,
               "float64", _one),
    Polynomial("psi_far", "x^2 (log(x) - 1 / (2 x) - psi(x)) of 1 / x^2, x >= 4", _psi_far, ("0", "0.0625"), 8,
               "float64", _one),
    Polynomial("trigamma_near", "trigamma(x) of x - 5 / 2, 2 <= x <= 3", _trigamma_near, ("-0.5", "0.5"), 17,
               "float64", _one),
    Polynomial("trigamma_far", "x^3 (trigamma(x) - 1 / x - 1 / (2 x^2)) of 1 / x^2, x >= 4", _trigamma_far,
               ("0", "0.0625"), 9, "float64", _one),
    Polynomial("erfinv_near", "erfinv(x) / x - 1 of 9 / 16 - x^2, |x| <= 3 / 4", _erfinv_near,
               ("0", "0.5625"), 6, "float64", _one, 6),
    Polynomial("erfinv_near", "erfinv(x) / x - 1 of 9 / 16 - x^2, |x| <= 3 / 4", _erfinv_near,
               ("0", "0.5625"), 3, "float32", _one, 3),
    Polynomial("erfinv_tail", "s - 5 / 16 - erfcinv(exp(-s^2)) of s - 9 / 8, sqrt(log 4) <= s <= 6.07, the error relative",
               _erfcinv_less("1.125"), ("0.0524", "4.945"), 8, "float64", _of_erfcinv("1.125"), 8),
    Polynomial("erfinv_tail", "s - 5 / 16 - erfcinv(exp(-s^2)) of s - 9 / 8, sqrt(log 4) <= s <= 10.2, the error relative",
               _erfcinv_less("1.125"), ("0.0524", "9.075"), 5, "float32", _of_erfcinv("1.125"), 5),
    Polynomial("erfcinv_far", "s - 5 / 16 - erfcinv(exp(-s^2)) of s - 6, 6 <= s <= 27.3, the error relative",
               _erfcinv_less("6"), ("0", "21.3"), 7, "float64", _of_erfcinv("6"), 7),
    Polynomial("i0_near", "(I0(x) - 1) / z of z = x^2 / 4, |x| <= 31 / 4, the error relative", _bessel_i_near(0),
               ("0", "15.016"), 13, "float64", _relative(_bessel_i_near(0))),
    Polynomial("i0_near_less", "(I0(x) - 1) / z of z = x^2 / 4, |x| <= 31 / 4, for float32", _bessel_i_near(0), ("0", "15.016"), 9, "float64",
               _relative(_bessel_i_near(0))),
    Polynomial("i1_near_less", "(2 I1(x) / x - 1) / z of z = x^2 / 4, |x| <= 31 / 4, for float32", _bessel_i_near(1),
               ("0", "15.016"), 8, "float64", _relative(_bessel_i_near(1))),
    Polynomial("i1_near", "(2 I1(x) / x - 1) / z of z = x^2 / 4, |x| <= 31 / 4, the error relative", _bessel_i_near(1),
               ("0", "15.016"), 13, "float64", _relative(_bessel_i_near(1))),
    Polynomial("i0_far", "I0(x) exp(-x) sqrt(x) - 3 / 8 of 31 / (2 x) - 1, x >= 31 / 4", _bessel_i_far(0),
               ("-1", "1"), 22, "float64", _one),
    Polynomial("i1_far", "I1(x) exp(-x) sqrt(x) - 3 / 8 of 31 / (2 x) - 1, x >= 31 / 4", _bessel_i_far(1),
               ("-1", "1"), 22, "float64", _one),
    Polynomial("gamma_near", "(gamma(2 + e) - 1) / e of |e| <= 1 / 2", _gamma_near, ("-0.5", "0.5"), 17, "float64", _one),
]  # fmt: skip
