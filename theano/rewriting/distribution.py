"""A test of whether multiplying out a product saves operations, in time that grows like its factors.

PyTensor tries each factor with each term of each sum among the others, and multiplies constants
out each time: the square of the product's length, and the terms of all sums once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Abs, Add, Neg, Sub
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.operations.tensor_rewrites import (
    local_add_canonizer,
    local_mul_canonizer,
)
from theano.rewriting.canonical_sums import PRODUCTS
from theano.support.data_classes import dataclass

# what PyTensor saves where a division goes, in multiplications
DIVISION = 1.5
# constants nearer to one than this may be one in the dtype of the product
NEAR_ONE = 1e-2
# products of two that are further from one may be zero or infinite in it
FAR_FROM_ONE = 1e15

_SUMS = (Add, Sub, Neg)

# factors and divisors of a term
Term = tuple[list[Any], list[Any]]


class _Unknown(Exception):
    """Constants may do more than is asked here."""


def saves_operations(fgraph: FunctionGraph, node: Apply) -> bool:
    """Return whether PyTensor's rewrite may multiply out a product, a quotient or a reciprocal.

    Where others read the sum, or a part of the product, these are computed all the same, and nothing
    is saved; what cancels does so all the same, for it may be zero.
    """
    above, below = local_mul_canonizer.get_num_denum(node.outputs[0])
    if len(above) == 1 and not below:
        return False
    has_shared_parts = PRODUCTS.unpacked_but_for_shared(fgraph, node)[2]
    shared = {v for v in (*above, *below) if has_shared_parts or len(fgraph.clients.get(v, ())) > 1}
    try:
        return _saved(above, above, below, shared) or _saved(below, below, above, shared)
    except _Unknown:
        return True


@dataclass(frozen=True)
class _Others:
    """Factors with which sums among the factors, or the divisors, of a product may be multiplied.

    Attributes
    ----------
    factors, divisors
        Those that are no constants.
    numbers
        Each constant with what is saved where it goes.
    """

    factors: frozenset
    divisors: frozenset
    numbers: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, factors: list[Any], divisors: list[Any]) -> _Others:
        if any(map(_is_absolute, divisors)):
            raise _Unknown
        numbers = [(number, 1.0) for v in factors if (number := _value(v)) is not None]
        numbers += [(1 / number, DIVISION) for v in divisors if (number := _value(v)) is not None]
        above, below = (
            frozenset(v for v in each if not is_a(v, Constant)) for each in (factors, divisors)
        )
        return cls(above, below, tuple(numbers))

    def cancel(self, terms: Sequence[Term]) -> bool:
        """Return whether a factor meets itself as a divisor when one of them is part of each term."""
        return any(
            not (self.divisors.isdisjoint(above) and self.factors.isdisjoint(below))
            for above, below in terms
        )

    def save(self, terms: Sequence[Term]) -> bool:
        """Return whether fewer operations are left when a constant is part of each term."""
        numbers = [_number_of(above, below) for above, below in terms]
        if all(number == 1 for number in numbers):
            return True
        return any(_merged(numbers, number, saved) for number, saved in self.numbers)


def _saved(
    candidates: list[Any], factors: list[Any], divisors: list[Any], shared: AbstractSet[Any]
) -> bool:
    """Return whether one of the candidates is a sum whose terms other factors fit into."""
    others: _Others | None = None
    for candidate in candidates:
        if candidate.owner is None or not _is_sum(candidate.owner):
            continue
        added, subtracted = local_add_canonizer.get_num_denum(candidate)
        if len(added) == 1 and not subtracted:
            continue
        others = others or _Others.of(factors, divisors)
        terms = [local_mul_canonizer.get_num_denum(term) for term in (*added, *subtracted)]
        if others.cancel(terms) or (candidate not in shared and others.save(terms)):
            return True
    return False


def _is_sum(node: Apply) -> bool:
    while is_a(node.op, DimShuffle):
        inside = node.inputs[0].owner
        if inside is None:
            return False
        node = inside
    return is_a(node.op, Elemwise) and isinstance(node.op.scalar_op, _SUMS)


def _number_of(above: list[Any], below: list[Any]) -> float | None:
    """Return the constant that a term is a multiple of, None where it is of none.

    Raises
    ------
    _Unknown
        If the term would be simplified by itself.
    """
    if any(_value(v) is not None or _is_absolute(v) for v in below):
        raise _Unknown
    if below and not set(above).isdisjoint(below):
        raise _Unknown
    found = [number for v in above if (number := _value(v)) is not None]
    if len(found) > 1:
        raise _Unknown
    if not found:
        return None
    if found[0] == 1 and len(above) + len(below) > 1:
        raise _Unknown
    return found[0]


def _merged(numbers: Sequence[float | None], number: float, saved: float) -> bool:
    """Return whether operations are saved by multiplying each term by a number.

    One that has a constant is as long as before, or shorter where both make one.
    """
    longer = sum(each is None for each in numbers)
    shorter = sum(each is not None and abs(each * number - 1) < NEAR_ONE for each in numbers)
    return saved - longer + shorter > 0


def _value(variable: Variable) -> float | None:
    """Return the number that a constant holds at all of its places; None for what is none.

    Raises
    ------
    _Unknown
        If it is a special number, or no real one.
    """
    if not is_a(variable, Constant):
        return None
    number: Any = getattr(variable, "unique_value", None)
    if number is None:
        return None
    number = np.asarray(number).item()
    if isinstance(number, complex) or not np.isfinite(number) or number == 0:
        raise _Unknown
    if number != 1 and abs(number - 1) < NEAR_ONE:
        raise _Unknown
    if not 1 / FAR_FROM_ONE < abs(number) < FAR_FROM_ONE:
        raise _Unknown
    return float(number)


def _is_absolute(variable: Variable) -> bool:
    node = variable.owner
    return node is not None and is_a(node.op, Elemwise) and is_a(node.op.scalar_op, Abs)
