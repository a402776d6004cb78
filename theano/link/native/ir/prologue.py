"""The prologue of a step: numbers are named, and calls refused.

Each entry says what it reads and what it names; `Require` and `NameChecked` may refuse the call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.symbolic import Size, Symbolic
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class SizeOperation:
    """An operation on numbers that have names, or are literals."""

    operation: Expression
    operands: tuple[Symbolic, ...]
    dtypes: tuple[str, ...]

    def names(self) -> set[str]:
        return names_of(self.operands)


@dataclass(frozen=True)
class Element:
    """An element of an array, so many from its beginning."""

    array: str
    offset: Size = 0

    def names(self) -> set[str]:
        return {self.array, *names_of([self.offset])}


@dataclass(frozen=True)
class Entry(ABC):
    """A line of the prologue, or a few."""

    @abstractmethod
    def reads(self) -> set[str]:
        """Return the names that it reads."""

    def defines(self) -> str | None:
        """Return the name that it defines or writes to; None if it may refuse the call."""
        return None


@dataclass(frozen=True)
class NameNumber(Entry):
    """A name for a number of a type."""

    name: str
    dtype: str
    value: Symbolic | SizeOperation | Element
    about: str = ""

    def reads(self) -> set[str]:
        return self.value.names()

    def defines(self) -> str | None:
        return self.name


@dataclass(frozen=True)
class NameChecked(Entry):
    """A name for ``a operator b``; a call for which it overflows is refused."""

    name: str
    a: Size
    operator: str
    b: Size
    check: int

    def reads(self) -> set[str]:
        return names_of([self.a, self.b])


@dataclass(frozen=True)
class Require(Entry):
    """A call for which a condition does not hold is refused."""

    condition: Symbolic
    check: int
    why: str

    def reads(self) -> set[str]:
        return self.condition.names()


@dataclass(frozen=True)
class BeginCall(Entry):
    """The arguments of a loop's call: so many numbers, arrays and results."""

    prefix: str
    title: str
    numbers: int
    arrays: int
    results: int
    steps: Size

    def reads(self) -> set[str]:
        return names_of([self.steps])

    def defines(self) -> str | None:
        return f"{self.prefix}_numbers"


@dataclass(frozen=True)
class PassNumber(Entry):
    """One of the numbers that a loop is called with."""

    prefix: str
    position: int
    size: Size

    def reads(self) -> set[str]:
        return names_of([self.size])

    def defines(self) -> str | None:
        return f"{self.prefix}_numbers"


@dataclass(frozen=True)
class ShowArray(Entry):
    """An array that a loop looks at while it plans; none where it only needs some address.

    Attributes
    ----------
    number
        The name of the number that is shown in place of an array.
    """

    prefix: str
    position: int
    array: str = ""
    offset: Size = 0
    number: str = ""

    def reads(self) -> set[str]:
        return {name for name in (self.array, self.number) if name} | names_of([self.offset])

    def defines(self) -> str | None:
        return f"{self.prefix}_arrays"


@dataclass(frozen=True)
class ShowList(Entry):
    """Numbers that a loop looks at while it plans, side by side as in an array.

    Attributes
    ----------
    dtype
        The type of the numbers.
    """

    prefix: str
    position: int
    dtype: str
    numbers: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return what the array of them is called."""
        return f"{self.prefix}_list{self.position}"

    def reads(self) -> set[str]:
        return set(self.numbers)

    def defines(self) -> str | None:
        return f"{self.prefix}_arrays"


def names_of(sizes: Sequence[Size]) -> set[str]:
    """Return the names that sizes are computed of."""
    found: set[str] = set()
    for size in sizes:
        found |= set() if isinstance(size, int) else size.names()
    return found
