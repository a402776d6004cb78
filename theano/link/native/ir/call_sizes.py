"""The sizes of a step for one call: what its prologue names, from the shapes that the call is given.

Nothing is computed that is not asked for, so that numbers of which only values depend need not be known.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from theano.link.native.ir.prologue import Element, NameChecked, NameNumber, SizeOperation
from theano.link.native.ir.sizes import BYTES, Sizes
from theano.link.native.ir.symbolic import (
    AsDouble,
    Call,
    Choice,
    Item,
    Literal,
    Name,
    Negative,
    Operation,
    Size,
    SizeOfArray,
)
from theano.support.data_classes import dataclass


class UnknownSize(Exception):
    """A size depends on what is not known before the call; the text says on what."""


@dataclass(frozen=True)
class Given:
    """The values that a call gives a prologue.

    Attributes
    ----------
    numbers
        The numbers of an array of numbers, by its name and the position.
    shape
        The shape of an array, by its name.
    element
        A number in an array, by its name and how many elements from its beginning.
    call
        What a function of the runtime returns, by its name and operands.
    """

    numbers: Callable[[str, int], int]
    shape: Callable[[str], Sequence[int]]
    element: Callable[[str, int], Any]
    call: Callable[[str, tuple[Any, ...]], int]


class CallSizes:
    """The numbers of a prologue for one call.

    Parameters
    ----------
    sizes
        The prologue.
    given
        What the call gives it.
    known
        Numbers by name that others know.
    """

    def __init__(self, sizes: Sizes, given: Given, known: Mapping[str, Size] | None = None):
        self._given, self._sizes = given, sizes
        self._values: dict[str, Any] = {}
        self._definitions: dict[str, Any] = dict(known or {})
        for entry in sizes.entries:
            if isinstance(entry, NameNumber):
                self._definitions[entry.name] = entry.value
            elif isinstance(entry, NameChecked):
                self._definitions[entry.name] = Operation(entry.operator, entry.a, entry.b)

    def shape(self, sizes: Sequence[Size]) -> tuple[int, ...]:
        """Return sizes as numbers."""
        return tuple(int(self.of(size)) for size in sizes)

    def of(self, size: object) -> Any:
        """Return a size, or another number of the prologue."""
        if isinstance(size, int):
            return size
        return _EVALUATED[type(size)](self, size)

    def name(self, name: Name) -> Any:
        """Return the number that has a name."""
        if name.name not in self._values:
            if name.name not in self._definitions:
                raise UnknownSize(f"{name}, which is computed in the call")
            self._values[name.name] = self.of(self._definitions[name.name])
        return self._values[name.name]

    def operation(self, size: Operation) -> Any:
        """Return the result of an operator."""
        return _OPERATORS[size.operator](self.of(size.a), self.of(size.b))

    def choice(self, size: Choice) -> Any:
        """Return the one of two numbers that is chosen; the other need not be known."""
        return self.of(size.yes if self.of(size.condition) else size.no)

    def item(self, size: Item) -> Any:
        """Return one of the numbers that the caller passes, or that a loop returns."""
        return self._given.numbers(size.array, size.position)

    def size_of_array(self, size: SizeOfArray) -> Any:
        """Return a size of an array that is passed."""
        return self._given.shape(size.array)[size.dimension]

    def element(self, size: Element) -> Any:
        """Return a number of an array that is passed."""
        return self._given.element(size.array, self.of(size.offset))

    def call(self, size: Call) -> Any:
        """Return what a function returns."""
        operands = [self.of(one) for one in size.operands]
        own = _FUNCTIONS.get(size.function)
        return own(*operands) if own else self._given.call(size.function, tuple(operands))

    def applied(self, size: SizeOperation) -> Any:
        """Return the result of a scalar operation."""
        # of a comparison, which operands have a sign stands after a comma
        function = _SCALAR.get(size.operation.operation.split(",")[0])
        if function is None:
            raise UnknownSize(f"the operation {size.operation.name} on numbers of the arguments")
        pairs = zip(size.operands, size.dtypes, strict=True)
        operands = [
            np.asarray(self.of(one)).astype(size.operation.operand_dtype or dtype)[()]
            for one, dtype in pairs
        ]
        return np.asarray(function(*operands)).astype(size.operation.dtype)[()]


_EVALUATED: dict[type, Callable[[CallSizes, Any], Any]] = {
    Name: CallSizes.name,
    Literal: lambda sizes, one: one.value,
    AsDouble: lambda sizes, one: float(sizes.of(one.a)),
    Item: CallSizes.item,
    SizeOfArray: CallSizes.size_of_array,
    Operation: CallSizes.operation,
    Negative: lambda sizes, one: -sizes.of(one.a),
    Choice: CallSizes.choice,
    Call: CallSizes.call,
    SizeOperation: CallSizes.applied,
    Element: CallSizes.element,
}

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: int(a / b) if b else 0,
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def _range_length(first: float, last: float, by: float) -> int:
    return max(0, math.ceil((last - first) / by)) if by else 0


def _bytes(*factors: int) -> int:
    if any(factor < 0 for factor in factors):
        raise UnknownSize("a size that is negative")
    return math.prod(factors)


def _clip(bound: int, size: int, low: int, high: int) -> int:
    bound += size if bound < 0 else 0
    return low if bound < low else min(bound, high)


def _slice_length(start: int, stop: int, step: int) -> int:
    return min(len(range(start, stop, step)), 2**63 - 1)


# functions of sizes, by the names that sizes call them by
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    BYTES: _bytes,
    "clip": _clip,
    "floor_division": lambda a, b: a // b if b else 0,
    "range_length": _range_length,
    "signed": lambda number: min(int(number), 2**63 - 1),
    "slice_length": _slice_length,
    "smaller": min,
}

# operations on numbers, of those in the table of scalar_expressions.py that sizes are computed by
_SCALAR: dict[str, Callable[..., Any]] = {
    "add": lambda *terms: reduce(operator.add, terms),
    "multiply": lambda *factors: reduce(operator.mul, factors),
    "subtract": operator.sub,
    "negate": operator.neg,
    "square": np.square,
    "divide": np.true_divide,
    "floor_division": lambda a, b: a // b if b else a * 0,
    "remainder": lambda a, b: a % b if b else a * 0,
    "power": np.power,
    "first": lambda a, *_: a,
    "second": lambda a, b: b,
    "cast": lambda a: a,
    "choose": lambda condition, yes, no: yes if condition else no,
    "maximum": max,
    "minimum": min,
    "clip": lambda a, low, high: min(max(a, low), high),
    "magnitude": abs,
    "sign": np.sign,
    "or": operator.or_,
    "and": operator.and_,
    "invert": np.invert,
    "ceil": np.ceil,
    "floor": np.floor,
    "trunc": np.trunc,
    "rint": np.rint,
    "sqrt": np.sqrt,
    **{sign: _OPERATORS[sign] for sign in ("==", "<", ">", "<=", ">=")},
    "!=": operator.ne,
}
