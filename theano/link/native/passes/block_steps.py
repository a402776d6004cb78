"""Blocks of steps: work for all steps of a loop next to it is done for some steps at a time, around their call.

A product that left a loop is as large as all steps together, and so is what the backward loop hands
to the products after it. In blocks of steps both stay in the cache, and take the memory of a block.

Check: `rows_of_steps.py`. Transformation: arrays of as many rows as a block has steps, and one
statement that repeats, for each block, what makes them, the call, and what is made from them.
"""

from __future__ import annotations

import numpy as np

from theano.link.native.ir.ir import Buffer, Compute, Scalar, Size, View
from theano.link.native.ir.symbolic import (
    Call,
    Choice,
    Symbolic,
    both,
    compared,
    difference,
    product_of,
    sum_of,
)
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.rows_of_steps import Group
from theano.link.native.passes.rows_over_rows import write_rows_over_rows
from theano.link.native.statements.base import Statement, as_kind, of_kind
from theano.link.native.statements.call_loop import CallLoop, StepRange
from theano.link.native.statements.copy import Combine, Copy
from theano.link.native.statements.gemm import Gemm
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce
from theano.link.native.statements.step_blocks import StepBlocks


def block_steps(segment: Segment) -> None:
    """Do loops outside other loops, and what is next to them, some steps at a time."""
    for call in list(of_kind(segment.step.statements, CallLoop)):
        if call.when is not None or call.loop.condition is not None:
            continue
        group = Group(segment, call)
        if group.find():
            _Blocks(segment, group).replace()


class _Blocks:
    """Writes the statements of a group for one block."""

    def __init__(self, segment: Segment, group: Group):
        self.segment, self.step, self.group = segment, segment.step, group
        self.sizes = segment.step.sizes
        prefix = group.call.prefix
        self.start, self.count, self.back = (
            self.sizes.defined_by_statements(f"{prefix}_{what}")
            for what in ("start", "count", "back")
        )
        self._buffers: dict[Buffer, Buffer] = {}
        self._before: list[Statement] = []
        self._after: list[Statement] = []

    def replace(self) -> None:
        """Put the statement that repeats in place of the group."""
        group, step = self.group, self.step
        whole = self._rings_are_whole()
        self.length = self._length(whole)
        ordered = [one for one in step.statements if one in group.members or one is group.call]
        write_rows_over_rows(group, ordered)
        parts: list[Statement] = []
        for statement in ordered:
            made = [self._call(whole)] if statement is group.call else self._of_a_block(statement)
            step.origins |= dict.fromkeys(made, step.origins.get(statement))
            parts += made
        blocks = StepBlocks(
            parts,
            group.steps,
            self.length,
            self.start,
            self.count,
            self.back,
            [work for one in ordered for work in one.nanoseconds()],
        )
        position = step.statements.index(group.call)
        before = [one for one in step.statements[:position] if one not in group.members]
        after = [one for one in step.statements[position + 1 :] if one not in group.members]
        step.origins[blocks] = step.origins.get(group.call)
        step.statements = [*before, *self._before, blocks, *self._after, *after]

    # ---- the length of a block ----

    def _rings_are_whole(self) -> dict[str, Size]:
        """Return whether states keep the rows of all steps, by the names of the arguments."""
        found: dict[str, Size] = {}
        for argument, operand in zip(
            self.group.call.loop.arguments, self.group.call.operands, strict=True
        ):
            if argument.kind == "ring":
                all_rows = sum_of(self.group.steps, argument.history)
                found[argument.name] = self.sizes.name(compared(operand.shape[0], "==", all_rows))
        return found

    def _length(self, whole: dict[str, Size]) -> Size:
        """Return how many steps a block has: the runtime knows what the caches hold."""
        fits: Symbolic | int = 1
        for argument, operand in zip(
            self.group.call.loop.arguments, self.group.call.operands, strict=True
        ):
            if argument.kind == "ring":
                few = compared(operand.shape[0], "<=", argument.history + 1)
                one = compared(sum_of(few, whole[argument.name]), ">", 0)
                fits = one if fits == 1 else both(fits, one)  # type: ignore[arg-type]
        rows: Size = 1
        total: Size = 0
        for root in self.group.shrunk:
            merged = self.group.merged_rows.get(root, 1)
            if merged == 1 and len(root.shape) == 3:
                merged = root.shape[1]
            width = root.shape[-1] if len(root.shape) > 1 else 1
            itemsize = np.dtype(root.dtype).itemsize
            size = self.sizes.product([itemsize, self.sizes.find(merged), self.sizes.find(width)])
            total = self.sizes.binary(total, "+", size)
            rows = self.sizes.find(merged) if rows == 1 else rows
        return self.sizes.name(Call("block_steps", (self.group.steps, rows, total, fits)))

    # ---- statements of a block ----

    def _of_a_block(self, statement: Statement) -> list[Statement]:
        direction = self.group.members[statement]
        one = as_kind(statement, Map)
        if one is not None:
            return [self._map(one, direction)]
        copy = as_kind(statement, Copy)
        if copy is not None:
            source = copy.source
            if isinstance(source, View):
                source = self._view(source, 0, direction)
            return [Copy(self._view(copy.target, 0, direction), source)]
        product = as_kind(statement, Gemm)
        if product is not None:
            return [self._product(product, direction)]
        reduction = as_kind(statement, Reduce)
        assert reduction is not None
        if reduction.row_by_row() is None:
            return self._sum(reduction, direction)
        assert isinstance(reduction.target, View)
        target = self._view(reduction.target, 0, direction)
        source = self._view(reduction.source, 0, direction)
        return [Reduce(reduction.operation, source, reduction.axes, target, reduction.dtype)]

    def _view(self, view: View, d: int, direction: int, merged: Size = 1) -> View:
        """Return a view of the rows of a block."""
        shape, start, axis = list(view.shape), list(view.start), view.axes[d]
        shape[d] = product_of(merged, self.count)
        if axis is None:
            return View(view.buffer, tuple(shape), view.axes, view.steps, view.start)
        buffer = view.buffer
        if buffer.root() in self.group.shrunk:
            buffer = self._buffer(buffer)
            start[axis] = 0 if view.steps[d] == 1 else difference(shape[d], 1)
        else:
            first = product_of(merged, self.start if direction == 1 else self.back)
            start[axis] = sum_of(start[axis], product_of(view.steps[d], first))
        return View(buffer, tuple(shape), view.axes, view.steps, tuple(start))

    def _buffer(self, whole: Buffer) -> Buffer:
        """Return the memory of a block in place of that of all steps."""
        if whole in self._buffers:
            return self._buffers[whole]
        merged = self.group.merged_rows.get(whole, 1)
        if self.group.is_all_steps(whole.shape[0]):
            merged = 1
        shape = (self.sizes.binary(self.length, "*", merged), *whole.shape[1:])
        if whole.source is None:
            new = self.step.temporary(whole.dtype, shape)
            new.packed = whole.packed
        else:
            owner = self._buffer(whole.source.buffer)
            name = f"{owner.root().name}_{len(shape)}d"
            new = Buffer(name, whole.dtype, shape, "temporary", source=View.of(owner))
        self._buffers[whole] = new
        return new

    def _map(self, statement: Map, direction: int) -> Map:
        made: dict[Compute, Compute] = {}
        for compute in statement.body:
            buffer = self._result(statement, compute, direction)
            operands = [
                made[one]
                if isinstance(one, Compute)
                else self._view(one, 0, direction)
                if isinstance(one, View)
                else one
                for one in compute.operands
            ]
            made[compute] = compute.made_again(buffer, operands)
        return Map((self.count, *statement.shape[1:]), [*made.values()])

    def _result(self, statement: Map, compute: Compute, direction: int) -> Buffer:
        """Return where a result of a block is computed."""
        whole = compute.buffer
        assert whole is not None
        if whole.root() in self.group.shrunk and whole.place is None:
            return self._buffer(whole)
        place = whole.place if whole.place is not None else View.of(whole)
        new = self.step.temporary(whole.dtype, (self.length, *whole.shape[1:]))
        new.place = self._view(place, 0, direction)
        whole.compute = None
        return new

    def _product(self, product: Gemm, direction: int) -> Gemm:
        merged = self.group.merged_rows[product.a.buffer]
        if product.a.axes == (0, 1):
            a = self._view(product.a, 0, direction, merged)
            return Gemm(a, product.b, self._view(product.out, 0, direction, merged))
        a = self._view(product.a, 1, direction, merged)
        b = self._view(product.b, 0, direction, merged)
        self._fill(product.out)
        return Gemm(a, b, product.out, None, accumulate=True)

    def _sum(self, reduction: Reduce, direction: int) -> list[Statement]:
        target = reduction.target
        assert isinstance(target, View)
        total, part = (self.step.temporary(reduction.dtype, target.shape) for _ in range(2))
        self._fill(View.of(total))
        self._after.append(Copy(target, View.of(total)))
        source = self._view(reduction.source, 0, direction)
        summed = Reduce("add", source, reduction.axes, View.of(part), reduction.dtype)
        return [summed, Combine(View.of(total), View.of(part), "add")]

    def _fill(self, target: View) -> None:
        self._before.append(Copy(target, Scalar("0", target.dtype, True, literal=0)))

    def _call(self, whole: dict[str, Size]) -> CallLoop:
        call = self.group.call
        operands: list[View | Scalar] = []
        rows: list[Size | None] = []
        for argument, operand in zip(call.loop.arguments, call.operands, strict=True):
            kept: Size | None = None
            if isinstance(operand, View):
                if argument.kind in ("sequence", "trace"):
                    operand = self._view(operand, 0, 1)
                    kept = self.count if argument.kind == "trace" else None
                elif argument.kind == "mit_mot":
                    kept = difference(operand.shape[0], self.start)
                    operand = _from(operand, self.start, kept)
                elif argument.kind == "ring":
                    mine = whole[argument.name]
                    kept = operand.shape[0]
                    kept = Choice(mine, sum_of(self.count, argument.history), kept)
                    operand = _from(operand, product_of(mine, self.start), kept)
            operands.append(operand)
            rows.append(kept)
        block = StepRange(
            self.start,
            self.count,
            tuple(rows),
            tuple(whole.get(a.name) for a in call.loop.arguments),
        )
        return CallLoop(
            call.loop,
            call.prefix,
            operands,
            call.work,
            call.first_error,
            call.takes,
            call.steps,
            block=block,
        )


def _from(view: View, first: Size, rows: Size) -> View:
    """Return a view from a row on."""
    start = [sum_of(view.start[0], first), *view.start[1:]]
    return View(view.buffer, (rows, *view.shape[1:]), view.axes, view.steps, tuple(start))
