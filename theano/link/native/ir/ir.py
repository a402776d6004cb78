"""The values of the intermediate form: typed buffers, views of them, and numbers.

Sizes, offsets and conditions are numbers of 64 bits that the loop's prologue knows, see
`symbolic.py`, or Python integers where they are known when the loop is compiled.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from theano.link.native.ir.symbolic import Call, Literal, Name, Size, Symbolic
from theano.support.data_classes import dataclass

# What a loop's C function is given and returns, see render/loop.py. arrays[0] is the table of the
# runtime's functions, arrays[1] the work memory:
FIRST_ARRAY = 2
# numbers[0] says whether to run: 2 where the call before has packed operands for this one, too;
# numbers[1] how many steps:
FIRST_SIZE = 2
# result[0] is the number of steps done, result[1] the bytes of work memory:
FIRST_RESULT = 2


class CannotLower(Exception):
    """Something has no native code; the text says what, for the report."""


class CallRefused(Exception):
    """A call is not what the code was written for, which has changed nothing: PyTensor runs it."""


@dataclass(frozen=True)
class StepError:
    """An exception that a step may raise; in a loop, the text says in which of its steps.

    What a step finds out that it has no code for is a `CallRefused`.
    """

    kind: type[Exception]
    text: str
    in_loop: bool = False


@dataclass(eq=False)
class Buffer:
    """Memory of one type and shape.

    Attributes
    ----------
    role
        'row' (of a sequence, state or trace; the loop moves it), 'invariant', or 'temporary'.
    strides
        In elements; None for C order.
    place
        The view of another buffer in which a temporary is stored.
    source
        The view whose memory a temporary shares under another shape.
    defined_at
        The position of the last statement that writes it; -1 before the step begins.
    packed
        Whether whoever reads it needs C order without gaps.
    may_be_unwritten
        Whether it may be read before anything is written.
    """

    name: str
    dtype: str
    shape: tuple[Size, ...]
    role: str
    strides: tuple[Size, ...] | None = None
    place: View | None = None
    source: View | None = None
    defined_at: int = -1
    packed: bool = False
    compute: Compute | None = None
    may_be_unwritten: bool = False

    def root(self) -> Buffer:
        """Return the buffer that owns the memory."""
        if self.place is not None:
            return self.place.buffer.root()
        return self.source.buffer.root() if self.source is not None else self


@dataclass(eq=False)
class Argument:
    """An array that the caller passes.

    Attributes
    ----------
    kind
        Of a loop: 'sequence', 'invariant', 'ring' (a state of which rows are read and written),
        'mit_mot' (a buffer whose rows are updated), 'trace' or 'untraced'. Of a segment:
        'input' or 'output'.
    shape
        Of one row; of the whole array for what has no rows.
    taps
        The rows that a step reads, relative to the one that it writes.
    free_strides
        Whether the code takes any strides within a row.
    in_columns
        Whether it lies in Fortran's order, and not in C's.
    first_size
        Where the sizes of the array begin among the numbers that the caller passes.
    in_place
        Whether a step may write a state's row over the row before, which it reads.
    """

    name: str
    kind: str
    dtype: str
    shape: tuple[Size, ...]
    taps: tuple[int, ...] = ()
    comment: str = ""
    free_strides: bool = False
    in_columns: bool = False
    first_size: int = 0
    constant: np.ndarray | None = None
    in_place: bool = False

    @property
    def history(self) -> int:
        """Return how many rows before the one written a step reads."""
        return -min(self.taps) if self.taps else 0


@dataclass(frozen=True, eq=False)
class View:
    """A rectangular part of a buffer.

    Dimension ``d`` steps by ``steps[d]`` along the buffer's ``axes[d]``, or not at all if that
    is None; the first element is at ``start``, one index for each axis of the buffer.
    """

    buffer: Buffer
    shape: tuple[Size, ...]
    axes: tuple[int | None, ...]
    steps: tuple[int, ...]
    start: tuple[Size, ...]

    @property
    def dtype(self) -> str:
        return self.buffer.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def whole(self) -> bool:
        """Return whether this is the buffer itself."""
        return (
            self.axes == tuple(range(len(self.buffer.shape)))
            and self.shape == self.buffer.shape
            and all(step == 1 for step in self.steps)
            and all(start == 0 for start in self.start)
        )

    @classmethod
    def of(cls, buffer: Buffer) -> View:
        ndim = len(buffer.shape)
        return cls(buffer, buffer.shape, tuple(range(ndim)), (1,) * ndim, (0,) * ndim)


@dataclass(frozen=True, eq=False)
class Scalar:
    """One number: a name, or the text of a literal. An invariant one is known before the loop."""

    expression: str
    dtype: str
    invariant: bool = False
    literal: Any = None
    ndim: int = field(default=0, init=False)
    shape: tuple[Size, ...] = field(default=(), init=False)

    @property
    def symbol(self) -> Symbolic:
        """It as what others are computed of."""
        if self.literal is not None:
            return Literal(self.expression, self.dtype, self.literal)
        return Name(self.expression)

    @property
    def signed(self) -> Symbolic:
        """It as an integer of 64 bits with a sign; what does not fit is the largest."""
        # unsigned numbers compare with negative ones only as signed ones
        return Call("signed", (self.symbol,)) if self.dtype == "uint64" else self.symbol


@dataclass(frozen=True, eq=False)
class Splat:
    """A tensor all of whose elements are one number."""

    scalar: Scalar
    shape: tuple[Size, ...]

    @property
    def dtype(self) -> str:
        return self.scalar.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)


@dataclass(frozen=True, eq=False)
class IndexVector:
    """A short vector of integers that are known one by one, such as a shape."""

    items: tuple[Scalar, ...]
    dtype: str

    @property
    def ndim(self) -> int:
        return 1

    @property
    def shape(self) -> tuple[Size, ...]:
        return (len(self.items),)


Tensor = View | Splat | IndexVector
Value = Tensor | Scalar


@dataclass(eq=False)
class Compute:
    """One element-wise operation of a map; operands are views, scalars or other computes."""

    name: str
    dtype: str
    operation: Any
    operands: list[View | Scalar | Compute]
    dtypes: tuple[str, ...]
    buffer: Buffer | None = None
    materialized: bool = False

    def made_again(self, buffer: Buffer, operands: list[View | Scalar | Compute]) -> Compute:
        """Return the same operation on other operands, as what computes another buffer."""
        name = f"e{buffer.name[1:]}"
        buffer.compute = Compute(name, self.dtype, self.operation, operands, self.dtypes, buffer)
        return buffer.compute
