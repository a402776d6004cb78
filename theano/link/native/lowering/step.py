"""A step while it is being lowered: its statements so far, and ways to add to them."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import (
    Compute,
    Scalar,
    Size,
    Splat,
    Value,
    View,
)
from theano.link.native.ir.prologue import SizeOperation
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.lowering.values_in_memory import ValuesInMemory
from theano.link.native.statements.map import Map
from theano.link.native.statements.numbers import Assign, Check

# The C compiler's time grows faster than the pass over elements that it compiles; to store what so
# many operations made, and to read it again, is little compared with them.
MOST_IN_A_MAP = 256


class Step(ValuesInMemory):
    """A step that lowerings add to: element-wise work, which is fused here, and checks."""

    def apply(
        self,
        expression: Expression,
        operands: Sequence[Value],
        broadcast: Sequence[Sequence[bool]] | None = None,
    ) -> Value:
        """Apply an expression to numbers or, with broadcasting, to tensors.

        ``broadcast`` says for each tensor which of its dimensions are known to be of size 1.
        """
        if all(isinstance(operand, Scalar) for operand in operands):
            return self._apply_to_numbers(expression, list(operands))  # type: ignore[arg-type]
        tensors = [operand for operand in operands if not isinstance(operand, Scalar)]
        shape = self.broadcast_shape(tensors, broadcast)
        if all(isinstance(operand, Scalar | Splat) for operand in operands):
            numbers = [o.scalar if isinstance(o, Splat) else o for o in operands]
            result = self._apply_to_numbers(expression, numbers)  # type: ignore[arg-type]
            return Splat(result, shape)
        return self._apply_to_views(expression, [self._operand(o, shape) for o in operands], shape)

    def _apply_to_numbers(self, expression: Expression, operands: list[Scalar]) -> Scalar:
        if all(operand.invariant for operand in operands):
            if expression.name in ("Identity", "Second"):
                return operands[-1]
            value = SizeOperation(
                expression,
                tuple(operand.symbol for operand in operands),
                tuple(operand.dtype for operand in operands),
            )
            name = self.sizes.define(expression.dtype, value)
            self.libraries.add(expression.library)
            return Scalar(name, expression.dtype, invariant=True)
        result = self.number(expression.dtype)
        self.append(Assign(result, expression, operands))
        return result

    def broadcast_shape(
        self, tensors: Sequence[Value], broadcast: Sequence[Sequence[bool]] | None = None
    ) -> tuple[Size, ...]:
        """Return the shape of an element-wise result; sizes that are not broadcast must be the same."""
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
        if isinstance(value, Splat):
            return value.scalar
        return self.stretched(self.view(value), shape)

    def stretched(self, view: View, shape: tuple[Size, ...]) -> View:
        """Return a view broadcast to a shape of as many dimensions."""
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
        """Return an index of this step, from the front, after a check that it is in range."""
        operands = [index, Scalar(str(size), "int64", invariant=True)]
        in_range = Expression("in range", "in range", None, "bool")
        self.check(in_range, operands, IndexError, "index out of range")
        result = self.number("int64")
        front = Expression("from the front", "from the front", None, "int64")
        self.append(Assign(result, front, operands))
        return result
