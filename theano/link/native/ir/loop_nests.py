"""Loop nests: loops over single numbers, as data; what a statement becomes for a target.

Indices, bounds and offsets are `Size`; what is computed of elements is a `Value`. Names that no node
of a nest gives are those of the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

from theano.link.native.ir.ir import Scalar
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.symbolic import Name, Operation, Size, both, compared
from theano.support.data_classes import dataclass

# ---- values ----


@dataclass(frozen=True)
class Load:
    """The element that lies so far from a pointer.

    Attributes
    ----------
    apart
        In lanes, how far from it that of the next turn lies.
    """

    pointer: str
    dtype: str
    index: Size = 0
    apart: Size = 1


@dataclass(frozen=True)
class Local:
    """A value that a node of the nest has named."""

    name: str
    dtype: str


@dataclass(frozen=True)
class Apply:
    """An operation on values."""

    operation: Expression
    operands: tuple[Value, ...]

    @property
    def dtype(self) -> str:
        return self.operation.dtype

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Those of the operands."""
        return tuple(operand.dtype for operand in self.operands)


@dataclass(frozen=True)
class Address:
    """The address of the element that lies so far from a pointer, as an argument of a function."""

    pointer: str
    index: Size = 0


@dataclass(frozen=True)
class Result:
    """The result of such a function as in `Call`."""

    function: str
    dtype: str
    operands: tuple[Address | Size, ...]
    of_runtime: bool = False


Value = Load | Local | Apply | Scalar | Result


# ---- nodes ----


class Form(Enum):
    """The form of a loop that does several of its iterations at once."""

    SERIAL = "a turn may need what those before it did"
    INDEPENDENT = "no turn needs what another one did"
    LANES = "as many turns at once as a vector has elements, and the last ones in part of a vector"


class Kind(Enum):
    """The kind of variable that holds a value."""

    NUMBER = "one number"
    VECTOR = (
        "a vector, all of whose elements are the number where it is made outside a loop in lanes"
    )
    DIVISOR = "what is prepared to divide vectors by a number"


@dataclass(frozen=True)
class Let:
    """A value by name; one that is assigned to afterwards is variable."""

    name: str
    dtype: str
    value: Value
    kind: Kind = Kind.NUMBER
    variable: bool = False


@dataclass(frozen=True)
class Declare:
    """A number of the step that the nest computes."""

    name: str
    dtype: str


@dataclass(frozen=True)
class Assign:
    """A new value for what is variable, or for a number of the step."""

    name: str
    value: Value


@dataclass(frozen=True)
class Number:
    """An integer by name: a bound, a count, a position."""

    name: str
    value: Size


@dataclass(frozen=True)
class Pointer:
    """A pointer by name, so many elements from another one."""

    name: str
    dtype: str
    base: str
    offset: tuple[Size, ...] = ()


@dataclass(frozen=True)
class Memory:
    """Elements that belong to those who run the nest."""

    name: str
    dtype: str
    count: int


@dataclass(frozen=True)
class Lanes:
    """So many partial results in vectors."""

    name: str
    dtype: str
    count: int


@dataclass(frozen=True)
class Store:
    """A value as the element that lies so far from a pointer."""

    pointer: str
    index: Size
    value: Value


@dataclass(frozen=True)
class Call:
    """A function of what stands before programs, or of the runtime's table."""

    function: str
    operands: tuple[Address | Size, ...]
    of_runtime: bool = False


@dataclass(frozen=True)
class For:
    """A loop.

    Attributes
    ----------
    polled
        Whether it ends where a `Poll` within it found that the call is to end.
    dtype
        In lanes, that of the elements of vectors; booleans next to them are masks.
    """

    index: str
    first: Size
    end: Size
    body: tuple[Node, ...]
    by: Size = 1
    form: Form = Form.SERIAL
    polled: bool = False
    dtype: str = ""


@dataclass(frozen=True)
class If:
    """Nodes that run only where a condition holds."""

    condition: Size
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Block:
    """Nodes whose names nobody else sees."""

    body: tuple[Node, ...]


@dataclass(frozen=True)
class Polled:
    """Nodes with polls for interrupts among them."""

    body: tuple[Node, ...]


@dataclass(frozen=True)
class Poll:
    """So many elements are done: after enough of them, find out whether the call is to end."""

    elements: Size
    every: int


@dataclass(frozen=True)
class Fail:
    """End the step with an exception."""

    kind: type[Exception]
    text: str


Node = (
    Let | Declare | Assign | Number | Pointer | Memory | Lanes | Store | Call | For | If | Block
    | Polled | Poll | Fail
)  # fmt: skip


def loops(axes: Iterable[tuple[str, Size, Size]], body: Sequence[Node], polled: bool) -> list[Node]:
    """Return loops around a body; each has an index, and where it begins and ends."""
    nodes = list(body)
    for index, first, end in reversed(list(axes)):
        nodes = [For(index, first, end, tuple(nodes), polled=polled)]
    return nodes


def unless_empty(ends: Iterable[Size], nodes: Sequence[Node]) -> list[Node]:
    """Return loops that are not begun where one of some sizes is 0.

    There may be 2**40 rows without elements: no memory limits their number.
    """
    condition: Any = None
    for end in ends:
        if not isinstance(end, int) or end <= 0:
            one = compared(end, ">", 0)
            condition = one if condition is None else both(condition, one)
    return list(nodes) if condition is None else [If(condition, tuple(nodes))]


def times(index: Size, stride: Size) -> Size:
    """Return how far along a stride an index is."""
    if stride == 0 or stride == 1:
        return index if stride == 1 else 0
    return Operation("*", index, stride)


def named(name: str) -> Name:
    """Return a number that a node has named."""
    return Name(name)
