"""Functions of float32 on 16 intervals, each with its own polynomial, whose coefficients are looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mpmath import mp, mpf

from tests_scan_grad.native.vector_functions.remez import minimax
from theano.support.data_classes import dataclass

COUNT = 16
DIGITS = 40
# centres are multiples of it, so that differences from them are exact
_STEP = mpf(2) ** -22


@dataclass(frozen=True)
class Pieces:
    """A function f as f(centre) + d p(d) for d = x - centre.

    Centres are where values are nearly numbers of float32, so that neighbours meet to far below a unit (Gal and
    Bachelis, 1991, An accurate elementary mathematical library for the IEEE floating point standard). The first is 0.

    Attributes
    ----------
    bounds
        Where intervals end, that of the first one first.
    degree
        That of p.
    weight
        What the error is multiplied by.
    first
        What is taken from p where the centre is 0.
    exact_bits
        To how many bits behind its last one a value at a centre is a number of float32.
    place
        Where in an interval the centre is, given where the interval begins: 0 at its begin, 1 at its end.
    """

    name: str
    about: str
    function: Callable[[mpf], mpf]
    derivative: Callable[[mpf], mpf]
    bounds: Sequence[mpf]
    degree: int
    weight: Callable[[mpf], mpf]
    first: int
    exact_bits: int
    place: Callable[[mpf], mpf] = lambda low: mpf("0.5")

    def lines(self) -> str:
        """Return the table in C: centres, values, and coefficients, those of the lowest power first."""
        with mp.workdps(DIGITS):
            columns, errors = zip(*self._columns(), strict=True)
            bits = float(-mp.log(max(errors), 2))
        rows = [", ".join(map(_number, numbers)) for numbers in zip(*columns, strict=True)]
        head = f"static const float tn_p_{self.name}_f32[{len(rows)}][{COUNT}] TN_TABLE = {{"
        about = f"/* {self.about}: {bits:.1f} bits. */"
        return "\n".join([about, head, *(f"    {{{row}}}," for row in rows), "};"])

    def _columns(self) -> Iterator[tuple[list[mpf], mpf]]:
        """Yield what the table has of each interval, and the largest weighted error."""
        for low, high in zip([mpf(0), *self.bounds[:-1]], self.bounds, strict=True):
            centre = self._centre(low + self.place(low) * (high - low)) if low else mpf(0)
            coefficients, error = self._found(centre, low, high)
            yield [centre, self.function(centre), *coefficients], error

    def _found(self, centre: mpf, low: mpf, high: mpf) -> tuple[list[mpf], mpf]:
        value, derivative = self.function(centre), self.derivative(centre)

        def slope(d: mpf) -> mpf:
            found = (self.function(centre + d) - value) / d if abs(d) > mpf("1e-20") else derivative
            return found if centre else found - self.first

        def weight(d: mpf) -> mpf:
            return max(abs(d), mpf("1e-3")) * self.weight(centre + d)

        degrees = self.degree, 0
        points = 24 * (self.degree + 3) + 1
        above, _, error = minimax(slope, low - centre, high - centre, degrees, weight, points)
        return above, error

    def _centre(self, middle: mpf) -> mpf:
        """Return a number near the middle at which the function is nearly a number of float32."""
        start = self.function(middle)
        unit = mpf(2) ** (mp.floor(mp.log(start, 2)) - 23)
        for k in range(1 << 16):
            value = (mp.nint(start / unit) + (k // 2 if k % 2 else -(k // 2))) * unit
            centre = middle
            for _ in range(4):
                centre -= (self.function(centre) - value) / self.derivative(centre)
            centre = mp.nint(centre / _STEP) * _STEP
            if abs(self.function(centre) - value) < mpf(2) ** -self.exact_bits * unit:
                return centre
        raise ValueError(f"no such number near {middle}")


def single(number: mpf) -> mpf:
    """Return the nearest number of float32."""
    with mp.workprec(24):
        return +number


def _number(number: mpf) -> str:
    return f"{float(single(number)):#.9g}f"
