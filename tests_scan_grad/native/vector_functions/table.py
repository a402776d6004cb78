"""What functions on vectors approximate by polynomials: the functions, intervals and degrees."""

from __future__ import annotations

from collections.abc import Callable

from mpmath import mp, mpf

from tests_scan_grad.native.vector_functions.polynomials import Polynomial

# of z = x^2 below it the limit at 0 is taken
_LEAST = mpf("1e-18")
# somewhat more than (pi / 4)^2
_EIGHTH_OF_TURN = ("0", "0.6177")


def _one(x: mpf) -> mpf:
    return mpf(1)


def _erf_near(z: mpf) -> mpf:
    return (mp.erf(mp.sqrt(z)) / mp.sqrt(z) if z > _LEAST else 2 / mp.sqrt(mp.pi)) - 1


def _log_erfcx(middle: str) -> Callable[[mpf], mpf]:
    return lambda t: mp.log(mp.erfc(t + mpf(middle))) + (t + mpf(middle)) ** 2


def _erfc(middle: str) -> Callable[[mpf], mpf]:
    return lambda t: mp.erfc(t + mpf(middle))


def _sin(z: mpf) -> mpf:
    z = max(z, _LEAST)
    return (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z


def _cos(z: mpf) -> mpf:
    z = max(z, _LEAST)
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


POLYNOMIALS: list[Polynomial] = [
    Polynomial("erf_near", "erf(x) / x - 1 of x^2 <= 1", _erf_near, ("0", "1"), 11, "float64", _one),
    Polynomial("erf_near", "erf(x) / x - 1 of x^2 <= 1", _erf_near, ("0", "1"), 6, "float32", _one),
    Polynomial("erf_far", "x^2 + log(erfc(x)) of x - 3.5, 1 <= x <= 6, the error times erfc(x)",
               _log_erfcx("3.5"), ("-2.5", "2.5"), 18, "float64", _erfc("3.5")),
    Polynomial("erf_far", "x^2 + log(erfc(x)) of x - 2.5, 1 <= x <= 4, the error times erfc(x)",
               _log_erfcx("2.5"), ("-1.5", "1.5"), 6, "float32", _erfc("2.5")),
    Polynomial("sin", "(sin(x) / x - 1) / x^2 of x^2", _sin, _EIGHTH_OF_TURN, 5, "float64", _one),
    Polynomial("sin", "(sin(x) / x - 1) / x^2 of x^2", _sin, _EIGHTH_OF_TURN, 3, "float32", _one),
    Polynomial("cos", "(cos(x) - 1 + x^2 / 2) / x^4 of x^2", _cos, _EIGHTH_OF_TURN, 5, "float64", _one),
    Polynomial("cos", "(cos(x) - 1 + x^2 / 2) / x^4 of x^2", _cos, _EIGHTH_OF_TURN, 2, "float32", _one),
]  # fmt: skip
