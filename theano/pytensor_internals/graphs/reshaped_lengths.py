"""Lengths of arrays that were given a shape, where no rewriting is needed to find which one is -1.

PyTensor chooses for each axis between the length that is asked for and the one that is left over; a
product of matrices in a loop is reshaped before and after it, by lengths of other arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.basic import MakeVector, constant
from pytensor.tensor.math import int_div, maximum, mul
from pytensor.tensor.subtensor import Subtensor, get_idx_list

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.not_negative import is_not_negative

LengthOf = Callable[[Variable, int], Variable]


def shape_of_reshape(
    node: Apply, length_of: LengthOf, known: Callable[[Variable], Variable]
) -> tuple[Variable, ...] | None:
    """Return the shape of a reshaped array.

    None where the lengths are computed in ways that do not show whether one of them is negative.

    Parameters
    ----------
    node
        A node of ``Reshape``.
    length_of
        The length of an array along an axis.
    known
        What is known of a length that may be read from a shape.
    """
    array: Any
    array, asked_for = node.inputs
    asked = _entries(asked_for)
    if asked is None or array.type.ndim == 0:
        return None
    left_over = [k for k, length in enumerate(asked) if _is_minus_one(length)]
    given = [known(entry_of_list(length)) for k, length in enumerate(asked) if k not in left_over]
    if len(left_over) > 1 or not all(map(is_not_negative, given)):
        return None
    if left_over:
        total = [length_of(array, axis) for axis in range(array.type.ndim)]
        given.insert(left_over[0], _quotient(total, given))
    return tuple(given)


def _entries(asked_for: Variable) -> list[Variable] | None:
    """Return the lengths that a shape consists of, if it was put together from them."""
    if is_a(asked_for, Constant):
        return [constant(int(length), dtype="int64") for length in asked_for.data]
    node = asked_for.owner
    if node is None or not is_a(node.op, MakeVector):
        return None
    if any(getattr(length.type, "dtype", None) != "int64" for length in node.inputs):
        return None
    return list(node.inputs)


def entry_of_list(length: Variable) -> Variable:
    """Return a length itself, where it is read from a vector of lengths."""
    node = length.owner
    if node is None or not is_a(node.op, Subtensor):
        return length
    entries, read = _entries(node.inputs[0]), get_idx_list(node.inputs, node.op.idx_list)
    if entries is None or len(read) != 1 or not is_a(read[0], Constant):
        return length
    place = int(read[0].data)
    return entries[place] if -len(entries) <= place < len(entries) else length


def _is_minus_one(length: Variable) -> bool:
    return is_a(length, Constant) and int(length.data) == -1


def _quotient(total: list[Variable], given: list[Variable]) -> Variable:
    """Return how often the given lengths go into all of them; what stands in both is left out.

    Where the lengths that are given are zero, NumPy does not know the other one, and raises an error.
    """
    above, below = list(total), []
    for length in given:
        if is_a(length, Constant) or length not in above:
            below.append(length)
        else:
            above.remove(length)
    dividend, divisor = _product(above), _product(below)
    if is_a(divisor, Constant):
        number = max(int(divisor.data), 1)
        if is_a(dividend, Constant):
            return constant(int(dividend.data) // number, dtype="int64")
        if number == 1:
            return dividend
        divisor = constant(number, dtype="int64")
    else:
        divisor = maximum(divisor, constant(1, dtype="int64"))
    quotient: Variable = int_div(dividend, divisor)
    return quotient


def _product(lengths: Sequence[Variable]) -> Variable:
    """Return a product in which the numbers are one."""
    number = prod(int(length.data) for length in lengths if is_a(length, Constant))
    others = [length for length in lengths if not is_a(length, Constant)]
    if not others or number == 0:
        return constant(number, dtype="int64")
    if number != 1:
        others.append(constant(number, dtype="int64"))
    product: Variable = others[0] if len(others) == 1 else mul(*others)
    return product
