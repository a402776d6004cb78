"""Slices whose bounds differ between steps while their length does not: ``x[i * n : (i + 1) * n]``.

The length is known before the loop, as memory has to be; where the slice begins is computed in each
step. A NumPy slice is shorter where the array ends: of such a call PyTensor runs the nodes.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

from theano.link.native.ir.ir import CallRefused, CannotLower, Scalar, Size, Value
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.symbolic import compared
from theano.link.native.lowering.step import Step
from theano.link.native.statements.numbers import Assign

# a sum of products of numbers: how often each product, by the names of its factors
Polynomial = Counter[tuple[str, ...]]

_NOT_NEGATIVE = Expression("not negative", "is not negative", None, "bool")
_AT_MOST = Expression("at most", "is at most", None, "bool")
_OUTSIDE = "a slice that is not within its array, with bounds that differ between steps"


def window(step: Step, start: Value | None, stop: Value | None, size: Size) -> tuple[Scalar, Size]:
    """Return where a slice begins and how many elements it has; CannotLower if that may differ.

    A call is refused in the step in which the slice is not within an axis of this size.
    """
    if not isinstance(start, Scalar) or not isinstance(stop, Scalar):
        raise CannotLower("a slice whose length may differ between steps")
    length = _difference(step, start, stop)
    if isinstance(length, int) and length < 0:
        raise CannotLower("a slice that always ends before it begins")
    step.sizes.check(compared(length, ">=", 0), "a slice that ends after it begins")
    room = step.of_size(step.sizes.binary(size, "-", length))
    step.check(_NOT_NEGATIVE, [start], CallRefused, _OUTSIDE)
    step.check(_AT_MOST, [start, room], CallRefused, _OUTSIDE)
    return start, length


def _difference(step: Step, start: Scalar, stop: Scalar) -> Size:
    """Return how far two numbers are from each other; CannotLower if it is not known before the loop."""
    numbers: dict[str, Scalar] = {}
    difference = _polynomial(step, stop, numbers)
    difference.subtract(_polynomial(step, start, numbers))
    length: Size = 0
    for names, times in difference.items():
        if not times:
            continue
        factors = [step.size(numbers[name], "the length of a slice") for name in names]
        length = step.sizes.binary(length, "+", step.sizes.product([*factors, times]))
    return length


def _polynomial(step: Step, number: Scalar, numbers: dict[str, Scalar]) -> Polynomial:
    """Return a number as a sum of products of others, which are noted by their names."""
    if number.literal is not None:
        return Counter({(): int(number.literal)})
    made_by = step.made_by(number)
    # what has fewer bits, or no sign, may have wrapped around
    if isinstance(made_by, Assign) and number.dtype == "int64":
        parts = [_polynomial(step, operand, numbers) for operand in made_by.operands]
        match made_by.operation.operation:
            case "add":
                return _sum(parts)
            case "subtract":
                return _sum([parts[0], _product([Counter({(): -1}), parts[1]])])
            case "multiply":
                return _product(parts)
    if number.dtype == "uint64":
        raise CannotLower(f"a bound of a slice that is computed from {number.dtype}")
    numbers[number.expression] = number
    return Counter({(number.expression,): 1})


def _sum(parts: Sequence[Polynomial]) -> Polynomial:
    total: Polynomial = Counter()
    for part in parts:
        total.update(part)
    return total


def _product(parts: Sequence[Polynomial]) -> Polynomial:
    product: Polynomial = Counter({(): 1})
    for part in parts:
        terms: Polynomial = Counter()
        for (a, times), (b, others) in itertools.product(product.items(), part.items()):
            terms[tuple(sorted(a + b))] += times * others
        product = terms
    return product
