"""The statements of a step so far, and when each of its values is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from theano.link.native.ir.ir import (
    Buffer,
    CannotLower,
    Compute,
    IndexVector,
    Scalar,
    Size,
    Splat,
    StepError,
    Value,
    View,
)
from theano.link.native.ir.prologue import SizeOperation
from theano.link.native.ir.sizes import Sizes, bytes_of
from theano.link.native.statements.base import Statement
from theano.link.native.statements.numbers import Assign


class StatementsOfStep:
    """Statements of a step, and the sizes that they use.

    Attributes
    ----------
    name
        The name of the C function.
    repeats
        Whether the statements run again and again.
    packs
        Whether preparing operands before pays.
    loops
        The loops that statements call.
    lower_loop
        Lowers a loop that a statement calls; see `lowered_loops.py`.
    rows_reached
        For buffers of a loop that may stop early: how many rows are left of them.
    constant_array
        Makes a view of an array that is known when the code is made.
    packed
        The invariant right operands of products, which are packed before the loop.
    number_types
        The types of the numbers that statements define.
    libraries
        What the numbers before the statements need; see `Statement.libraries`.
    node, origins
        The operation that is being lowered, and the one of each statement, for profiles.
    values
        The value of each variable that was lowered; profiles read it, too.
    _made
        What several operations have made from a value in the same way, with the value.
    errors
        Exceptions that a step may raise: their type and text; the C function returns them
        as negative numbers.
    """

    def __init__(
        self,
        name: str,
        repeats: bool = True,
        lower_loop: Callable[..., Any] | None = None,
    ) -> None:
        self.name, self.repeats, self.packs = name, repeats, repeats
        self.constant_array: Callable[[np.ndarray], View]
        self.sizes = Sizes()
        self.loops: list[Any] = []
        self.rows_reached: dict[Buffer, Size] = {}
        self.lower_loop = lower_loop
        self.statements: list[Statement] = []
        self._made: dict[tuple, tuple[Value, Any]] = {}
        self.temporaries: list[Buffer] = []
        self.packed: list[View] = []
        self.errors: list[StepError] = []
        self.number_types: dict[str, str] = {}
        self.libraries: set[str] = set()
        self.node: Any = None
        self.origins: dict[Statement, Any] = {}
        self.values: dict[Any, Value] = {}
        self._numbers_defined_at: dict[str, int] = {}

    # ---- new values ----

    def temporary(self, dtype: str, shape: Sequence[Size]) -> Buffer:
        buffer = Buffer(f"t{len(self.temporaries)}", dtype, tuple(shape), "temporary")
        bytes_of(shape, np.dtype(dtype).itemsize)  # refuses what can never be
        self.temporaries.append(buffer)
        return buffer

    def made_once(self, partition: tuple, value: Value, make: Callable[[], Any]) -> Any:
        """Return what is made from a value in a way, as often as it is asked for the same."""
        key = (*partition, id(value))
        if key not in self._made:
            # the value is kept, so that no other one gets its place in memory
            self._made[key] = value, make()
        return self._made[key][1]

    def append(self, statement: Statement, *written: Buffer) -> int:
        self.statements.append(statement)
        self.origins[statement] = self.node
        for kind, text in statement.errors():
            self.error(kind, text)
        for buffer in written:
            buffer.defined_at = len(self.statements) - 1
        return len(self.statements) - 1

    def number(self, dtype: str) -> Scalar:
        """Return a number that the next statement defines."""
        name = f"v{len(self._numbers_defined_at)}"
        self._numbers_defined_at[name] = len(self.statements)
        self.number_types[name] = dtype
        return Scalar(name, dtype)

    def constant(self, value: object, dtype: str) -> Scalar:
        text = repr(np.asarray(value, dtype).item())
        return Scalar(text, dtype, invariant=True, literal=value)

    def size(self, value: Value, what: str) -> Size:
        """Return a number as a size; CannotLower if it may differ between steps."""
        if isinstance(value, Scalar):
            value = self.settled(value) or value
        if not isinstance(value, Scalar) or not value.invariant:
            raise CannotLower(f"{what} that may differ between steps")
        if value.literal is not None:
            if abs(int(value.literal)) >= 2**63:
                raise CannotLower(f"{what} that does not fit 64 bits")
            return int(value.literal)
        return self.sizes.name(value.signed)

    def settled(self, number: Scalar) -> Scalar | None:
        """Return a number as one that is known before the loop, if it is, whatever a step chooses.

        Of a choice between two sizes both must be the same: then what is chosen has one shape.
        """
        if number.invariant:
            return number
        made_by = self.made_by(number)
        if not isinstance(made_by, Assign) or number.dtype != "int64":
            return None
        chosen = made_by.operation.name == "Switch"
        operands = made_by.operands[1:] if chosen else made_by.operands
        known = [one for operand in operands if (one := self.settled(operand)) is not None]
        if len(known) < len(operands):
            return None
        if chosen:
            first, second = (self.size(one, "a size that a step chooses") for one in known)
            return self.of_size(self.sizes.equal(first, second, "sizes that a step chooses from"))
        numbers, dtypes = tuple(one.symbol for one in known), tuple(one.dtype for one in known)
        name = self.sizes.define("int64", SizeOperation(made_by.operation, numbers, dtypes))
        return Scalar(name, "int64", invariant=True)

    def made_by(self, number: Scalar) -> Statement | None:
        """Return the statement that defines a number; None if it is known before the statements."""
        position = self._numbers_defined_at.get(number.expression)
        return None if position is None else self.statements[position]

    def of_size(self, size: Size) -> Scalar:
        """Return a size as a number."""
        if isinstance(size, int):
            return self.constant(size, "int64")
        return Scalar(str(size), "int64", invariant=True)

    def error(self, kind: type[Exception], text: str) -> int:
        """Return the number that the C function returns for an exception of a step."""
        error = StepError(kind, text)
        if error not in self.errors:
            self.errors.append(error)
        return -1 - self.errors.index(error)

    # ---- when a value is known ----

    def position(self, value: Value | Compute) -> int:
        """Return the position of the statement after which a value is known."""
        if isinstance(value, Scalar):
            return self._numbers_defined_at.get(value.expression, -1)
        if isinstance(value, Splat):
            return self.position(value.scalar)
        if isinstance(value, IndexVector):
            return max([self.position(item) for item in value.items], default=-1)
        assert isinstance(value, View)
        starts = [self._numbers_defined_at.get(str(start), -1) for start in value.start]
        return max([value.buffer.defined_at, *starts])

    def invariant(self, view: View) -> bool:
        return (
            view.buffer.root().role == "invariant"
            and view.buffer.source is None
            and all(self.sizes.knows(start) for start in view.start)
        )

    def packable(self, view: View) -> bool:
        """Return whether a product may have this operand packed once, before the loop."""
        return self.packs and self.invariant(view)
