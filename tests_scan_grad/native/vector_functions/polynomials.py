"""The table of polynomials of which functions on vectors consist, and the file of C that it makes.

    python -m tests_scan_grad.native.vector_functions.polynomials

writes ``theano/link/native/render/included/functions/polynomials.inc`` again, which takes a minute.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from mpmath import mp, mpf

import theano
from tests_scan_grad.native.vector_functions.remez import minimax
from theano.support.data_classes import dataclass

FILE = Path(theano.__file__).parent / "link/native/render/included/functions/polynomials.inc"
# 70 digits: of a difference such as that of erf(x) / x and 1, half remain
DIGITS = 70


@dataclass(frozen=True)
class Polynomial:
    """A polynomial, or a quotient of two, for a function on an interval.

    Attributes
    ----------
    about
        What it approximates, for the comment.
    dtype
        The type of its coefficients and argument.
    weight
        What the error is multiplied by.
    below
        The degree of the polynomial that it is divided by, whose first coefficient is 1.
    in_turn
        Whether a coefficient is rounded before those of higher powers are found, and these are added up from the
        highest to the lowest: rounding adds up less, where terms cancel.
    """

    name: str
    about: str
    function: Callable[[mpf], mpf]
    interval: tuple[str, str]
    degree: int
    dtype: str
    weight: Callable[[mpf], mpf]
    below: int = 0
    in_turn: bool = False

    def found(self) -> tuple[list[float], list[float], float]:
        """Return the coefficients above and below, the lowest power first, and the largest error in bits."""
        with mp.workdps(DIGITS):
            low, high = map(mpf, self.interval)
            degrees = self.degree, self.below
            points = 24 * (sum(degrees) + 3) + 1
            above, below, error = minimax(self.function, low, high, degrees, self.weight, points)
            bits = float(-mp.log(error, 2))
            if self.in_turn:
                return self._found_in_turn(above), [1.0], bits
            return [self._rounded(c) for c in above], [self._rounded(c) for c in below], bits

    def _found_in_turn(self, found: list[mpf]) -> list[float]:
        """Return the coefficients, each found again when those of lower powers are rounded."""
        low, high = map(mpf, self.interval)
        rounded: list[float] = []
        for degree in range(self.degree, -1, -1):
            rounded.append(self._rounded(found[0]))
            if degree:
                found = self._of_what_is_left(tuple(map(mpf, rounded)), low, high, degree - 1)
        return rounded

    def _of_what_is_left(
        self, known: tuple[mpf, ...], low: mpf, high: mpf, degree: int
    ) -> list[mpf]:
        power = len(known)

        # next to 0 the known ones decide
        low = max(low, high / 50)

        def rest(x: mpf) -> mpf:
            return (self.function(x) - mp.polyval(known[::-1], x)) / x**power

        def weight(x: mpf) -> mpf:
            return x**power * self.weight(x)

        return minimax(rest, low, high, (degree, 0), weight, 24 * (degree + 3) + 1)[0]

    def _rounded(self, number: mpf) -> float:
        # to the type at once, not by way of float64
        return float(mp.mpf(number)) if self.dtype == "float64" else _single(number)

    def lines(self) -> str:
        """Return the functions in C: two of a quotient."""
        above, below, bits = self.found()
        parts = {"": above} if len(below) == 1 else {"_above": above, "_below": below}
        functions = [self._function(self.name + part, numbers) for part, numbers in parts.items()]
        return "\n".join([f"/* {self.about}: {bits:.1f} bits. */", *functions])

    def _function(self, name: str, coefficients: list[float]) -> str:
        suffix = {"float64": "f64", "float32": "f32"}[self.dtype]
        vector = f"tn_{suffix}v"
        numbers = [_number(c, self.dtype) for c in coefficients]
        head = f"TN_ACTIVATION {vector} tn_p_{name}_{suffix}({vector} x)"
        if self.in_turn:
            body = [*_by_horner("p", numbers, "x", suffix), "    return p;"]
        else:
            body = _evaluated(numbers, suffix)
        return "\n".join([head, "{", *body, "}"])


def _single(number: mpf) -> float:
    with mp.workprec(24):
        return float(+number)


def _number(number: float, dtype: str) -> str:
    if dtype == "float64":
        return repr(number)
    text = str(np.float32(number))
    return (text if "." in text or "e" in text else text + ".0") + "f"


def _evaluated(numbers: list[str], suffix: str) -> list[str]:
    """Return what adds even and odd powers apart, which do not wait for one another."""
    fma = f"TN_FMA_{suffix.upper()}"
    if len(numbers) < 6:
        return [*_by_horner("p", numbers, "x", suffix), "    return p;"]
    return [
        f"    tn_{suffix}v x2 = x * x;",
        *_by_horner("even", numbers[::2], "x2", suffix),
        *_by_horner("odd", numbers[1::2], "x2", suffix),
        f"    return {fma}(odd, x, even);",
    ]


def _by_horner(name: str, numbers: list[str], x: str, suffix: str) -> list[str]:
    fma, last = f"TN_FMA_{suffix.upper()}", numbers[-1]
    if len(numbers) == 1:
        return [f"    tn_{suffix}v {name} = TN_SPLAT_{suffix.upper()}({last});"]
    lines = [f"    tn_{suffix}v {name} = {fma}({x}, {last}, {numbers[-2]});"]
    for number in numbers[-3::-1]:
        lines.append(f"    {name} = {fma}({name}, {x}, {number});")
    return lines


def text() -> str:
    """Return the file."""
    from tests_scan_grad.native.vector_functions.table import PIECES, POLYNOMIALS

    opening = (
        "/* Polynomials with the least largest error, by Remez's exchange with 70 digits: made by\n"
        " * tests_scan_grad/native/vector_functions/polynomials.py from the table next to it. A number of bits\n"
        " * is that of the largest error before coefficients are rounded. */\n"
    )
    return "\n".join([opening, "\n\n".join(one.lines() for one in (*PIECES, *POLYNOMIALS)), ""])


if __name__ == "__main__":
    FILE.write_text(text())
