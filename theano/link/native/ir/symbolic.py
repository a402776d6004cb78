"""Integers that are known when a loop is called: names, and what is computed of them.

They compare by what they are. What can be computed when the code is made, is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, fields
from typing import Any

from theano.support.data_classes import dataclass

# from how a name reads to how it reads elsewhere
Rename = Callable[[str], str]


def _called(function: str, operands: list[str]) -> str:
    return f"{function}({', '.join(operands)})"


def _as_text(literal: Literal) -> str:
    return literal.text


@dataclass(frozen=True)
class Spelling:
    """Texts of those parts of a number that are no arithmetic on names; by default, in messages.

    Attributes
    ----------
    call
        A function, given its name and how its operands read.
    size_of_array
        A size of an array, given its name and the dimension.
    as_double
        A number in floating point, given how it reads.
    literal
        A number that is known.
    """

    call: Callable[[str, list[str]], str] = _called
    size_of_array: Callable[[str, int], str] = "{}.shape[{}]".format
    as_double: Callable[[str], str] = "double({})".format
    literal: Callable[[Literal], str] = _as_text


_PLAIN = Spelling()

_BINDS = {"?": 0, "||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5}
_BINDS |= dict.fromkeys(("==", "!=", "<", ">", "<=", ">="), 3)
_TIGHTEST = 9


@dataclass(frozen=True)
class Symbolic:
    """A number of 64 bits, or a boolean."""

    @property
    def binds(self) -> int:
        """Return how tightly its outermost operator binds."""
        return _TIGHTEST

    def spelled(self, spelling: Spelling) -> str:
        """Return it as text."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.spelled(_PLAIN)

    def names(self) -> set[str]:
        """Return the names that it is computed of."""
        found: set[str] = set()
        for part in self._parts():
            found |= part.names() if isinstance(part, Symbolic) else set()
        return found

    def renamed(self, rename: Rename) -> Symbolic:
        """Return the same of other names."""
        changed = [_renamed(getattr(self, entry.name), rename) for entry in fields(self)]
        return type(self)(*changed)

    def _parts(self) -> list[Any]:
        values = [getattr(self, entry.name) for entry in fields(self)]
        return [one for v in values for one in (v if isinstance(v, tuple) else (v,))]


Size = int | Symbolic


def _renamed(value: object, rename: Rename) -> Any:
    if isinstance(value, tuple):
        return tuple(_renamed(one, rename) for one in value)
    return value.renamed(rename) if isinstance(value, Symbolic) else value


_names: dict[str, Name] = {}


@dataclass(frozen=True)
class Name(Symbolic):
    """A number that has a name; one object for each, as most that sizes ask is which name it is."""

    name: str

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __new__(cls, name: str) -> Name:
        return _names.get(name) or _names.setdefault(name, object.__new__(cls))

    def __getnewargs__(self) -> tuple[str]:
        return (self.name,)

    def names(self) -> set[str]:
        return {self.name}

    def renamed(self, rename: Rename) -> Symbolic:
        return Name(rename(self.name))

    def spelled(self, spelling: Spelling) -> str:
        return self.name


@dataclass(frozen=True)
class Literal(Symbolic):
    """A number of a type that is known when code is made; as text, which distinguishes zeros."""

    text: str
    dtype: str
    value: Any = field(compare=False)

    def spelled(self, spelling: Spelling) -> str:
        return spelling.literal(self)


@dataclass(frozen=True)
class AsDouble(Symbolic):
    """A number in floating point."""

    a: Symbolic

    def spelled(self, spelling: Spelling) -> str:
        return spelling.as_double(_within(self.a, _TIGHTEST, spelling))


@dataclass(frozen=True)
class Item(Symbolic):
    """One of the numbers that the caller passes, or that a loop returns."""

    array: str
    position: int

    def names(self) -> set[str]:
        return {self.array}

    def spelled(self, spelling: Spelling) -> str:
        return f"{self.array}[{self.position}]"


@dataclass(frozen=True)
class SizeOfArray(Symbolic):
    """A size of a NumPy array."""

    array: str
    dimension: int

    def names(self) -> set[str]:
        return {self.array}

    def spelled(self, spelling: Spelling) -> str:
        return spelling.size_of_array(self.array, self.dimension)


@dataclass(frozen=True)
class Operation(Symbolic):
    """``a operator b``: a sum, difference, product, quotient, or comparison, or that both or one holds."""

    operator: str
    a: Size
    b: Size

    @property
    def binds(self) -> int:
        return _BINDS[self.operator]

    def spelled(self, spelling: Spelling) -> str:
        # comparisons are put in brackets within others, and what would bind to the left
        first = self.binds + (self.binds == _BINDS["=="])
        second = self.binds + (self.operator not in ("+", "*", "&&", "||"))
        left, right = _within(self.a, first, spelling), _within(self.b, second, spelling)
        return f"{left} {self.operator} {right}"


@dataclass(frozen=True)
class Negative(Symbolic):
    """``-a``."""

    a: Size

    @property
    def binds(self) -> int:
        return _BINDS["*"] + 1

    def spelled(self, spelling: Spelling) -> str:
        return f"-{_within(self.a, _TIGHTEST, spelling)}"


@dataclass(frozen=True)
class Choice(Symbolic):
    """One number where a condition holds, and another where it does not."""

    condition: Size
    yes: Size
    no: Size

    @property
    def binds(self) -> int:
        return _BINDS["?"]

    def spelled(self, spelling: Spelling) -> str:
        parts = [_within(part, 1, spelling) for part in (self.condition, self.yes, self.no)]
        return f"{parts[0]} ? {parts[1]} : {parts[2]}"


@dataclass(frozen=True)
class Call(Symbolic):
    """A function of the runtime or of what stands before programs, or a loop."""

    function: str
    operands: tuple[Size, ...]

    def renamed(self, rename: Rename) -> Symbolic:
        return Call(rename(self.function), _renamed(self.operands, rename))

    def spelled(self, spelling: Spelling) -> str:
        return spelling.call(self.function, [spelled(one, spelling) for one in self.operands])


def spelled(size: Size, spelling: Spelling) -> str:
    """Return a number as text."""
    return str(size) if isinstance(size, int) else size.spelled(spelling)


def _within(size: Size, binds: int, spelling: Spelling) -> str:
    """Return a part as text, in brackets where it needs them."""
    text = spelled(size, spelling)
    if isinstance(size, int):
        return f"({text})" if size < 0 and binds > _BINDS["<"] else text
    return f"({text})" if size.binds < binds else text


def factor(size: Size) -> str:
    """Return a number as text next to which a multiplication may stand."""
    return _within(size, _BINDS["*"], _PLAIN)


def compared(a: Size, operator: str, b: Size) -> Symbolic:
    """Return whether ``a operator b``."""
    return Operation(operator, a, b)


def both(a: Symbolic, b: Symbolic) -> Symbolic:
    """Return whether two conditions hold."""
    return Operation("&&", a, b)


def sum_of(a: Size, b: Size) -> Size:
    """Return ``a + b``, which is known not to overflow."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if a == 0 else a
    return Operation("+", a, b)


def difference(a: Size, b: Size) -> Size:
    """Return ``a - b``, which is known not to overflow."""
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if a == b:
        return 0
    return a if b == 0 else Operation("-", a, b)


def product_of(a: Size, b: Size) -> Size:
    """Return ``a * b``, which is known not to overflow."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 0 or b == 0:
        return 0
    if a == 1 or b == 1:
        return b if a == 1 else a
    return Operation("*", a, b)


def product_of_all(sizes: Iterable[Size]) -> Size:
    """Return how many elements an array of these sizes has."""
    total: Size = 1
    for size in sizes:
        total = product_of(total, size)
    return total


def minimum(a: Size, b: Size) -> Size:
    """Return the smaller of two."""
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return a if a == b else Choice(compared(a, "<", b), a, b)


def maximum(a: Size, b: Size) -> Size:
    """Return the larger of two."""
    if isinstance(a, int) and isinstance(b, int):
        return max(a, b)
    return a if a == b else Choice(compared(a, ">", b), a, b)
