"""The statements next to a loop of which each row belongs to one of its steps.

Check: arrays of which each row belongs to a step, in order or backwards, that nothing needs but the
loop and what makes them or is made from them row by row, or adds up over all rows; nothing that
stands between and must stay there. What they are is asked by `block_steps.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np

from theano.link.native.ir.ir import Buffer, Size, View
from theano.link.native.ir.sizes import bytes_of
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.dependence import Dependence
from theano.link.native.statements.base import Statement, as_kind
from theano.link.native.statements.call_loop import WRITTEN_KINDS, CallLoop
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.gemm import Gemm
from theano.link.native.statements.map import Map
from theano.link.native.statements.reduce import Reduce

# bytes that lie in the caches anyway: as in once_a_call.c
BYTES_OF_BLOCK = 2**20


class _CannotBlock(Exception):
    """Something is needed for all steps at once; the text says what."""


class Group:
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
        # whether no array is taken in that brings what must stay where it is
        self._in_order = False
        self._dependence = Dependence(segment)
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
        self._find_members()
        if self.members and not self._keeps_order():
            # less of it may do
            self._in_order = True
            self.members, self.shrunk, self.merged_rows = {}, {}, {}
            self._find_members()
        return bool(self.members) and self._is_large() and self._keeps_order()

    def _find_members(self) -> None:
        for argument, operand in zip(self.call.loop.arguments, self.call.operands, strict=True):
            if argument.kind in ("sequence", "trace") and isinstance(operand, View):
                self._shrink_if_possible(operand.buffer.root(), operand.steps[0])

    def _keeps_order(self) -> bool:
        """Return whether what members read is there when they are done next to the call."""
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
        return len(known) < len(bytes_) or sum(known) > BYTES_OF_BLOCK

    def _arguments_allow_it(self) -> bool:
        pairs = zip(self.call.loop.arguments, self.call.operands, strict=True)
        return all(
            self.is_all_steps(operand.shape[0]) and operand.steps[0] == 1
            for argument, operand in pairs
            if argument.kind == "trace" and isinstance(operand, View)
        )

    def _shrink_if_possible(self, root: Buffer, direction: int) -> None:
        """Have an array of the rows of a block only, or leave all as it was."""
        members, shrunk = dict(self.members), dict(self.shrunk)
        try:
            self._shrink(root, direction)
            _require(not self._in_order or self._keeps_order(), "what must stay where it is")
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
                _require(self.shows_all_rows(view, 0, 1), "a part of its rows")
                _require(view.steps[0] == direction, "rows in both directions")
        for statement in self._users[root]:
            if statement in self.members:
                wrong = [
                    d
                    for v, d in self.touched(statement)
                    if v.buffer.root() is root and d != direction
                ]
                _require(not wrong, "rows in both directions")
            elif statement is not self.call:
                self._add(statement)

    def shows_all_rows(self, view: View, d: int, merged: Size) -> bool:
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
        raise _CannotBlock("a matrix whose rows may not be those of steps")

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
            with contextlib.suppress(_CannotBlock):
                known.append(self.merged(view))
        _require(bool(known), "matrices whose rows are not known to be those of steps")
        for view in views:
            for other in self._aliases[view.buffer.root()]:
                if len(other.shape) == 3 and self._is_same_memory(other, view.buffer):
                    if self.sizes.find(other.shape[1]) in known:
                        self._as_steps.add(self.sizes.find(other.shape[0]))
            self.merged(view)
        return known[0]

    def add_reduction(self, reduction: Reduce) -> None:
        """Take in a reduction within the rows of steps, or a sum over them."""
        target, source = reduction.target, reduction.source
        within = reduction.row_by_row()
        if within is not None:
            self.add_rows(reduction, within)
            return
        _require(isinstance(target, View) and reduction.operation == "add", "a reduction")
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
                _require(self.shows_all_rows(view, d, merged), "a part of its rows")
                found.add(view.steps[d] * self.shrunk[root])
        _require(len(found) == 1, "rows in both directions")
        return found.pop()

    def _take_operand(self, view: View, d: int, direction: int, merged: Size = 1) -> None:
        """Make an operand smaller if only the group needs it; else a block reads its part of it."""
        root = view.buffer.root()
        if root in self.shrunk:
            _require(self.shows_all_rows(view, d, merged), "a part of its rows")
            _require(self.shrunk[root] == direction * view.steps[d], "rows in both directions")
            return
        if self.shows_all_rows(view, d, merged) and root not in self._written_by_call:
            self._shrink_if_possible(root, direction * view.steps[d])
        if root not in self.shrunk:
            _require(root not in self._written_by_call, "rows that the loop writes")

    def _take_result(self, root: Buffer, direction: int) -> None:
        if root not in self.shrunk:
            self._shrink_if_possible(root, direction)

    def touched(self, statement: Statement) -> list[tuple[View, int]]:
        """Return what a statement of the group touches, with the direction of its rows; 0: not by rows."""
        call = as_kind(statement, CallLoop)
        if call is not None:
            pairs = zip(call.loop.arguments, call.operands, strict=True)
            return [
                (view, self._direction_of(view, 0, int(argument.kind in ("sequence", "trace"))))
                for argument, view in pairs
                if isinstance(view, View)
            ]
        direction = self.members[statement]
        product, reduction = as_kind(statement, Gemm), as_kind(statement, Reduce)
        if product is not None:
            a, b, out = product.a, product.b, product.out
            if a.axes == (0, 1):
                rows = [(a, 0, direction), (b, 0, 0), (out, 0, direction)]
            else:
                rows = [(a, 1, direction), (b, 0, direction), (out, 0, 0)]
            return [(view, self._direction_of(view, d, one)) for view, d, one in rows]
        if reduction is not None and reduction.row_by_row() is None:
            assert isinstance(reduction.target, View)
            source = reduction.source
            return [(source, self._direction_of(source, 0, direction)), (reduction.target, 0)]
        one = as_kind(statement, Map)
        written = [] if one is None else [b.place or View.of(b) for b in one.written()]
        return [
            (view, self._direction_of(view, 0, direction))
            for view in (*statement.views(), *written)
        ]

    def _direction_of(self, view: View, d: int, direction: int) -> int:
        """Return whether row r of a buffer is that of step r, or from the end; 0: neither is known."""
        buffer: Buffer | None = view.buffer
        while buffer is not None:
            if buffer.place is not None:
                return 0
            buffer = buffer.source.buffer if buffer.source is not None else None
        merged: Size = self.merged_rows.get(view.buffer, 1)
        rows = bool(view.axes) and self.shows_all_rows(view, d, merged)
        return direction * view.steps[d] if rows else 0

    # ---- order ----

    def _may_move(self) -> bool:
        """Return whether all members may stand next to the call."""
        statements = self.segment.step.statements
        position = statements.index(self.call)
        for member in self.members:
            at = statements.index(member)
            between = statements[min(at, position) + 1 : max(at, position)]
            others = [one for one in between if one not in self.members]
            if self._dependence.any_ordered(others, member):
                return False
        return True


# kind of statement -> how it is taken into a group
_ADDED: dict[type, Callable[[Group, Statement], None]] = {
    Map: lambda group, one: group.add_rows(one, one.shape),  # type: ignore[attr-defined]
    Copy: lambda group, one: group.add_rows(one, one.target.shape),  # type: ignore[attr-defined]
    Gemm: lambda group, one: group.add_product(one),  # type: ignore[arg-type]
    Reduce: lambda group, one: group.add_reduction(one),  # type: ignore[arg-type]
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
