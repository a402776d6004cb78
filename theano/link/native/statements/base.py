"""The base class of statements, and what each kind declares about itself.

The passes ask a statement for what they need to know, and know no kinds; so a new kind is one module,
and a function in `render/` that writes it. One that leaves something out cannot be defined.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from enum import Enum
from typing import ClassVar, TypeVar

from theano.link.native.ir.ir import Buffer, Compute, Scalar, Size, View
from theano.link.native.ir.partitions import Partition, Share, Sharing
from theano.link.native.ir.prologue import names_of
from theano.link.native.ir.sizes import Sizes
from theano.support.data_classes import dataclass

Operand = View | Scalar
Kind = TypeVar("Kind", bound="Statement")


class AsFunction(Enum):
    """The cases in which a statement of a segment may be a call of a C function that does the same."""

    WHERE_IT_REPEATS = "where it repeats, or the segment is long"
    IN_LONG_SEGMENTS = "where the segment is long"
    NEVER = "never"


@dataclass(frozen=True)
class Touch:
    """A view that a statement reads or writes, and which dimension of it threads share out."""

    view: View
    dimension: int | None
    write: bool = False


@dataclass(frozen=True)
class Work:
    """So many times something, for each element of a shape."""

    each: float
    shape: tuple[Size, ...]


@dataclass(frozen=True)
class Checks:
    """A statement that only checks, what it looks at, and what is left to do without the checks."""

    statement: Statement
    looks_at: list[View]
    rest: Statement


class Statement(ABC):
    """A kind of statement.

    Attributes
    ----------
    as_function
        Where it may be a separate C function.
    only_numbers
        Whether it does no more than compute a few numbers; these are counted together.
    called
        The name of the C function of the loop that it runs.
    leaves_work
        Whether a loop's function or the runtime does its work, and not its own C.
    """

    as_function: ClassVar[AsFunction]
    only_numbers: ClassVar[bool] = False
    leaves_work: ClassVar[bool] = False
    called: str = ""

    def __init_subclass__(cls, **arguments: object) -> None:
        super().__init_subclass__(**arguments)
        known = {name: getattr(cls, name, None) for name in (*dir(Statement), "as_function")}
        missing = [
            name
            for name, value in known.items()
            if (value is None and not name.startswith("_"))
            or getattr(value, "__isabstractmethod__", False)
        ]
        if missing:
            raise TypeError(f"{cls.__name__} as a kind of statement lacks {', '.join(missing)}")

    # ---- what it reads and writes ----

    @abstractmethod
    def values_read(self) -> Sequence[Operand]:
        """Return the views and numbers that it reads."""

    @abstractmethod
    def values_written(self) -> Sequence[Operand]:
        """Return the views that it writes, or may, and the numbers that it defines."""

    @property
    @abstractmethod
    def may_fail(self) -> bool:
        """Return whether it may end the step with an error, or be stopped."""

    def errors(self) -> list[tuple[type[Exception], str]]:
        """Return the exceptions that it may end the step with; of a loop inside, the caller adds them."""
        return []

    def elementwise(self) -> list[Compute]:
        """Return the results that it computes element by element over one shape, each after its operands."""
        return []

    def row_by_row(self) -> tuple[Size, ...] | None:
        """Return the shape whose rows it can do one after the other, each by itself; None if it cannot."""
        return None

    def in_order(self) -> Sequence[Statement]:
        """Return what it does, as statements without parts."""
        return [self]

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        """Pairs of sizes that are the same, or the statement is unsound."""
        return []

    def packed_operand(self) -> int | None:
        """Return the position of its operand among those that are packed before the loop."""
        return None

    def results(self) -> list[Buffer]:
        """Return the buffers that it stores, but for those that `values_written` shows views of."""
        return []

    def carried(self) -> list[Buffer]:
        """Return the buffers that hold something for the next time that it is done, where it is repeated."""
        return []

    def free_views(self) -> list[View]:
        """Those views that it reads with any strides."""
        return []

    def strict_views(self) -> list[View]:
        """Those views that it reads or writes in C order; it may read the same with any strides, too."""
        free = {id(view) for view in self.free_views()}
        return [view for view in self.views() if id(view) not in free]

    def views_without_gaps(self) -> list[View]:
        """Those views that it writes as if they were in C order, wherever their memory is."""
        return []

    def views(self) -> list[View]:
        """All views that it reads or writes, each once."""
        found = [*self.values_written(), *self.values_read()]
        return list({id(one): one for one in found if isinstance(one, View)}.values())

    def written(self) -> list[Buffer]:
        """Return the buffers that it writes, or may."""
        return [one.buffer for one in self.values_written() if isinstance(one, View)]

    def buffers(self) -> list[Buffer]:
        """Return the buffers that it reads, writes or stores, by the names that it has for them."""
        return [*(view.buffer for view in self.views()), *self.results()]

    def memory_written(self) -> set[Buffer]:
        """Return the buffers whose memory it writes, or may."""
        return {buffer.root() for buffer in self.written()}

    def memory_touched(self) -> set[Buffer]:
        """Return the buffers whose memory it reads or writes."""
        return {view.buffer.root() for view in self.views()} | self.memory_written()

    def numbers_defined(self) -> set[str]:
        """Return the names of the numbers that it defines."""
        return {one.expression for one in self.values_written() if isinstance(one, Scalar)}

    def numbers_read(self) -> set[str]:
        """Return the names of the numbers that it reads, those of indices among them."""
        numbers = {one.expression for one in self.values_read() if isinstance(one, Scalar)}
        return numbers | names_of([start for view in self.views() for start in view.start])

    def checks(self) -> Checks | None:
        """Return what may fail in it as a separate statement, which may run before; None if there is none."""
        return None

    def replace_views(self, new: dict[int, View]) -> None:
        """Put other views in place of some, which are distinguished by identity."""
        for entry in fields(self):  # type: ignore[arg-type]
            value = getattr(self, entry.name)
            if id(value) in new:
                setattr(self, entry.name, new[id(value)])
            elif isinstance(value, list):
                setattr(self, entry.name, [new.get(id(one), one) for one in value])

    # ---- threads ----

    @abstractmethod
    def partition(self, sharing: Sharing, sizes: Sizes) -> Partition:
        """Return which part of it each of several threads does."""

    @abstractmethod
    def touches(self, share: Share | None) -> list[Touch]:
        """Return what a thread reads and writes of it."""

    def part_of_thread(self, sizes: Sizes) -> Share | None:
        """Return what each of several threads does of it where they share it alone; None: nothing.

        The bounds of a `Share` are called first and end.
        """
        return None

    # ---- what it costs, and how it is counted ----

    @abstractmethod
    def nanoseconds(self) -> list[Work]:
        """Return how long it takes on one thread, roughly."""

    @abstractmethod
    def operations(self) -> list[Work]:
        """Return how many additions, multiplications and functions it computes."""

    def moved(self) -> list[View]:
        """Return what it reads and writes, as often as it does."""
        return [*self.views(), *map(View.of, self.results())]

    def described(self) -> str:
        """Return what it does in a few words."""
        return type(self).__name__.lower()


def as_kind(statement: Statement, kind: type[Kind]) -> Kind | None:
    """Return a statement of just this kind; None for any other, and for what extends the kind."""
    return statement if type(statement) is kind else None


def of_kind(statements: Iterable[Statement], kind: type[Kind]) -> Iterator[Kind]:
    """Yield the statements of just this kind."""
    return (found for one in statements if (found := as_kind(one, kind)) is not None)
