"""Reductions over any axes, of an array or of what is computed element by element in the same pass.

Where the last dimension stays, results lie side by side: rows of elements are accumulated in a block of
sums that stays in the first cache. Else each result is accumulated in lanes that need not wait for one
another (`lanes.py`). What is computed is a row so short that it stays in the first cache, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from theano.link.native.ir.ir import Scalar, View
from theano.link.native.ir.layout import Product, collapsed, marks, place_of
from theano.link.native.ir.loop_nests import (
    Address,
    Apply,
    Assign,
    Block,
    Call,
    For,
    Form,
    If,
    Load,
    Memory,
    Node,
    Number,
    Pointer,
    Store,
    Value,
    loops,
    named,
    times,
    unless_empty,
)
from theano.link.native.ir.partitions import Parts, Share
from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Call as Function
from theano.link.native.ir.symbolic import (
    Operation,
    Size,
    compared,
    difference,
    product_of,
    sum_of,
)
from theano.link.native.schedule.accumulate import (
    accumulation,
    in_vectors,
    neutral,
    vector_function,
)
from theano.link.native.schedule.elements import Operands, pointer_to
from theano.link.native.schedule.in_registers import IN_REGISTERS, in_registers
from theano.link.native.schedule.lanes import (
    PartialResults,
    in_vector_lanes,
    lanes_one_by_one,
    one_total,
)
from theano.link.native.schedule.map import Elements
from theano.link.native.schedule.parts_of_numbers import (
    BEGIN,
    CLOSE,
    bounds_of_part,
    declared,
    is_in_parts,
    over_parts,
    worth,
)
from theano.link.native.schedule.polls import between_polls, poll_after, with_polls
from theano.link.native.schedule.registry import schedules
from theano.link.native.statements.base import Statement
from theano.link.native.statements.map_reduce import MapReduce
from theano.link.native.statements.reduce import Reduce
from theano.support.data_classes import dataclass

# Neighbouring results whose sums lie in the first cache; those of several rows, in the second one.
COLUMNS = 1024
SUMS = 4 * COLUMNS
# So many rows are accumulated while sums stay in registers.
ROWS = 8
# Rows of several results are shorter: a multiple of the lanes of any type.
_FEWEST_COLUMNS = 128
# So few elements are sooner done one after the other.
_FEW = 8

# By the types of sums and of what they become: how the functions of prelude.inc end.
_ROW_SUFFIXES = {
    ("float64", "float64"): "f64_f64",
    ("float64", "float32"): "f64_f32",
    ("float32", "float32"): "f32_f32",
}
_COLUMN, _MANY, _K = named("column"), named("many"), named("k")


@schedules(Reduce, MapReduce)
def schedule_reduction(
    statement: Reduce | MapReduce, sizes: Sizes, polls: bool, share: Share | None
) -> list[Node]:
    """Return a pass over the elements; a thread's share is a range of one of the dimensions that stay."""
    numbers = [] if isinstance(share, Parts) else declared(reductions_of(statement))
    return [*numbers, Block(tuple(_Reduction(statement, sizes, polls, share).nodes()))]


def reductions_of(statement: Statement) -> list[Reduce]:
    """Return the reduction that a statement is, or those that it has."""
    if isinstance(statement, MapReduce):
        return statement.reductions
    assert isinstance(statement, Reduce)
    return [statement]


@dataclass(frozen=True)
class _Level:
    """One of the loops around each other: its bounds, and how far it moves in the target."""

    index: str
    first: Size
    end: Size
    target: Product

    @property
    def reduced(self) -> bool:
        return not self.target.factor

    @property
    def axis(self) -> tuple[str, Size, Size]:
        return self.index, self.first, self.end

    @property
    def along(self) -> Size:
        """Return how far its index moves in the target."""
        return times(named(self.index), self.target.size)


@dataclass(frozen=True)
class _Reduced:
    """A reduction of a pass, and which of the pass's pointers is to what it reads."""

    reduction: Reduce
    number: int
    dtype: str

    def element(self, position: Size, stride: Product) -> Load:
        """Return an element of a row of what is reduced."""
        return Load(f"p{self.number}", self.dtype, times(position, stride.size))


class _Reduction:
    """One such pass as it is made.

    Attributes
    ----------
    of_numbers
        Its reductions: several, if each makes a number. Other methods are for the first.
    rows
        The types of rows that are computed and stored nowhere else, by the numbers of their pointers.
    columns
        How many elements of them there are at a time.
    """

    def __init__(
        self, statement: Reduce | MapReduce, sizes: Sizes, polls: bool, share: Share | None
    ):
        self.sizes, self.worth = sizes, worth(statement, sizes)
        self.elements: Elements | None = None
        self.rows: dict[int, str] = {}
        operations = 1
        if isinstance(statement, MapReduce):
            apart = list(dict.fromkeys(c for _, c in statement.reduced if not c.materialized))
            self.elements = Elements(statement, sizes, apart)
            self.operands, stores = self.elements.operands, self.elements.stores
            self.rows = {stores[id(one)]: one.dtype for one in apart}
            self.of_numbers = [_Reduced(r, stores[id(c)], c.dtype) for r, c in statement.reduced]
            self.shape, operations = statement.shape, len(statement.body) + len(statement.reduced)
        else:
            self.operands = Operands(sizes)
            number = self.operands.add(statement.source)
            self.of_numbers = [_Reduced(statement, number, statement.source.dtype)]
            self.shape = statement.source.shape
        first = self.of_numbers[0]
        self.reduction, self.number, self.dtype = first.reduction, first.number, first.dtype
        self.operation, self.working = self.reduction.operation, self.reduction.dtype
        self.columns = max(COLUMNS >> max(len(self.rows) - 1, 0).bit_length(), _FEWEST_COLUMNS)
        self.every = between_polls(operations) if polls else 0
        self.parts = share if isinstance(share, Parts) else None
        self.levels, self.strides = self._levels(None if self.parts else share)

    def _levels(self, share: Share | None) -> tuple[list[_Level], list[list[Product]]]:
        """Return the loops, and the strides of operands along them; a shared dimension is kept apart."""
        target = [Product(0)] * len(self.shape)
        if isinstance(self.reduction.target, View):
            out = place_of(self.reduction.target, self.sizes)
            for d, stride in zip(self.reduction.kept, out.strides, strict=True):
                target[d] = stride
        shared = marks(-1 if share is None else share.dimension, len(self.shape))
        operands = [place.strides for place in self.operands.places]
        extents, (kept, parted, *strides) = collapsed(
            self.shape, [tuple(target), shared, *operands], self.sizes
        )
        if not extents:
            zero = [Product(0)]
            extents, kept, parted, strides = [1], zero, zero, [zero for _ in operands]
        levels = []
        first: Size
        end: Size
        for number, (extent, along, part) in enumerate(zip(extents, kept, parted, strict=True)):
            first, end = 0, extent
            if share is not None and part.factor:
                first, end = named(share.first), named(share.end)
            levels.append(_Level(f"i{number}", first, end, along))
        return levels, strides

    def nodes(self) -> list[Node]:
        last, reduced = self.levels[-1], [level for level in self.levels if level.reduced]
        kept = [level for level in self.levels if not level.reduced]
        target, nodes = self.reduction.target, []
        if isinstance(target, Scalar):
            return self._number()
        if isinstance(target, View):
            nodes.append(pointer_to("y", target.dtype, place_of(target, self.sizes), (), ()))
        if last.reduced:
            body, totals = self._one_by_one(reduced)
            around, body = kept, [*body, Store("y", self._offset(), totals[0])]
        elif len(kept) > 1 and reduced and kept[-2].index > reduced[-1].index:
            around, body = kept[:-2], self._in_rows_of_columns(kept[-2], last, reduced)
        else:
            around, body = kept[:-1], self._in_columns(last, reduced)
            if few_rows := self._in_registers(last, reduced):
                rows = difference(reduced[0].end, reduced[0].first)
                elements = product_of(rows, difference(last.end, last.first))
                few = compared(elements, "<=", IN_REGISTERS)
                many = compared(elements, ">", IN_REGISTERS)
                body = [If(few, tuple(few_rows)), If(many, tuple(body))]
        nest = loops([level.axis for level in around], body, polled=False)
        return [*nodes, *with_polls(self.every, unless_empty([one.end for one in kept[1:]], nest))]

    def _number(self) -> list[Node]:
        """Return what makes numbers of all elements, in parts if there may be many."""
        reductions = [one.reduction for one in self.of_numbers]
        if not is_in_parts(self.worth) and self.parts is None:
            nodes, totals = self._one_by_one(self.levels)
            for one, total in zip(reductions, totals, strict=True):
                assert isinstance(one.target, Scalar)
                nodes.append(Assign(one.target.expression, total))
            return with_polls(self.every, nodes)
        outer, *others = self.levels
        bounds = bounds_of_part(outer.end, 1 if others else COLUMNS)
        self.levels[0] = replace(outer, first=named(BEGIN), end=named(CLOSE))
        nodes, totals = self._one_by_one(self.levels)
        body, polled = [*bounds, *nodes], bool(self.every)
        nest = over_parts(reductions, self.worth, body, totals, self.parts, polled)
        return with_polls(self.every, nest)

    def _in_columns(self, last: _Level, reduced: list[_Level]) -> list[Node]:
        """Return a loop over blocks of neighbouring results, each from all rows."""
        body = [
            Memory("sums", self.working, COLUMNS),
            self._all(_MANY, "sums", neutral(self.operation, self.working)),
            *self._added_rows(reduced),
            self._materialized_sums("sums", last),
        ]
        return self._columns(last, body, polled=False)

    def _in_registers(self, last: _Level, reduced: list[_Level]) -> list[Node]:
        """Return the same without memory for elements and sums, if it can be, which is for few elements."""
        types = {self.working, self.dtype, self.reduction.target.dtype}
        if self.every or len(types) > 1 or self.working not in FLOATS:
            return []
        if self.elements is None or len(reduced) != 1 or last.target != Product(1):
            return []
        row = self.elements.in_lanes([mine[-1] for mine in self.strides])
        if row is None:
            return []
        (around,) = reduced
        indices = [named(level.index) for level in self.levels[:-1]]
        return in_registers(
            around.axis,
            (last.first, last.end),
            self.operands.pointers(indices, self.strides),
            row,
            (f"p{self.number}", self.number not in self.rows),
            (accumulation(self.operation, self.working), neutral(self.operation, self.working)),
            self._offset(0),
        )

    def _in_rows_of_columns(self, inner: _Level, last: _Level, reduced: list[_Level]) -> list[Node]:
        """Return the same for some rows of results at a time, as the reduced dimensions are around these."""
        begin, close = named("begin"), named("close")
        start = Operation("*", difference(named(inner.index), begin), _MANY)
        sums = Pointer("sums_of_row", self.working, "sums", (start,))

        def of_rows(body: Sequence[Node]) -> Node:
            return For(inner.index, begin, close, (sums, *body))

        rows = [of_rows([*self._row(), *self._accumulated("sums_of_row")])]
        several = product_of(difference(close, begin), _MANY)
        block = [
            Number("close", Function("smaller", (sum_of(begin, named("rows")), inner.end))),
            Memory("sums", self.working, SUMS),
            self._all(several, "sums", neutral(self.operation, self.working)),
            *self._rows(reduced, rows),
            of_rows([self._materialized_sums("sums_of_row", last)]),
        ]
        body: list[Node] = [
            Number("rows", Operation("/", SUMS, _MANY)),
            For("begin", inner.first, inner.end, tuple(block), by=named("rows")),
        ]
        return self._columns(last, body, polled=False)

    def _one_by_one(self, reduced: list[_Level]) -> tuple[list[Node], list[Value]]:
        """Return what makes results from all elements of rows, and the results."""
        lanes = [self._lanes(one, reduced[-1], k) for k, one in enumerate(self.of_numbers)]
        taken = [lanes[0].row, *([Block(tuple(one.row))] for one in lanes[1:])]
        row = [*self._row(), *chain(*taken), *poll_after(_MANY, self.every)]
        rows = self._blocks(reduced[-1], row)
        rows = loops([level.axis for level in reduced[:-1]], rows, bool(self.every))
        nodes = [
            *chain(*(one.begin for one in lanes)),
            *unless_empty([level.end for level in reduced[1:]], rows),
            *chain(*(one.end for one in lanes)),
        ]
        return nodes, [one.total for one in lanes]

    def _columns(self, last: _Level, body: Sequence[Node], polled: bool) -> list[Node]:
        """Return a loop over blocks of elements of the last dimension, unless there is one block."""
        columns = self.columns
        if last.first == 0 and isinstance(last.end, int) and last.end <= columns:
            return [Block((Number("column", 0), Number("many", last.end), *body))]
        many = Number("many", Function("smaller", (columns, difference(last.end, _COLUMN))))
        return [For("column", last.first, last.end, (many, *body), by=columns, polled=polled)]

    def _blocks(self, last: _Level, body: Sequence[Node]) -> list[Node]:
        """Return the same, of elements that need no room: as many as there are between polls."""
        known = last.first == 0 and isinstance(last.end, int)
        if self.elements is not None or (known and last.end <= self.columns):  # type: ignore[operator]
            return self._columns(last, body, polled=bool(self.every))
        if not self.every:
            all_of_it = Number("many", difference(last.end, last.first))
            return [Block((Number("column", last.first), all_of_it, *body))]
        many = Number("many", Function("smaller", (self.every, difference(last.end, _COLUMN))))
        return [For("column", last.first, last.end, (many, *body), by=self.every, polled=True)]

    def _rows(self, reduced: list[_Level], body: Sequence[Node]) -> list[Node]:
        """Return the loops over what is reduced around what is done with each row."""
        nest = loops([level.axis for level in reduced], body, bool(self.every))
        return unless_empty([level.end for level in reduced[1:]], nest)

    def _added_rows(self, reduced: list[_Level]) -> list[Node]:
        """Return what accumulates all rows in sums, some at a time where they lie in memory."""
        if (
            self.elements is not None
            or not reduced
            or not self._has_rows_in_vectors(self.of_numbers[0])
        ):
            return self._rows(reduced, [*self._row(), *self._accumulated("sums")])
        inner, count = reduced[-1], named("count")
        apart = self.strides[self.number][self.levels.index(inner)].size
        body = [
            Number("count", Function("smaller", (ROWS, difference(inner.end, named(inner.index))))),
            *self._row(),
            self._of_rows("sums", apart, count),
            *poll_after(product_of(count, _MANY), self.every),
        ]
        rows = For(inner.index, inner.first, inner.end, tuple(body), ROWS, polled=bool(self.every))
        nest = loops([level.axis for level in reduced[:-1]], [rows], bool(self.every))
        return unless_empty([level.end for level in reduced[1:]], nest)

    def _has_rows_in_vectors(self, reduced: _Reduced) -> bool:
        return in_vectors(reduced.reduction) and self._stride(reduced) == Product(1)

    def _of_rows(self, sums: str, apart: Size, count: Size) -> Call:
        """Return the call that accumulates rows that lie so far apart."""
        return self._of_vectors(
            "rows", Address(sums), Address(f"p{self.number}"), apart, count, _MANY
        )

    def _row(self) -> list[Node]:
        """Return the pointers to the elements of a block, and what computes them."""
        nodes: list[Node] = []
        for k, (number, dtype) in enumerate(self.rows.items()):
            row = f"row{k or ''}"
            nodes += [Memory(row, dtype, self.columns), Pointer(f"p{number}", dtype, row)]
        indices = [*(named(level.index) for level in self.levels[:-1]), _COLUMN]
        nodes += self.operands.pointers(indices, self.strides)
        if self.elements is None:
            return nodes
        last = [mine[-1] for mine in self.strides]
        return [*nodes, Block(tuple(self.elements.inner(0, _MANY, last)))]

    def _stride(self, reduced: _Reduced) -> Product:
        """Of what is reduced, along a row."""
        number = reduced.number
        return Product(1) if number in self.rows else self.strides[number][-1]

    def _all(self, many: Size, sums: str, value: Value) -> Node:
        return For("k", 0, many, (Store(sums, _K, value),))

    def _accumulated(self, sums: str) -> list[Node]:
        """Return what accumulates a row in sums."""
        first = self.of_numbers[0]
        if self._has_rows_in_vectors(first):
            added: Node = self._of_rows(sums, 0, 1)
        else:
            element = first.element(_K, self._stride(first))
            total = self._both(Load(sums, self.working, _K), element)
            added = For("k", 0, _MANY, (Store(sums, _K, total),), form=Form.INDEPENDENT)
        return [added, *poll_after(_MANY, self.every)]

    def _both(self, a: Value, b: Value) -> Apply:
        return Apply(accumulation(self.operation, self.working), (a, b))

    def _materialized_sums(self, sums: str, last: _Level) -> Node:
        """Return what stores the sums of a block of results."""
        suffix = _ROW_SUFFIXES.get((self.working, self.reduction.target.dtype))
        if suffix and last.target == Product(1):
            row = Address("y", self._offset(_COLUMN)), Address(sums), _MANY
            return Call(f"store_row_{suffix}", row)
        at = self._offset(times(sum_of(_COLUMN, _K), last.target.size))
        return For("k", 0, _MANY, (Store("y", at, Load(sums, self.working, _K)),))

    def _of_vectors(self, part: str, *operands: Address | Size) -> Call:
        return Call(vector_function(self.reduction, part), operands)

    def _lanes(self, reduced: _Reduced, last: _Level, k: int) -> PartialResults:
        """Return what a result is made from: lanes, or one total of so few elements that their number is known."""
        stride, reduction = self._stride(reduced), reduced.reduction

        def element(position: Size) -> Load:
            return reduced.element(position, stride)

        if isinstance(last.end, int) and last.end <= _FEW:
            return one_total(reduction, element, _MANY, f"total{k or ''}")
        if self._has_rows_in_vectors(reduced):
            row = Address(f"p{reduced.number}")
            return in_vector_lanes(reduction, row, _MANY, f"lanes{k or ''}")
        return lanes_one_by_one(reduction, element, _MANY, f"lanes{k or ''}")

    def _offset(self, last: Size | None = None) -> Size:
        """Return where a result goes, in this place along the last dimension that stays."""
        levels = [level for level in self.levels if not level.reduced]
        offset: Size = 0
        for level in levels if last is None else levels[:-1]:
            offset = sum_of(offset, level.along)
        return offset if last is None else sum_of(offset, last)
