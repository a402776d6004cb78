"""Lengths of slices of arrays by bounds that are numbers, as PyTensor's are but shorter.

PyTensor writes down what a slice is by three or four choices for each bound, of which rewriting
leaves one or two; what a loop reads of another's rows, and each gate of a recurrent network, is one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.scalar.basic import Add
from pytensor.tensor.basic import constant
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.math import add, maximum, minimum
from pytensor.tensor.subtensor import get_idx_list

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.not_negative import is_not_negative

LengthOf = Callable[[Variable, int], Variable]


def shape_of_slices(node: Apply, length_of: LengthOf) -> tuple[Variable, ...] | None:
    """Return the shape of a part of an array, by the lengths of the array.

    None where a bound is no number, or the slice is one of those that few programs have.
    """
    source: Any = node.inputs[0]
    entries = get_idx_list(node.inputs, node.op.idx_list)  # type: ignore[attr-defined]
    shape = []
    for axis, entry in enumerate(entries):
        if not isinstance(entry, slice):
            continue
        bounds = [_number(bound) for bound in (entry.start, entry.stop, entry.step)]
        if any(isinstance(bound, Variable) for bound in bounds):
            return None
        length = length_of_slice(length_of(source, axis), *bounds)
        if length is None:
            return None
        shape.append(length)
    return (*shape, *(length_of(source, k) for k in range(len(entries), source.type.ndim)))


def length_of_slice(
    length: Variable, start: int | None, stop: int | None, step: int | None
) -> Variable | None:
    """Return how many elements ``x[start:stop:step]`` has, of so many; None for other slices.

    These are slices forward of bounds that are counted from the beginning, or of an end that is
    counted from the end; and backward of a start that is counted from the end, with a stop that
    is counted from the beginning.
    """
    if step == -1 and (start is None or start < 0) and (stop is None or stop >= 0):
        behind = 0 if start is None else -start - 1
        before = 0 if stop is None else stop + 1
        return _without(length, behind + before)
    first = start or 0
    if step not in (None, 1):
        return None
    if first < 0:
        return _at_most(length, -first) if stop is None else None
    if stop is None:
        return _without(length, first)
    if stop < 0:
        return _without(length, first - stop)
    return _at_most(_without(length, first), max(stop - first, 0))


def sum_of_lengths(terms: list[Variable]) -> Variable:
    """Return a sum in which the numbers are one."""
    number = sum(int(term.data) for term in terms if is_a(term, Constant))
    others = [term for term in terms if not is_a(term, Constant)]
    if not others:
        return constant(number, dtype="int64")
    if number:
        others.append(constant(number, dtype="int64"))
    total: Variable = others[0] if len(others) == 1 else add(*others)
    return total


def terms_of(length: Variable) -> list[Variable]:
    """Return what a length is the sum of."""
    node = length.owner
    if node is not None and is_a(node.op, Elemwise) and is_a(node.op.scalar_op, Add):
        return list(node.inputs)
    return [length]


def _number(bound: Any) -> Any:
    if is_a(bound, Constant):
        return int(bound.data)
    return bound if bound is None or isinstance(bound, Variable) else int(bound)


def _at_most(length: Variable, most: int) -> Variable:
    if most == 0:
        return constant(0, dtype="int64")
    if is_a(length, Constant):
        return constant(min(int(length.data), most), dtype="int64")
    limited: Variable = minimum(length, constant(most, dtype="int64"))
    return limited


def _without(length: Variable, number: int) -> Variable:
    """So many less, or none."""
    if number == 0:
        return length
    if is_a(length, Constant):
        return constant(max(int(length.data) - number, 0), dtype="int64")
    less = constant(-number, dtype="int64")
    terms = terms_of(length)
    known = sum(int(term.data) for term in terms if is_a(term, Constant))
    rest = sum_of_lengths([*terms, less])
    if known >= number and all(map(is_not_negative, terms)):
        return rest
    cut: Variable = maximum(rest, constant(0, dtype="int64"))
    return cut
