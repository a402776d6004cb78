"""Element-wise operations, and a reduction of one of their results, in one pass over the elements.

A row of elements is computed, so short that it stays in the first cache, and then accumulated: the
result need not be stored, and is not read from memory again.
"""

from __future__ import annotations

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Scalar, View
from theano.link.native.ir.layout import Product, collapsed, marks
from theano.link.native.ir.sharing import Share
from theano.link.native.ir.symbolic import Size
from theano.link.native.render.accumulate import ACCUMULATE, added_row, cleared, stored_row
from theano.link.native.render.looks import (
    between_looks,
    declared,
    going_on,
    look_after,
    unless_empty,
)
from theano.link.native.render.numbers_in_c import C_TYPES
from theano.link.native.render.registry import renders
from theano.link.native.render.statements.map import Elements, about_map, libraries_of_map
from theano.link.native.render.statements.reduce import (
    COLUMNS,
    LANES,
    in_vectors,
    lanes_in_vectors,
    neutral,
    vector_function,
)
from theano.link.native.render.writer import Writer
from theano.link.native.statements.map_reduce import MapReduce

# Sums of neighbouring results, of several rows, that lie in the second cache.
SUMS = 4 * COLUMNS


@renders(MapReduce, about=about_map, libraries=libraries_of_map)
def lines_of_map_reduce(statement: MapReduce, writer: Writer, share: Share | None) -> list[str]:
    """Where the last dimension stays, in blocks of its elements; else one result at a time.

    A thread's share is a range of one of the dimensions that stay. A pass that looks up for
    signals ends early where one came.
    """
    text = _Text(statement, writer, share)
    declaration = []
    if isinstance(statement.reduction.target, Scalar):
        kind = C_TYPES[statement.reduction.target.dtype]
        declaration.append(f"{kind} {writer.number(statement.reduction.target)};")
    return [*declaration, "{", *text.lines(), "}"]


@dataclass(frozen=True)
class _Level:
    """One of the loops around each other: its bounds, and how far it moves in the target."""

    number: int
    first: str
    end: Size | str
    target: Product

    @property
    def reduced(self) -> bool:
        return not self.target.factor

    def head(self, looks: int) -> str:
        i = f"i{self.number}"
        return f"for (int64_t {i} = {self.first}; {i} < {self.end}{going_on(looks)}; {i}++) {{"


@dataclass(frozen=True)
class _Lanes:
    """Partial results of a row that need not wait for one another, in C."""

    begin: list[str]
    row: list[str]
    end: list[str]
    total: str


class _Text:
    """The lines of one such pass."""

    def __init__(self, statement: MapReduce, writer: Writer, share: Share | None):
        self.statement, self.writer = statement, writer
        self.reduction = statement.reduction
        stored = statement.summed.stored
        self.elements = Elements(writer, statement, None if stored else statement.summed)
        self.looks = between_looks(len(statement.body) + 1) if writer.looks else 0
        self.working = C_TYPES[self.reduction.dtype]
        self.levels, self.strides = self._levels(share)

    def _levels(self, share: Share | None) -> tuple[list[_Level], list[list[Product]]]:
        """The loops, and the strides of each operand along them; a shared dimension is kept apart."""
        shape, reduction = self.statement.shape, self.reduction
        target = [Product(0)] * len(shape)
        if isinstance(reduction.target, View):
            out = self.writer.place(reduction.target)
            for d, stride in zip(reduction.kept, out.strides, strict=True):
                target[d] = stride
        shared = marks(-1 if share is None else share.dimension, len(shape))
        operands = [place.strides for place in self.elements.operands.places]
        extents, (kept, parted, *strides) = collapsed(
            shape, [tuple(target), shared, *operands], self.writer.sizes
        )
        if not extents:
            zero = [Product(0)]
            extents, kept, parted, strides = [1], zero, zero, [zero for _ in operands]
        levels = []
        end: Size | str
        for number, (extent, along, part) in enumerate(zip(extents, kept, parted, strict=True)):
            first, end = "0", self.writer.size(extent)
            if share is not None and part.factor:
                first, end = share.first, share.end
            levels.append(_Level(number, first, end, along))
        rename = self.writer.rename
        return levels, [[stride.renamed(rename) for stride in mine] for mine in strides]

    def lines(self) -> list[str]:
        last, reduced = self.levels[-1], [level for level in self.levels if level.reduced]
        kept = [level for level in self.levels if not level.reduced]
        lines = declared(self.looks)
        target = self.reduction.target
        if isinstance(target, View):
            pointer = self.writer.place(target).pointer
            lines.append(f"{C_TYPES[target.dtype]} *const y = {pointer};")
        if last.reduced:
            around, body = kept, self._one_by_one(reduced)
        elif len(kept) > 1 and reduced and kept[-2].number > reduced[-1].number:
            around, body = kept[:-2], self._in_rows_of_columns(kept[-2], last, reduced)
        else:
            around, body = kept[:-1], self._in_columns(last, reduced)
        body = [*(level.head(0) for level in around), *body, *["}"] * len(around)]
        return [*lines, *unless_empty([level.end for level in kept[1:]], body)]

    def _in_columns(self, last: _Level, reduced: list[_Level]) -> list[str]:
        """So many neighbouring results at a time, from all rows."""
        return [
            *_columns(last),
            f"{self.working} sums[{COLUMNS}];",
            cleared(self.reduction.operation, neutral(self.reduction)),
            *self._rows(reduced, [*self._row("column"), *self._accumulated("sums")]),
            self._stored_sums("sums", last),
            "}",
        ]

    def _in_rows_of_columns(self, inner: _Level, last: _Level, reduced: list[_Level]) -> list[str]:
        """The same of some rows of results, for the reduced dimensions are around these."""
        i = f"i{inner.number}"
        rows = f"for (int64_t {i} = begin; {i} < close; {i}++) {{"
        sums = f"{self.working} *const sums_of_row = sums + ({i} - begin) * many;"
        return [
            *_columns(last),
            f"const int64_t rows = {SUMS} / many;",
            f"for (int64_t begin = {inner.first}; begin < {inner.end}; begin += rows) {{",
            f"const int64_t close = tn_smaller(begin + rows, {inner.end});",
            f"{self.working} sums[{SUMS}];",
            "for (int64_t k = 0; k < (close - begin) * many; k++) "
            f"sums[k] = {neutral(self.reduction)};",
            *self._rows(
                reduced,
                [rows, sums, *self._row("column"), *self._accumulated("sums_of_row"), "}"],
            ),
            rows,
            sums,
            self._stored_sums("sums_of_row", last),
            "}",
            "}",
            "}",
        ]

    def _rows(self, reduced: list[_Level], body: list[str]) -> list[str]:
        """The loops over what is reduced around what is done with each row."""
        loops = [*(level.head(self.looks) for level in reduced), *body, *["}"] * len(reduced)]
        return unless_empty([level.end for level in reduced[1:]], loops)

    def _accumulated(self, sums: str) -> list[str]:
        operation, (pointer, stride) = self.reduction.operation, self._stored()
        row = C_TYPES[self.statement.summed.dtype], pointer
        added = added_row(operation, (self.working, sums), row, stride)
        if added is None:
            total = ACCUMULATE[operation].format(f"{sums}[k]", self._element())
            added = f"TN_INDEPENDENT for (int64_t k = 0; k < many; k++) {sums}[k] = {total};"
        return [added, *look_after("many", self.looks)]

    def _stored_sums(self, sums: str, last: _Level) -> str:
        target = self.reduction.target
        row = C_TYPES[target.dtype], f"&{self._result('column')}"
        stored = stored_row((self.working, sums), row, last.target)
        each = "for (int64_t k = 0; k < many; k++)"
        return stored or f"{each} {self._result(_along(last))} = {sums}[k];"

    def _one_by_one(self, reduced: list[_Level]) -> list[str]:
        """A result from all elements of rows, in sums that need not wait for one another."""
        last, lanes = reduced[-1], self._lanes()
        rows = [
            *(level.head(self.looks) for level in reduced[:-1]),
            f"for (int64_t column = {last.first}; column < {last.end}{going_on(self.looks)}; "
            f"column += {COLUMNS}) {{",
            f"const int64_t many = tn_smaller({COLUMNS}, {last.end} - column);",
            *self._row("column"),
            *lanes.row,
            *look_after("many", self.looks),
            "}",
            *["}"] * (len(reduced) - 1),
        ]
        return [
            *lanes.begin,
            *unless_empty([level.end for level in reduced[1:]], rows),
            *lanes.end,
            f"{self._result('')} = {lanes.total};",
        ]

    def _lanes(self) -> _Lanes:
        """Partial results, in vectors where there are functions for it."""
        reduction, (pointer, stride) = self.reduction, self._stored()
        if in_vectors(reduction) and stride == Product(1):
            return _Lanes(
                lanes_in_vectors(reduction),
                [f"{vector_function(reduction, 'row')}(lanes, {pointer}, 0, many);"],
                [],
                f"{vector_function(reduction, 'end')}(lanes)",
            )
        accumulate = ACCUMULATE[reduction.operation]
        each = f"for (int lane = 0; lane < {LANES}; lane++)"
        one = accumulate.format("lanes[lane]", self._element("k + lane"))
        return _Lanes(
            [f"{self.working} lanes[{LANES}];", f"{each} lanes[lane] = {neutral(reduction)};"],
            [
                "int64_t k = 0;",
                f"for (; k + {LANES} <= many; k += {LANES})",
                f"{each} lanes[lane] = {one};",
                f"for (int lane = 0; k + lane < many; lane++) lanes[lane] = {one};",
            ],
            [
                f"for (int count = {LANES} / 2; count; count /= 2)",
                "for (int lane = 0; lane < count; lane++) "
                f"lanes[lane] = {accumulate.format('lanes[lane]', 'lanes[lane + count]')};",
            ],
            "lanes[0]",
        )

    def _row(self, column: str) -> list[str]:
        """The map's elements from a column on, as many as there are in a block."""
        operands, lines = self.elements.operands, []
        if not self.statement.summed.stored:
            kind = C_TYPES[self.statement.summed.dtype]
            number = len(operands.views)
            lines += [f"{kind} row[{COLUMNS}];", f"{kind} *const p{number} = row;"]
        names = [*(f"i{level.number}" for level in self.levels[:-1]), column]
        for k, view in enumerate(operands.views):
            along = zip(names, self.strides[k], strict=True)
            terms = [f"{name} * ({stride.text})" for name, stride in along if stride.factor]
            pointer = " + ".join([operands.pointer(k), *terms])
            lines.append(f"{C_TYPES[view.dtype]} *const p{k} = {pointer};")
        last = [mine[-1] for mine in self.strides]
        return [*lines, "{", *self.elements.inner("0", "many", last), "}"]

    def _stored(self) -> tuple[str, Product]:
        """The pointer to what was computed, and the stride along it."""
        number = self.elements.stores[id(self.statement.summed)]
        apart = not self.statement.summed.stored
        return f"p{number}", Product(1) if apart else self.strides[number][-1]

    def _element(self, position: str = "k") -> str:
        """An element that was computed, in the type of the sums."""
        pointer, stride = self._stored()
        along = f"({position})" if stride.text == "1" else f"({position}) * ({stride.text})"
        return f"({self.working}){pointer}[{along if stride.factor else 0}]"

    def _result(self, last: str) -> str:
        """Where a result goes, in this place along the last dimension."""
        if isinstance(self.reduction.target, Scalar):
            return self.writer.number(self.reduction.target)
        levels = [level for level in self.levels if not level.reduced]
        levels = levels[:-1] if last else levels
        terms = [f"i{level.number} * ({level.target.text})" for level in levels]
        return f"y[{' + '.join([*terms, *([last] if last else [])]) or '0'}]"


def _columns(last: _Level) -> list[str]:
    """The loop over blocks of neighbouring results."""
    return [
        f"for (int64_t column = {last.first}; column < {last.end}; column += {COLUMNS}) {{",
        f"const int64_t many = tn_smaller({COLUMNS}, {last.end} - column);",
    ]


def _along(last: _Level) -> str:
    stride = last.target.text
    return "column + k" if stride == "1" else f"(column + k) * ({stride})"
