"""The sizes of a step as numbers: a kernel is written for arrays of given shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from theano.link.cuda.refusals import NoKernel
from theano.link.native.ir.call_sizes import CallSizes, Given, UnknownSize
from theano.link.native.ir.ir import Argument, Scalar, View
from theano.link.native.ir.prologue import Require
from theano.link.native.ir.symbolic import Name, Size
from theano.link.native.lowering.loop import Loop

# elements of an array's row are counted by integers of 32 bits
MOST_ELEMENTS = 2**31 - 1


class FixedSizes:
    """The sizes of a loop's step, for arrays of these shapes.

    Parameters
    ----------
    shapes
        By the names of arguments: of one row, or of the whole array if it has no rows; traces are left out.
    values
        Those arrays whose values are known, by name; sizes may depend on them.

    Raises
    ------
    NoKernel
        If sizes do not fit together.
    """

    def __init__(
        self,
        loop: Loop,
        shapes: Mapping[str, Sequence[int]],
        values: Mapping[str, np.ndarray] | None = None,
    ):
        self.sizes = loop.step.sizes
        self._values = dict(values or {})
        for argument in loop.arguments:
            if argument.constant is not None:
                self._values[argument.name] = argument.constant
        numbers: dict[int, int] = {}
        strides: dict[str, Size] = {}
        for argument in loop.arguments:
            shape = shapes.get(argument.name)
            if argument.kind == "trace" or shape is None:
                continue
            self._note(argument, tuple(map(int, shape)), numbers, strides)
        self._numbers = numbers
        given = Given(self._number, _no_shape, self._element, _no_call)
        self._call = CallSizes(self.sizes, given, strides)
        self._check()

    def _note(
        self,
        argument: Argument,
        shape: tuple[int, ...],
        numbers: dict[int, int],
        strides: dict[str, Size],
    ) -> None:
        """Record what the caller would pass of an array in C order."""
        ndim, first = len(shape), argument.first_size
        for d, size in enumerate(shape):
            stride = math.prod(shape[d + 1 :])
            numbers[first + 1 + d] = size
            if argument.kind == "invariant":
                numbers[first + 1 + ndim + d] = stride
                strides[f"{argument.name}_s{d}"] = stride

    def _number(self, array: str, position: int) -> int:
        if array != "numbers" or position not in self._numbers:
            raise UnknownSize(f"{array}[{position}]")
        return self._numbers[position]

    def _element(self, array: str, offset: int) -> Any:
        if array not in self._values:
            raise UnknownSize(f"a number in {array}")
        return self._values[array].reshape(-1)[offset]

    def _check(self) -> None:
        """Refuse shapes that do not fit together; what depends on values a kernel cannot check."""
        for entry in self.sizes.entries:
            if isinstance(entry, Require):
                try:
                    holds = self._call.of(entry.condition)
                except UnknownSize as unknown:
                    raise NoKernel(f"a condition on {unknown}") from None
                if not holds:
                    raise NoKernel(entry.why or "sizes that do not fit together")

    def known(self, value: object) -> Any:
        """Return a number of the prologue; None if it depends on more than shapes."""
        try:
            return self._call.of(value)
        except UnknownSize:
            return None

    def fold(self, size: Size) -> Size:
        """Return a size in which all that depends on shapes alone is a number."""
        if isinstance(size, int):
            return size
        number = self.known(size)
        if number is not None:
            return int(number)
        if isinstance(size, Name):
            return size
        return type(size)(*(self._folded(getattr(size, one.name)) for one in fields(size)))

    def _folded(self, part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(map(self._folded, part))
        return part if isinstance(part, str | int) else self.fold(part)

    def number(self, size: Size) -> int:
        """Return a size as a number.

        Raises
        ------
        NoKernel
            If it depends on more than shapes.
        """
        number = self.fold(size)
        if not isinstance(number, int):
            raise NoKernel(f"a size that depends on values, {size}")
        return number

    def shape(self, shape: Sequence[Size]) -> tuple[int, ...]:
        """Return a shape as numbers."""
        found = tuple(self.number(self.sizes.find(size)) for size in shape)
        if math.prod(found) > MOST_ELEMENTS:
            raise NoKernel("an array of more than 2**31 elements")
        return found

    def value(self, scalar: Scalar) -> Any:
        """Return a number that shapes alone determine; None for any other."""
        if scalar.literal is not None or not scalar.invariant:
            return scalar.literal
        return self.known(Name(scalar.expression)) if scalar.expression.isidentifier() else None

    def elements(self, view: View) -> int:
        """Return how many elements a view has."""
        return math.prod(self.shape(view.shape))


def _no_shape(array: str) -> Sequence[int]:
    raise UnknownSize(f"the shape of {array}")


def _no_call(function: str, operands: tuple[Any, ...]) -> int:
    raise UnknownSize(f"what {function} returns")
