"""Values of a step in memory: made there, moved, packed, and put where they are wanted."""

from __future__ import annotations

from theano.link.native.ir.ir import (
    Buffer,
    IndexVector,
    Scalar,
    Size,
    Splat,
    Value,
    View,
)
from theano.link.native.ir.layout import first_element
from theano.link.native.lowering.statements_of_step import StatementsOfStep
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.gemm import Gemm
from theano.link.native.statements.numbers import Load


class ValuesInMemory(StatementsOfStep):
    """A step that can have its values in memory."""

    def view(self, value: Value) -> View:
        """Return the value in memory."""
        if isinstance(value, View):
            return value
        if isinstance(value, Splat):
            buffer = self.temporary(value.dtype, value.shape)
            self.append(Copy(View.of(buffer), value.scalar), buffer)
            return View.of(buffer)
        buffer = self.temporary(value.dtype, value.shape or (1,))
        items = value.items if isinstance(value, IndexVector) else (value,)
        for k, item in enumerate(items):
            target = View(buffer, (), (), (), (k,))
            self.append(Copy(target, item), buffer)
        return View.of(buffer)

    def copied(self, value: Value) -> Buffer:
        """Return a new buffer that holds a value."""
        buffer = self.temporary(value.dtype, value.shape)
        source = value.scalar if isinstance(value, Splat) else self.view(value)
        if isinstance(source, View) and self._is_anything(source.buffer):
            buffer.may_be_unwritten = True
            return buffer
        self.append(Copy(View.of(buffer), source), buffer)
        return buffer

    def _is_anything(self, buffer: Buffer) -> bool:
        """Return whether nothing was written into a buffer, so that it holds whatever there was."""
        return buffer.may_be_unwritten and not any(
            buffer.root() in statement.memory_written() for statement in self.statements
        )

    def rows_without_gaps(self, dtype: str, shape: tuple[Size, ...]) -> Buffer:
        """Return a new buffer for functions that write row after row, whose strides nobody changes."""
        buffer = self.temporary(dtype, shape)
        buffer.packed = True
        return buffer

    def keep_order(self, view: View) -> View:
        """Return a view whose memory nobody will move to where it has other strides."""
        if view.buffer.role == "temporary":
            view.buffer.packed = True
        return view

    def load(self, view: View) -> Scalar:
        """Return the one element of a view without dimensions; what may be a size is known before the loop."""
        if self.repeats and view.dtype == "int64" and self.invariant(view):
            return self._in_prologue(view)
        result = self.number(view.dtype)
        self.append(Load(result, view))
        return result

    def numbers(self, view: View) -> IndexVector:
        """Return the elements of an invariant vector of known size, as numbers of the prologue."""
        (size,) = view.shape
        assert isinstance(size, int)
        starts = [self.sizes.binary(view.start[0], "+", k * view.steps[0]) for k in range(size)]
        items = [self._in_prologue(View(view.buffer, (), (), (), (start,))) for start in starts]
        return IndexVector(tuple(items), view.dtype)

    def _in_prologue(self, view: View) -> Scalar:
        """Return the one element of an invariant view, read before the first step."""
        # the text below is written for these strides
        view.buffer.root().packed = True
        name = self.sizes.define(view.dtype, first_element(view, self.sizes))
        return Scalar(name, view.dtype, True)

    def reshaped(self, value: Value, shape: tuple[Size, ...]) -> Value:
        """Return the elements in C order under another shape of as many elements."""
        if isinstance(value, Splat):
            return Splat(value.scalar, shape) if shape else value.scalar
        view = self.view(value)
        if self._is_run_of_rows(view):
            view = View.of(self._alias(view, view.shape))
        elif not view.whole or view.buffer.place is not None:
            view = View.of(self.copied(view))
        if not shape:
            return self.load(View(view.buffer, (), (), (), (0,) * view.ndim))
        return View.of(self._alias(view, shape))

    def _alias(self, view: View, shape: tuple[Size, ...]) -> Buffer:
        """Another name for the memory of a view without gaps, under a shape of as many elements."""
        view.buffer.packed = True
        return Buffer(
            f"{view.buffer.name}_{len(shape)}d",
            view.dtype,
            shape,
            "temporary",
            source=view,
            defined_at=view.buffer.defined_at,
        )

    def _is_run_of_rows(self, view: View) -> bool:
        """Return whether a view is some rows, one after the other, of an array that nobody changes."""
        buffer, ndim = view.buffer, view.ndim
        return (
            ndim > 1
            and not view.whole
            and self.invariant(view)
            and view.axes == tuple(range(ndim))
            and all(step == 1 for step in view.steps)
            and all(start == 0 for start in view.start[1:])
            and all(
                self.sizes.find(a) == self.sizes.find(b)
                for a, b in zip(view.shape[1:], buffer.shape[1:], strict=True)
            )
        )

    def product(self, a: View, b: View, out: View) -> None:
        """Append ``out = a @ b``; an invariant ``b`` is packed before the loop."""
        packed = None
        if self.packable(b):
            packed = self.packed_position(b)
        self.append(Gemm(a, b, out, packed), out.buffer)

    def packed_position(self, view: View) -> int:
        """Return the position of an invariant matrix among those that are packed before the loop."""
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

    def place(self, value: Value, target: View) -> None:
        """Have a value in a part of a new buffer: computed there if it can be, else copied."""
        if isinstance(value, View) and self._can_be_placed(value, target):
            value.buffer.place = target
            target.buffer.defined_at = max(target.buffer.defined_at, value.buffer.defined_at)
            return
        if isinstance(value, View) and (owner := self._reshaped_whole(value, target)) is not None:
            owner.place = View.of(self._alias(target, owner.shape))
            target.buffer.defined_at = max(target.buffer.defined_at, value.buffer.defined_at)
            return
        source: View | Scalar
        if isinstance(value, Scalar):
            source = value
        elif isinstance(value, Splat):
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

    def _reshaped_whole(self, view: View, target: View) -> Buffer | None:
        """Return the buffer of which a view is all under another shape, if the target may be its memory."""
        buffer = view.buffer
        if buffer.source is None or not (view.whole and target.whole):
            return None
        while buffer.source is not None:
            if not buffer.source.whole:
                return None
            buffer = buffer.source.buffer
        mine = buffer.role == "temporary" and buffer.place is None
        return buffer if mine and target.buffer.root() is target.buffer else None
