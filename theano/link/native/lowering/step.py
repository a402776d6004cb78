"""A step while it is being lowered: its statements so far, and ways to add to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from theano.link.native.ir.ir import (
    Buffer,
    CannotLower,
    Compute,
    Numbers,
    Scalar,
    Size,
    Spread,
    StepError,
    Value,
    View,
)
from theano.link.native.ir.layout import first_element
from theano.link.native.ir.prologue import Applied
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.scalar_types import C_TYPES, literal
from theano.link.native.ir.sizes import Sizes, bytes_of
from theano.link.native.statements.base import Statement
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.gemm import Gemm
from theano.link.native.statements.map import Map
from theano.link.native.statements.numbers import Assign, Check, Load

# The C compiler's time grows faster than the pass over elements that it compiles; to store what so
# many operations made, and to read it again, is little beside them.
MOST_IN_A_MAP = 256


class Step:
    """Statements of a step, and the sizes that they use.

    Attributes
    ----------
    name
        The name of the C function.
    repeats
        Whether the statements run again and again, so that preparing operands pays.
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
    errors
        Exceptions that a step may raise: their type and text; the C function returns them
        as negative numbers.
    """

    def __init__(
        self,
        name: str,
        known: Sizes | None = None,
        repeats: bool = True,
        lower_loop: Callable[..., Any] | None = None,
    ) -> None:
        self.name, self.repeats = name, repeats
        self.constant_array: Callable[[np.ndarray], View]
        self.sizes = Sizes(known)
        self.loops: list[Any] = []
        self.rows_reached: dict[Buffer, Size] = {}
        self.lower_loop = lower_loop
        self.statements: list[Statement] = []
        self.temporaries: list[Buffer] = []
        self.packed: list[View] = []
        self.errors: list[StepError] = []
        self.number_types: dict[str, str] = {}
        self.libraries: set[str] = set()
        self.node: Any = None
        self.origins: dict[Statement, Any] = {}
        self._numbers_defined_at: dict[str, int] = {}

    # ---- new values ----

    def temporary(self, dtype: str, shape: Sequence[Size]) -> Buffer:
        buffer = Buffer(f"t{len(self.temporaries)}", dtype, tuple(shape), "temporary")
        bytes_of(shape, np.dtype(dtype).itemsize)  # refuses what can never be
        self.temporaries.append(buffer)
        return buffer

    def append(self, statement: Statement, *written: Buffer) -> int:
        self.statements.append(statement)
        self.origins[statement] = self.node
        for kind, text in statement.errors():
            self.error(kind, text)
        for buffer in written:
            buffer.defined_at = len(self.statements) - 1
        return len(self.statements) - 1

    def number(self, dtype: str) -> Scalar:
        """A number that the next statement defines."""
        name = f"v{len(self._numbers_defined_at)}"
        self._numbers_defined_at[name] = len(self.statements)
        self.number_types[name] = dtype
        return Scalar(name, dtype)

    def constant(self, value: Any, dtype: str) -> Scalar:
        return Scalar(literal(value, dtype), dtype, invariant=True, literal=value)

    def size(self, value: Value, what: str) -> Size:
        """A number as a size; CannotLower if it may differ between steps."""
        if not isinstance(value, Scalar) or not value.invariant:
            raise CannotLower(f"{what} that may differ between steps")
        if value.literal is not None:
            if abs(int(value.literal)) >= 2**63:
                raise CannotLower(f"{what} that does not fit 64 bits")
            return int(value.literal)
        return self.sizes.name(value.signed)

    def of_size(self, size: Size) -> Scalar:
        """A size as a number."""
        if isinstance(size, int):
            return self.constant(size, "int64")
        return Scalar(str(size), "int64", invariant=True)

    def error(self, kind: type[Exception], text: str) -> int:
        """The number that the C function returns for an exception of a step."""
        error = StepError(kind, text)
        if error not in self.errors:
            self.errors.append(error)
        return -1 - self.errors.index(error)

    # ---- when a value is known ----

    def position(self, value: Value | Compute) -> int:
        """The position of the statement after which a value is known."""
        if isinstance(value, Scalar):
            return self._numbers_defined_at.get(value.expression, -1)
        if isinstance(value, Spread):
            return self.position(value.scalar)
        if isinstance(value, Numbers):
            return max([self.position(item) for item in value.items], default=-1)
        assert isinstance(value, View)
        starts = [self._numbers_defined_at.get(str(start), -1) for start in value.start]
        return max([value.buffer.defined_at, *starts])

    def invariant(self, view: View) -> bool:
        return (
            view.buffer.root().role == "invariant"
            and view.buffer.source is None
            and not any(str(start) in self._numbers_defined_at for start in view.start)
        )

    def packable(self, view: View) -> bool:
        """Whether a product may have this operand packed once, before the loop."""
        return self.repeats and self.invariant(view)

    # ---- element-wise ----

    def apply(
        self,
        expression: Expression,
        operands: Sequence[Value],
        dtypes: Sequence[str],
        broadcast: Sequence[Sequence[bool]] | None = None,
    ) -> Value:
        """Apply an expression to numbers or, with broadcasting, to tensors.

        ``broadcast`` says for each tensor which of its dimensions are known to be of size 1.
        """
        if all(isinstance(operand, Scalar) for operand in operands):
            return self._apply_to_numbers(expression, list(operands))  # type: ignore[arg-type]
        tensors = [operand for operand in operands if not isinstance(operand, Scalar)]
        shape = self.broadcast_shape(tensors, broadcast)
        if all(isinstance(operand, Scalar | Spread) for operand in operands):
            numbers = [o.scalar if isinstance(o, Spread) else o for o in operands]
            result = self._apply_to_numbers(expression, numbers)  # type: ignore[arg-type]
            return Spread(result, shape)
        return self._apply_to_views(expression, [self._operand(o, shape) for o in operands], shape)

    def _apply_to_numbers(self, expression: Expression, operands: list[Scalar]) -> Scalar:
        if all(operand.invariant for operand in operands):
            if expression.name in ("Identity", "Second"):
                return operands[-1]
            value = Applied(
                expression,
                tuple(operand.expression for operand in operands),
                tuple(operand.dtype for operand in operands),
            )
            name = self.sizes.define(C_TYPES[expression.dtype], value)
            self.libraries.add(expression.library)
            return Scalar(name, expression.dtype, invariant=True)
        result = self.number(expression.dtype)
        self.append(Assign(result, expression, operands))
        return result

    def broadcast_shape(
        self, tensors: Sequence[Value], broadcast: Sequence[Sequence[bool]] | None = None
    ) -> tuple[Size, ...]:
        """The shape of an element-wise result; sizes that are not broadcast must be the same."""
        if broadcast is None:
            broadcast = [[self.sizes.find(s) == 1 for s in tensor.shape] for tensor in tensors]
        shape: list[Size] = []
        for d in range(tensors[0].ndim):
            sizes = [
                t.shape[d] for t, flags in zip(tensors, broadcast, strict=True) if not flags[d]
            ]
            size: Size = sizes[0] if sizes else 1
            for other in sizes[1:]:
                size = self.sizes.equal(size, other, f"sizes of operands along dimension {d}")
            shape.append(self.sizes.find(size))
        return tuple(shape)

    def _operand(self, value: Value, shape: tuple[Size, ...]) -> View | Scalar:
        if isinstance(value, Scalar):
            return value
        if isinstance(value, Spread):
            return value.scalar
        return self.stretched(self.view(value), shape)

    def stretched(self, view: View, shape: tuple[Size, ...]) -> View:
        """A view broadcast to a shape of as many dimensions."""
        sizes = [self.sizes.find(size) for size in view.shape]
        axes = tuple(
            None if size == 1 and self.sizes.find(target) != 1 else axis
            for axis, size, target in zip(view.axes, sizes, shape, strict=True)
        )
        if axes == view.axes and tuple(sizes) == tuple(map(self.sizes.find, shape)):
            return view
        return View(view.buffer, shape, axes, view.steps, view.start)

    def _apply_to_views(
        self, expression: Expression, operands: list[View | Scalar], shape: tuple[Size, ...]
    ) -> View:
        key = tuple(map(self.sizes.find, shape))
        earliest = 0
        for operand in operands:
            fusable = isinstance(operand, View) and self._fusable(operand, key)
            earliest = max(earliest, self.position(operand) + (0 if fusable else 1))
        position = self._map_from(earliest, key)
        group = self.statements[position]
        assert isinstance(group, Map)
        buffer = self.temporary(expression.dtype, shape)
        inputs: list[View | Scalar | Compute] = []
        for operand in operands:
            local = isinstance(operand, View) and operand.buffer.defined_at == position
            inputs.append(operand.buffer.compute if local else operand)  # type: ignore
        dtypes = tuple(operand.dtype for operand in operands)
        compute = Compute(
            f"e{buffer.name[1:]}", expression.dtype, expression, inputs, dtypes, buffer
        )
        buffer.compute = compute
        buffer.defined_at = position
        group.body.append(compute)
        return View.of(buffer)

    def _fusable(self, view: View, key: tuple[Size, ...]) -> bool:
        compute = view.buffer.compute
        if compute is None or not view.whole:
            return False
        group = self.statements[view.buffer.defined_at]
        return isinstance(group, Map) and group.shape == key

    def _map_from(self, earliest: int, key: tuple[Size, ...]) -> int:
        for position in range(earliest, len(self.statements)):
            statement = self.statements[position]
            if isinstance(statement, Map) and statement.shape == key:
                if len(statement.body) < MOST_IN_A_MAP:
                    return position
        return self.append(Map(key))

    # ---- memory ----

    def view(self, value: Value) -> View:
        """The value in memory."""
        if isinstance(value, View):
            return value
        if isinstance(value, Spread):
            buffer = self.temporary(value.dtype, value.shape)
            self.append(Copy(View.of(buffer), value.scalar), buffer)
            return View.of(buffer)
        buffer = self.temporary(value.dtype, value.shape or (1,))
        items = value.items if isinstance(value, Numbers) else (value,)
        for k, item in enumerate(items):
            target = View(buffer, (), (), (), (k,))
            self.append(Copy(target, item), buffer)
        return View.of(buffer)

    def copied(self, value: Value) -> Buffer:
        """A new buffer that holds a value."""
        buffer = self.temporary(value.dtype, value.shape)
        source = value.scalar if isinstance(value, Spread) else self.view(value)
        self.append(Copy(View.of(buffer), source), buffer)
        return buffer

    def keep_order(self, view: View) -> View:
        """A view whose memory nobody will move to where it has other strides."""
        view.buffer.packed = view.buffer.role == "temporary"
        return view

    def load(self, view: View) -> Scalar:
        """The one element of a view without dimensions."""
        result = self.number(view.dtype)
        self.append(Load(result, view))
        return result

    def numbers(self, view: View) -> Numbers:
        """The elements of an invariant vector of known size, as numbers of the prologue."""
        (size,) = view.shape
        assert isinstance(size, int)
        # the text below is written for these strides
        view.buffer.root().packed = True
        items = []
        for k in range(size):
            at = View(
                view.buffer, (), (), (), (self.sizes.binary(view.start[0], "+", k * view.steps[0]),)
            )
            name = self.sizes.define(C_TYPES[view.dtype], first_element(at, self.sizes))
            items.append(Scalar(name, view.dtype, True))
        return Numbers(tuple(items), view.dtype)

    def reshaped(self, value: Value, shape: tuple[Size, ...]) -> Value:
        """The elements in C order under another shape of as many elements."""
        if isinstance(value, Spread):
            return Spread(value.scalar, shape) if shape else value.scalar
        view = self.view(value)
        if not view.whole or view.buffer.role == "invariant" or view.buffer.place is not None:
            view = View.of(self.copied(view))
        if not shape:
            return self.load(View(view.buffer, (), (), (), (0,) * view.ndim))
        view.buffer.packed = True
        buffer = Buffer(
            f"{view.buffer.name}_{len(shape)}d",
            view.dtype,
            shape,
            "temporary",
            source=view,
            defined_at=view.buffer.defined_at,
        )
        return View.of(buffer)

    def product(self, a: View, b: View, out: View) -> None:
        """Append ``out = a @ b``; an invariant ``b`` is packed before the loop."""
        packed = None
        if self.packable(b):
            packed = self.packed_position(b)
        self.append(Gemm(a, b, out, packed), out.buffer)

    def packed_position(self, view: View) -> int:
        """The position of an invariant matrix among those that are packed before the loop."""
        for k, other in enumerate(self.packed):
            if other.buffer is view.buffer and (other.axes, other.steps, other.start) == (
                view.axes,
                view.steps,
                view.start,
            ):
                if other.shape == view.shape:
                    return k
        self.packed.append(view)
        return len(self.packed) - 1

    def check(
        self,
        condition: Expression,
        operands: Sequence[Scalar],
        kind: type[Exception],
        text: str,
    ) -> None:
        """Append a check that raises an exception in the step unless a condition holds."""
        self.append(Check(condition, list(operands), kind, text))

    def checked_index(self, index: Scalar, size: Size) -> Scalar:
        """An index of this step, from the front, after a check that it is in range."""
        operands = [index, Scalar(str(size), "int64", invariant=True)]
        given = "tn_signed({0})" if index.dtype == "uint64" else "{0}"
        in_range = Expression(
            "in range", f"{given} < {{1}} && {given} >= -{{1}}", None, None, "bool"
        )
        self.check(in_range, operands, IndexError, "index out of range")
        result = self.number("int64")
        front = f"{given} < 0 ? {given} + {{1}} : {given}"
        self.append(
            Assign(result, Expression("from the front", front, None, None, "int64"), operands)
        )
        return result

    def place(self, value: Value, target: View) -> None:
        """Have a value in a part of a new buffer: computed there if it can be, else copied."""
        if isinstance(value, View) and self._can_be_placed(value, target):
            value.buffer.place = target
            target.buffer.defined_at = max(target.buffer.defined_at, value.buffer.defined_at)
            return
        source: View | Scalar
        if isinstance(value, Scalar):
            source = value
        elif isinstance(value, Spread):
            source = value.scalar
        else:
            source = self.view(value)
        at = self.append(Copy(target, source))
        target.buffer.defined_at = max(target.buffer.defined_at, at)

    def _can_be_placed(self, view: View, target: View) -> bool:
        buffer = view.buffer
        return (
            buffer.role == "temporary"
            and buffer.place is None
            and buffer.source is None
            and view.whole
            and not (buffer.packed and not target.whole)
        )
