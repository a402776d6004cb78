"""What is done for all steps of a loop beside it is done for some steps at a time, around their call.

A product that left a loop is as large as all steps together, and so is what the backward loop hands
to the products after it. In blocks of steps both stay in the cache, and take the memory of a block.

Check: arrays of which each row belongs to a step, in order or backwards, that nothing needs but the
loop and what makes them or is made of them row by row, or adds up over all rows; nothing that
stands between and must stay there. Transformation: arrays of as many rows as a block has steps,
and one statement that repeats, for each block, what makes them, the call, and what is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from theano.link.native.ir.ir import Buffer, Compute, Scalar, Size, View
from theano.link.native.ir.sizes import bytes_of
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
from theano.link.native.passes.dependence import Dependence
from theano.link.native.statements.base import Statement, as_kind, of_kind
from theano.link.native.statements.call_loop import WRITTEN_KINDS, CallLoop, StepRange
from theano.link.native.statements.copy import Combine, Copy
from theano.link.native.statements.gemm import Gemm
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce
from theano.link.native.statements.step_blocks import StepBlocks

# bytes that lie in the caches anyway: BYTES_TO_BLOCK of once_a_call.c
BYTES_TO_BLOCK = 8 * 2**20


class _CannotBlock(Exception):
    """Something is needed for all steps at once; the text says what."""


def block_steps(segment: Segment) -> None:
    """Do loops outside other loops, and what is beside them, some steps at a time."""
    for call in list(of_kind(segment.step.statements, CallLoop)):
        if call.when is not None or call.loop.condition is not None:
            continue
        group = _Group(segment, call)
        if group.find():
            _Blocks(segment, group).replace()


class _Group:
    """The statements around a call that are done in blocks, and the arrays that get smaller.

    Attributes
    ----------
    members
        The statements, each with the direction of its rows: 1 where row r is that of step r, -1
        where it is that of the r-th step from the end.
    shrunk
        The arrays, by the buffers that own their memory, with the direction of their rows.
    """

    def __init__(self, segment: Segment, call: CallLoop):
        self.segment, self.call, self.steps = segment, call, segment.step.sizes.find(call.steps)
        self.sizes = segment.step.sizes
        self.members: dict[Statement, int] = {}
        self.shrunk: dict[Buffer, int] = {}
        self.merged_rows: dict[Buffer, Size] = {}
        self._as_steps: set[Size] = {self.steps}
        self._users: dict[Buffer, dict[Statement, None]] = {}
        self._aliases: dict[Buffer, dict[Buffer, None]] = {}
        for statement in segment.step.statements:
            for buffer in _touched(statement):
                self._users.setdefault(buffer.root(), {})[statement] = None
                self._aliases.setdefault(buffer.root(), {})[buffer] = None
        pairs = zip(call.loop.arguments, call.operands, strict=True)
        self._written_by_call = {
            operand.buffer.root()
            for argument, operand in pairs
            if argument.kind in WRITTEN_KINDS and isinstance(operand, View)
        }

    def find(self) -> bool:
        """Return whether there is anything to do in blocks."""
        if not self._arguments_allow_it():
            return False
        for argument, operand in zip(self.call.loop.arguments, self.call.operands, strict=True):
            if argument.kind in ("sequence", "trace") and isinstance(operand, View):
                with self._or_not():
                    self._shrink(operand.buffer.root(), operand.steps[0])
        if not self.members or not self._is_large():
            return False
        return not self._reads_other_rows() and self._may_move()

    def _reads_other_rows(self) -> bool:
        """Return whether one of the group reads what another writes for all steps.

        It might read rows that are only there when later blocks are done.
        """
        writers: dict[Buffer, set[Statement]] = {}
        for member in self.members:
            for buffer in member.written():
                if buffer.root() not in self.shrunk:
                    writers.setdefault(buffer.root(), set()).add(member)
        for reader in (*self.members, self.call):
            for value in reader.values_read():
                root = value.buffer.root() if isinstance(value, View) else None
                if root is not None and writers.get(root, set()) - {reader}:
                    return True
        return False

    def _is_large(self) -> bool:
        """Return whether the arrays are too large for the caches, as far as sizes are static."""
        bytes_ = [
            bytes_of(map(self.sizes.find, root.shape), np.dtype(root.dtype).itemsize)
            for root in self.shrunk
        ]
        known = [one for one in bytes_ if isinstance(one, int)]
        return len(known) < len(bytes_) or sum(known) > BYTES_TO_BLOCK

    def _arguments_allow_it(self) -> bool:
        pairs = zip(self.call.loop.arguments, self.call.operands, strict=True)
        return all(
            self.is_all_steps(operand.shape[0]) and operand.steps[0] == 1
            for argument, operand in pairs
            if argument.kind == "trace" and isinstance(operand, View)
        )

    @contextmanager
    def _or_not(self) -> Iterator[None]:
        """Take back what was found where it turns out that it cannot be."""
        members, shrunk = dict(self.members), dict(self.shrunk)
        try:
            yield
        except _CannotBlock:
            self.members, self.shrunk = members, shrunk

    def is_all_steps(self, size: Size) -> bool:
        """Return whether a size is known to be the number of steps."""
        return self.sizes.find(size) in self._as_steps

    # ---- arrays ----

    def _shrink(self, root: Buffer, direction: int) -> None:
        """Have an array of the rows of a block only, and all that touches it in the group."""
        if root in self.shrunk:
            _require(self.shrunk[root] == direction, "rows in both directions")
            return
        own = root.role == "temporary" and root.place is None and root.source is None
        _require(own and root not in self.segment.step.rows_reached, "what others read")
        self.shrunk[root] = direction
        for view in self.call.views():
            if view.buffer.root() is root:
                _require(self._shows_all_rows(view, 0, 1), "a part of its rows")
                _require(view.steps[0] == direction, "rows in both directions")
        for statement in self._users[root]:
            if statement is not self.call and statement not in self.members:
                self._add(statement)

    def _shows_all_rows(self, view: View, d: int, merged: Size) -> bool:
        """Return whether a dimension of a view runs over all rows of its buffer."""
        buffer = view.buffer
        while buffer.source is not None:
            if not buffer.source.whole:
                return False
            buffer = buffer.source.buffer
        rows = view.buffer.shape[0]
        return (
            view.axes[d] == 0
            and view.steps[d] in (1, -1)
            and (view.steps[d] == -1 or view.start[0] == 0)
            and self.sizes.find(view.shape[d]) == self.sizes.find(rows)
            and (self.is_all_steps(rows) if merged == 1 else True)
        )

    def merged(self, view: View) -> Size:
        """Return how many rows of a matrix are those of one step; raise where that is not known."""
        buffer = view.buffer
        if self.is_all_steps(buffer.shape[0]):
            return 1
        for other in self._aliases[buffer.root()]:
            if len(other.shape) == 3 and self._is_same_memory(other, buffer):
                if self.is_all_steps(other.shape[0]):
                    return self.sizes.find(other.shape[1])
        raise _CannotBlock("a matrix whose rows are not known to be those of steps")

    def _is_same_memory(self, stack: Buffer, matrix: Buffer) -> bool:
        """Return whether one buffer is another one with the first two dimensions as one."""
        rows, merged, columns = stack.shape
        same_columns = self.sizes.find(columns) == self.sizes.find(matrix.shape[1])
        return stack.place is None and (
            same_columns or self.sizes.is_product(matrix.shape[0], rows, merged)
        )

    # ---- statements ----

    def _add(self, statement: Statement) -> None:
        """Take a statement into the group, and the arrays that only it and the group need."""
        for kind, add in _ADDED.items():
            if type(statement) is kind:
                add(self, statement)
                return
        raise _CannotBlock(f"{statement.described()}, of all steps")

    def add_rows(self, statement: Statement, shape: tuple[Size, ...]) -> None:
        """Take in a statement that does row by row, along its first dimension."""
        _require(bool(shape) and self.is_all_steps(shape[0]), "rows that are not those of steps")
        direction = self._direction(
            [(view, 0) for view in statement.views()], [*statement.written()], 1
        )
        self.members[statement] = direction
        for view in statement.views():
            if view.axes and view.axes[0] is not None:
                self._take_operand(view, 0, direction)
        for buffer in statement.written():
            self._take_result(buffer.root(), direction)

    def add_product(self, product: Gemm) -> None:
        """Take in a product whose rows are those of steps, or that adds up over them."""
        if self._is_of_rows(product.a, (0, 1)) and self._is_of_rows(product.out, (0, 1)):
            merged = self._merged_of([product.a, product.out])
            views = [(product.a, 0), (product.out, 0)]
            direction = self._direction(views, [], merged)
            self._note(product, direction, merged)
            self._take_operand(product.a, 0, direction, merged)
            self._take_result(product.out.buffer.root(), direction)
            return
        _require(self._is_of_rows(product.a, (1, 0)), "a product by columns")
        _require(self._is_of_rows(product.b, (0, 1)), "a product by columns")
        merged = self._merged_of([product.a, product.b])
        views = [(product.a, 1), (product.b, 0)]
        direction = self._direction(views, [], merged)
        self._note(product, direction, merged)
        for view, d in views:
            self._take_operand(view, d, direction, merged)

    def _note(self, product: Gemm, direction: int, merged: Size) -> None:
        self.members[product] = direction
        for view in (product.a, product.b, product.out):
            self.merged_rows[view.buffer] = merged

    def _is_of_rows(self, view: View, axes: tuple[int, int]) -> bool:
        return view.axes == axes and view.steps == (1, 1) and view.start == (0, 0)

    def _merged_of(self, views: list[View]) -> Size:
        """Return how many rows of some matrices are one step's, which all have in common.

        They have as many rows. So if a step has as many of both, they are of as many steps; and if
        they are of as many steps, a step has as many of both, whatever that number is called.
        """
        known: list[Size] = []
        for view in views:
            try:
                known.append(self.merged(view))
            except _CannotBlock:
                pass
        _require(bool(known), "matrices whose rows are not known to be those of steps")
        for view in views:
            for other in self._aliases[view.buffer.root()]:
                if len(other.shape) == 3 and self._is_same_memory(other, view.buffer):
                    if self.sizes.find(other.shape[1]) in known:
                        self._as_steps.add(self.sizes.find(other.shape[0]))
            self.merged(view)
        return known[0]

    def add_sum(self, reduction: Reduce) -> None:
        """Take in a sum over the rows of steps."""
        target, source = reduction.target, reduction.source
        _require(isinstance(target, View) and reduction.operation == "add", "a reduction")
        _require(0 in reduction.axes, "a reduction within rows")
        _require(self.is_all_steps(source.shape[0]), "rows that are not those of steps")
        direction = self._direction([(source, 0)], [], 1)
        self.members[reduction] = direction
        self._take_operand(source, 0, direction)

    def _direction(self, views: list[tuple[View, int]], written: list[Buffer], merged: Size) -> int:
        """Return the direction of a statement's rows, as smaller arrays have them."""
        found = {self.shrunk[b.root()] for b in written if b.root() in self.shrunk}
        for view, d in views:
            root = view.buffer.root()
            if root in self.shrunk:
                _require(self._shows_all_rows(view, d, merged), "a part of its rows")
                found.add(view.steps[d] * self.shrunk[root])
        _require(len(found) == 1, "rows in both directions")
        return found.pop()

    def _take_operand(self, view: View, d: int, direction: int, merged: Size = 1) -> None:
        """Make an operand smaller if only the group needs it; else a block reads its part of it."""
        root = view.buffer.root()
        if root in self.shrunk:
            return
        with self._or_not():
            if self._shows_all_rows(view, d, merged) and root not in self._written_by_call:
                self._shrink(root, direction * view.steps[d])
        if root not in self.shrunk:
            _require(root not in self._written_by_call, "rows that the loop writes")

    def _take_result(self, root: Buffer, direction: int) -> None:
        if root not in self.shrunk:
            with self._or_not():
                self._shrink(root, direction)

    # ---- order ----

    def _may_move(self) -> bool:
        """Return whether all members may stand beside the call."""
        statements = self.segment.step.statements
        dependence, position = Dependence(self.segment), statements.index(self.call)
        for member in self.members:
            at = statements.index(member)
            between = statements[min(at, position) + 1 : max(at, position)]
            others = [one for one in between if one not in self.members]
            if dependence.any_ordered(others, member):
                return False
        return True


# kind of statement -> how it is taken into a group
_ADDED: dict[type, Callable[[_Group, Statement], None]] = {
    Map: lambda group, one: group.add_rows(one, one.shape),  # type: ignore[attr-defined]
    Copy: lambda group, one: group.add_rows(one, one.target.shape),  # type: ignore[attr-defined]
    Gemm: lambda group, one: group.add_product(one),  # type: ignore[arg-type]
    Reduce: lambda group, one: group.add_sum(one),  # type: ignore[arg-type]
}


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise _CannotBlock(otherwise)


def _touched(statement: Statement) -> list[Buffer]:
    found: list[Buffer] = []
    for buffer in (*(view.buffer for view in statement.views()), *statement.written()):
        found.append(buffer)
        while found[-1].source is not None:
            found.append(found[-1].source.buffer)
    return found


class _Blocks:
    """Writes the statements of a group for one block."""

    def __init__(self, segment: Segment, group: _Group):
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
        """Put the statement that repeats in the place of the group."""
        group, step = self.group, self.step
        whole = self._rings_are_whole()
        self.length = self._length(whole)
        ordered = [one for one in step.statements if one in group.members or one is group.call]
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
            [work for one in ordered for work in one.operations()],
        )
        position = step.statements.index(group.call)
        before = [one for one in step.statements[:position] if one not in group.members]
        after = [one for one in step.statements[position + 1 :] if one not in group.members]
        step.origins[blocks] = step.origins.get(group.call)
        step.statements = [*before, *self._before, blocks, *self._after, *after]

    # ---- the length of a block ----

    def _rings_are_whole(self) -> dict[str, Size]:
        """Whether states keep the rows of all steps, by the names of the arguments."""
        found: dict[str, Size] = {}
        for argument, operand in zip(
            self.group.call.loop.arguments, self.group.call.operands, strict=True
        ):
            if argument.kind == "ring":
                all_rows = sum_of(self.group.steps, argument.history)
                found[argument.name] = self.sizes.name(compared(operand.shape[0], "==", all_rows))
        return found

    def _length(self, whole: dict[str, Size]) -> Size:
        """How many steps a block has: the runtime knows what the caches hold."""
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
        return self._sum(reduction, direction)

    def _view(self, view: View, d: int, direction: int, merged: Size = 1) -> View:
        """A view of the rows of a block."""
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
        """The memory of a block in the place of that of all steps."""
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
            made[compute] = Compute(
                f"e{buffer.name[1:]}",
                compute.dtype,
                compute.operation,
                operands,
                compute.dtypes,
                buffer,
            )
            buffer.compute = made[compute]
        return Map((self.count, *statement.shape[1:]), [*made.values()])

    def _result(self, statement: Map, compute: Compute, direction: int) -> Buffer:
        """Where a result of a block is computed."""
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
    """A view from a row on."""
    start = [sum_of(view.start[0], first), *view.start[1:]]
    return View(view.buffer, (rows, *view.shape[1:]), view.axes, view.steps, tuple(start))
