"""Sizes that are known when a loop is called: named, compared, and checked in its prologue."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from theano.link.native.ir.ir import Argument, CannotLower, Size

_WORD = re.compile(r"\w+")
_ASSIGNED = re.compile(r"(?:const \w+ \*?(?:const )?)?(\w+)(?:\[[^]]*\])? = ")


class Sizes:
    """The prologue of a loop: names of sizes and numbers, and the checks between them.

    Parameters
    ----------
    known
        The prologue of the same loop as it was written before: what it found to be the same
        is known from the beginning here, and still checked.

    Attributes
    ----------
    lines
        C statements, in order.
    number_types
        The C types of the numbers that are not sizes.
    checks
        What each check says when it fails; the C function returns its position plus one.
    """

    def __init__(self, known: Sizes | None = None) -> None:
        self.lines: list[str] = []
        self.checks: list[str] = []
        self.number_types: dict[str, str] = {}
        self._named: dict[str, str] = {}
        # names of sums of sizes that are not negative
        self._sums: dict[str, tuple[Size, Size]] = {}
        self._signed: set[Size] = set()
        # names in the order of their definitions; True for those that the caller passes
        self._names: dict[str, bool] = {}
        # Which sizes are the same, as far as is known, and as far as the prologue has checked.
        self._same: dict[str, Size] = {} if known is None else known._same_arguments()
        self._checked: dict[str, Size] = {}
        # what is known from the beginning and not checked yet; why sizes must be the same
        self._pending = dict(self._same)
        self._reasons: dict[str, str] = {} if known is None else dict(known._reasons)

    @property
    def names(self) -> list[str]:
        """The names of all sizes."""
        return list(self._names)

    def argument(self, name: str, text: str, comment: str) -> str:
        """A name for a size that the caller passes."""
        self._names[name] = True
        self.lines.append(f"const int64_t {name} = {text}; /* {_comment(comment)} */")
        self._check_known()
        return name

    def _check_known(self) -> None:
        """Check what is known from the beginning, as soon as there are the sizes to compare."""
        for name, other in list(self._pending.items()):
            if name in self._names and (isinstance(other, int) or other in self._names):
                del self._pending[name]
                self.check(f"{name} == {other}", self._reasons[name])
                self._checked[name] = other

    def name(self, expression: Size, prefix: str = "n") -> Size:
        """A name for an expression; numbers and names stand for themselves."""
        if isinstance(expression, int):
            return expression
        if expression in self._names:
            return expression
        if expression not in self._named:
            name = f"{prefix}{len(self._names)}"
            self._names[name] = False
            self._named[expression] = name
            self.lines.append(f"const int64_t {name} = {expression};")
        return self._named[expression]

    def find(self, size: Size) -> Size:
        """The representative of all sizes that are known to be the same."""
        return _representative(self._same, size)

    def equal(self, a: Size, b: Size, why: str) -> Size:
        """State that two sizes are the same, with a check where that is not certain."""
        first, second = _representative(self._checked, a), _representative(self._checked, b)
        if first != second:
            self.check(f"{first} == {second}", why)
        for same in (self._checked, self._same):
            first, second = sorted(
                (_representative(same, a), _representative(same, b)), key=self._age
            )
            if first != second and isinstance(second, str):
                same[second] = first
                self._reasons.setdefault(second, why)
        return self.find(a)

    def _age(self, size: Size) -> int:
        return -1 if isinstance(size, int) else list(self._names).index(size)

    def _same_arguments(self) -> dict[str, Size]:
        """What the sizes that the caller passes are the same as, among themselves and numbers."""
        same: dict[str, Size] = {}
        for name in self._same:
            other = self.find(name)
            if self._names[name] and (isinstance(other, int) or self._names[other]):
                same[name] = other
        return same

    def check(self, condition: str, why: str) -> None:
        """Refuse a call for which the condition does not hold."""
        self.checks.append(why)
        self.lines.append(f"if (!({condition})) return {len(self.checks)}; /* {_comment(why)} */")

    def define(self, dtype: str, expression: str) -> str:
        """A name for a number of the prologue that is not a size."""
        key = f"({dtype}) {expression}"
        if key not in self._named:
            name = f"c{len(self.lines)}"
            self.lines.append(f"const {dtype} {name} = {expression};")
            self._named[key] = name
            self.number_types[name] = dtype
        return self._named[key]

    def reads(self, argument: Argument) -> bool:
        """Whether the prologue reads an array."""
        return any(argument.name in _WORD.findall(line.split("/*")[0]) for line in self.lines)

    def sizes_from(self, roots: Iterable[str]) -> list[str]:
        """Those of the names in C which sizes are computed from."""
        return [root for root in roots if self._reaches_a_size(root)]

    def _reaches_a_size(self, root: str) -> bool:
        reached = {root}
        for line in self.lines:
            # what a planned loop answers depends on the arrays that it was shown
            text = line.split("/*")[0].replace("_result", "_arrays")
            words = set(_WORD.findall(text))
            if not words & reached:
                continue
            assigned = _ASSIGNED.match(line)
            if assigned is None or assigned[1] in self._names:
                return True
            reached.add(assigned[1])
        return False

    def binary(self, a: Size, operator: str, b: Size) -> Size:
        """The size ``a operator b`` for + - *."""
        a, b = self.find(a), self.find(b)
        if isinstance(a, int) and isinstance(b, int):
            return _of_64_bits({"+": a + b, "-": a - b, "*": a * b}[operator])
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
            self._sums[str(result)] = (a, b)
        return result

    def _checked_result(self, a: Size, operator: str, b: Size) -> str:
        """The name of ``a operator b``; a call for which it overflows is refused."""
        expression = f"{a} {operator} {b}"
        if expression not in self._named:
            name = f"n{len(self._names)}"
            self._names[name] = False
            self._named[expression] = name
            self.checks.append(f"{expression}, which does not overflow")
            overflows = f"__builtin_{_OVERFLOWS[operator]}_overflow({a}, {b}, &{name})"
            self.lines.append(f"int64_t {name}; if ({overflows}) return {len(self.checks)};")
        return self._named[expression]

    def check_memory(self, shape: Iterable[Size], itemsize: int, why: str) -> None:
        """Refuse a call for which an array would be larger than memory, or a size negative."""
        text = bytes_text(map(self.find, shape), itemsize)
        if not text.isdigit():
            self.check(f"{text} >= 0", why)

    def known_sum(self, a: Size, b: Size) -> Size | None:
        """The sum of two sizes, if it is a number or has a name."""
        a, b = self.find(a), self.find(b)
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0 or b == 0:
            return b if a == 0 else a
        name = self._named.get(f"{a} + {b}")
        return None if name is None else self.find(name)

    def not_before(self, size: Size, bound: Size) -> bool:
        """Whether it is certain that a size is at least as large as another."""
        if self.find(size) == self.find(bound):
            return True
        if isinstance(size, int):
            return isinstance(bound, int) and size >= bound
        return any(self.not_before(term, bound) for term in self._sums.get(size, ()))

    def product(self, sizes: Iterable[Size]) -> Size:
        result: Size = 1
        for size in sizes:
            result = self.binary(result, "*", size)
        return result


_OVERFLOWS = {"+": "add", "-": "sub", "*": "mul"}

# TN_MOST_BYTES of prelude.inc
MOST_BYTES = 2**48


def _of_64_bits(size: int) -> int:
    if abs(size) >= 2**63:
        raise CannotLower("a size that does not fit 64 bits")
    return size


def bytes_text(shape: Iterable[Size], itemsize: int) -> str:
    """The bytes of an array in C: a number, or what is -1 where memory cannot be so large."""
    sizes = list(shape)
    known = [size for size in sizes if isinstance(size, int)]
    least = math.prod(size for size in known if size) * itemsize
    if least > MOST_BYTES or any(size < 0 for size in known):
        raise CannotLower("an array that is larger than memory can be")
    names = [size for size in sizes if isinstance(size, str)]
    if not names:
        return str(0 if 0 in known else least)
    factor = [] if 0 not in known else ["0"]
    return f"TN_BYTES({', '.join([str(least), *factor, *names])})"


def _representative(same: dict[str, Size], size: Size) -> Size:
    while isinstance(size, str) and size in same:
        size = same[size]
    return size


def _comment(text: str) -> str:
    return text.replace("*/", "* /")
