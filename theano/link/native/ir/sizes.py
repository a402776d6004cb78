"""Sizes that are known when a loop is called: named, compared, and checked in its prologue."""

from __future__ import annotations

import math
from collections.abc import Iterable

from theano.link.native.ir.ir import CannotLower
from theano.link.native.ir.prologue import (
    Element,
    Entry,
    NameChecked,
    NameNumber,
    Require,
    SizeOperation,
)
from theano.link.native.ir.symbolic import Call, Literal, Name, Operation, Size, Symbolic, compared

_SIZE = "int64"
# what may be added to the size of an array without a check
_SMALL = 2**16


class Sizes:
    """The prologue of a loop: names of sizes and numbers, and the checks between them.

    Attributes
    ----------
    entries
        What the prologue does, in order.
    number_types
        The types of the numbers that are not sizes.
    checks
        What each check says when it fails; the C function returns its position plus one.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.checks: list[str] = []
        self.number_types: dict[str, str] = {}
        self._named: dict[object, Name] = {}
        # what sizes that have a name are
        self._definitions: dict[Size, Symbolic] = {}
        # numbers that are so much more than a size
        self._more: dict[Size, tuple[Size, int]] = {}
        # numbers that are products of two sizes
        self._factors: dict[Size, set[Size]] = {}
        # numbers that are the larger of something and of one that is not negative
        self._not_negative: set[Size] = set()
        # names of sums of sizes that are not negative
        self._sums: dict[Size, tuple[Size, Size]] = {}
        self._signed: set[Size] = set()
        # names in the order of their definitions; True for those that the caller passes
        self._names: dict[Size, bool] = {}
        self._ages: dict[Size, int] = {}
        # which sizes are the same, as the prologue checks
        self._same: dict[Size, Size] = {}
        self._required: set[Symbolic] = set()

    @property
    def names(self) -> list[str]:
        """The names of all sizes."""
        return [str(name) for name in self._names]

    def knows(self, size: Size) -> bool:
        """Return whether a size is computed of nothing that differs between steps."""
        return isinstance(size, int) or all(
            Name(name) in self._names or name in self.number_types for name in size.names()
        )

    def argument(self, name: str, given: Symbolic, about: str) -> Name:
        """Return a name for a size that the caller passes."""
        named = self._add_name(name, passed=True)
        self.entries.append(NameNumber(name, _SIZE, given, about))
        return named

    def name(self, size: Size) -> Size:
        """Return a name for a size; numbers and names stand for themselves."""
        if isinstance(size, int) or size in self._names:
            return size
        if isinstance(size, Name) and self.number_types.get(size.name) == _SIZE:
            return self._add_name(size.name, passed=False)
        if size not in self._named:
            name = self._new_name()
            self._named[size] = name
            self._definitions[name] = size
            self.entries.append(NameNumber(name.name, _SIZE, size))
        return self._named[size]

    def _new_name(self) -> Name:
        return self._add_name(f"n{len(self._names)}", passed=False)

    def _add_name(self, text: str, passed: bool) -> Name:
        name = Name(text)
        self._names[name] = passed
        self._ages.setdefault(name, len(self._ages))
        return name

    def defined_by_statements(self, text: str) -> Name:
        """Return a name for a number of 64 bits that statements give a value, and size views."""
        return self._add_name(text, passed=True)

    def find(self, size: Size) -> Size:
        """Return the representative of all sizes that are known to be the same."""
        # as _representative, without its call: nothing is asked more often
        same = self._same
        while (found := same.get(size)) is not None:
            size = found
        return size

    def known_below(self, shape: Iterable[Size], elements: int) -> bool:
        """Return whether a shape is known, and has fewer elements than so many."""
        found = [self.find(size) for size in shape]
        known = [size for size in found if isinstance(size, int)]
        return len(known) == len(found) and math.prod(known) < elements

    def equal(self, a: Size, b: Size, why: str) -> Size:
        """State that two sizes are the same, with a check where that is not certain."""
        first, second = sorted((self.find(a), self.find(b)), key=self._age)
        if first != second:
            self.check(compared(self.find(a), "==", self.find(b)), why)
            if isinstance(second, Symbolic):
                self._same[second] = first
        return self.find(a)

    def _age(self, size: Size) -> int:
        return -1 if isinstance(size, int) else self._ages[size]

    def check(self, condition: Symbolic, why: str) -> None:
        """Refuse a call for which the condition does not hold, unless that is certain."""
        if self._is_certain(condition):
            return
        self._required.add(condition)
        self.checks.append(why)
        self.entries.append(Require(condition, len(self.checks), why))

    def _is_certain(self, condition: Size) -> bool:
        """Return whether a condition was checked before, or holds of any sizes."""
        if condition in self._required:
            return True
        match condition:
            case Operation("&&", a, b):
                return self._is_certain(a) and self._is_certain(b)
            case Operation("==" | ">=" | "<=", a, b) if a == b:
                return True
            case Operation(">=", a, 0):
                return self.is_length(a)
        return False

    def is_length(self, size: Size) -> bool:
        """Return whether a size cannot be negative, as one along an axis, and what is added to it."""
        if isinstance(size, int):
            return size >= 0
        if self._is_passed(size):
            return True
        if compared(size, ">=", 0) in self._required:
            return True
        match self._definitions.get(size):
            case Call(function) if function == SLICE_LENGTH:
                return True
            case Operation("+" | "*", a, b):
                # which do not overflow
                return self.is_length(a) and self.is_length(b)
        return False

    def define(self, dtype: str, value: Symbolic | SizeOperation | Element) -> str:
        """Return a name for a number of the prologue that is not a size."""
        key = dtype, value
        if key not in self._named:
            name = f"c{len(self.entries)}"
            self.entries.append(NameNumber(name, dtype, value))
            self._named[key] = Name(name)
            self.number_types[name] = dtype
            if dtype == _SIZE:
                self._note_sum_or_product(self._named[key], value)
        return self._named[key].name

    def _note_sum_or_product(self, name: Name, value: object) -> None:
        """Remember what a number is of sizes that the caller passes, or that are not negative."""
        match value:
            case SizeOperation(operation, (Literal() as number, _)) | SizeOperation(
                operation, (_, Literal() as number)
            ) if operation.operation == "maximum" and int(number.value) >= 0:
                self._not_negative.add(name)
            case SizeOperation(operation, (a, b)) if operation.operation == "minimum":
                if all(self._is_passed(one) or self.at_least(one, 0) for one in (a, b)):
                    self._not_negative.add(name)
            case SizeOperation(operation, (a, b)) if operation.operation == "multiply":
                if self._is_passed(a) and self._is_passed(b):
                    self._factors[name] = {a, b}
            case SizeOperation(operation, (Literal() as number, size)) | SizeOperation(
                operation, (size, Literal() as number)
            ) if operation.operation == "add":
                more = int(number.value)
                if self._is_passed(size) and 0 <= more <= _SMALL:
                    self._more[name] = self.find(size), more

    def _is_passed(self, size: Size) -> bool:
        """Return whether a size is one that the caller passes, or is never negative like those."""
        return bool(self._names.get(size)) or size in self._not_negative

    def is_product(self, size: Size, a: Size, b: Size) -> bool:
        """Return whether a size is known to be the product of two others."""
        wanted = {self.find(a), self.find(b)}
        return any(
            name in self._factors and {*map(self.find, self._factors[name])} == wanted
            for name in (size, self.find(size))
        )

    def at_least(self, size: Size, bound: int) -> bool:
        """Return whether a size is known to be at least a number."""
        size = self.find(size)
        if isinstance(size, int):
            return size >= bound
        return bound <= self._more.get(size, (0, 0))[1]

    def names_read(self) -> set[str]:
        """Return what the prologue reads."""
        return set().union(*(entry.reads() for entry in self.entries))

    def names_that_reach_a_size(self) -> set[str]:
        """Return what sizes are computed from, or calls refused because of."""
        sizes: set[str] = set(self.names)
        reaching: set[str] = set()
        for entry in reversed(self.entries):
            defined = entry.defines()
            if defined is None or defined in sizes or defined in reaching:
                reaching |= entry.reads()
        return reaching

    def binary(self, a: Size, operator: str, b: Size) -> Size:
        """Return the size ``a operator b`` for + - *."""
        a, b = self.find(a), self.find(b)
        if isinstance(a, int) and isinstance(b, int):
            return _of_64_bits({"+": a + b, "-": a - b, "*": a * b}[operator])
        if operator == "-" and isinstance(b, int) and a in self._more:
            size, more = self._more[a]
            if b <= more:
                return self.binary(size, "+", more - b)
        neutral = 1 if operator == "*" else 0
        if b == neutral:
            return a
        if a == neutral and operator != "-":
            return b
        result = self._checked_result(a, operator, b)
        negative = any(isinstance(size, int) and size < 0 for size in (a, b))
        if operator != "+" or negative or a in self._signed or b in self._signed:
            self._signed.add(result)
        else:
            self._sums[result] = (a, b)
        return result

    def _checked_result(self, a: Size, operator: str, b: Size) -> Name:
        """Return the name of ``a operator b``; a call for which it overflows is refused."""
        operation = Operation(operator, a, b)
        if operation not in self._named:
            name = self._new_name()
            self._named[operation] = name
            self._definitions[name] = operation
            self.checks.append(f"{operation}, which does not overflow")
            self.entries.append(NameChecked(name.name, a, operator, b, len(self.checks)))
        return self._named[operation]

    def check_memory(self, shape: Iterable[Size], itemsize: int, why: str) -> None:
        """Refuse a call for which an array would be larger than memory, or a size negative."""
        size = bytes_of(map(self.find, shape), itemsize)
        if not isinstance(size, int):
            self.check(compared(size, ">=", 0), why)

    def known_sum(self, a: Size, b: Size) -> Size | None:
        """Return the sum of two sizes, if it is a number or has a name."""
        a, b = self.find(a), self.find(b)
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0 or b == 0:
            return b if a == 0 else a
        name = self._named.get(Operation("+", a, b))
        return None if name is None else self.find(name)

    def end(self, start: Size, length: Size) -> Size | None:
        """Return where so many elements from a start end, if that is a number or has a name."""
        length = self.find(length)
        for name, value in self._definitions.items():
            if isinstance(value, Call) and value.function == SLICE_LENGTH:
                first, end, step = value.operands
                starts_there = step == 1 and self.find(first) == self.find(start)
                if starts_there and self.find(name) == length:
                    return self.find(end)
        return self.known_sum(start, length)

    def not_before(self, size: Size, bound: Size) -> bool:
        """Return whether it is certain that a size is at least as large as another."""
        if self.find(size) == self.find(bound):
            return True
        if isinstance(size, int):
            return isinstance(bound, int) and size >= bound
        if any(self.not_before(term, bound) for term in self._sums.get(size, ())):
            return True
        return self._is_later_bound(size, bound)

    def _is_later_bound(self, size: Size, bound: Size) -> bool:
        """Return whether both are bounds of slices by numbers, each from the beginning or from the end."""
        match self._definitions.get(size), self._definitions.get(bound):
            case Call(one, (int(a), *within)), Call(other, (int(b), *others)) if (
                one == other == CLIP
            ):
                return within == others and a >= b and (a < 0) == (b < 0)
        return False

    def product(self, sizes: Iterable[Size]) -> Size:
        result: Size = 1
        for size in sizes:
            result = self.binary(result, "*", size)
        return result


# functions of the runtime: a bound of a slice as an index, and how many elements a slice has
CLIP = "clip"
SLICE_LENGTH = "slice_length"
# what multiplies sizes, up to the runtime's TN_MOST_BYTES
BYTES = "bytes"
MOST_BYTES = 2**48


def _of_64_bits(size: int) -> int:
    if abs(size) >= 2**63:
        raise CannotLower("a size that does not fit 64 bits")
    return size


def bytes_of(shape: Iterable[Size], itemsize: int) -> Size:
    """Return the bytes of an array: a number, or what is -1 where memory cannot be so large."""
    sizes = list(shape)
    known = [size for size in sizes if isinstance(size, int)]
    least = math.prod(size for size in known if size) * itemsize
    if least > MOST_BYTES or any(size < 0 for size in known):
        raise CannotLower("an array larger than any memory")
    names = [size for size in sizes if isinstance(size, Symbolic)]
    if not names:
        return 0 if 0 in known else least
    factor = [] if 0 not in known else [0]
    return Call(BYTES, (least, *factor, *names))
