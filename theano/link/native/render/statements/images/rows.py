"""Rows of windows side by side, on vectors: for windows whose shape is known when the code is made.

The elements of an image that a row of windows has are put together along all dimensions but the last
in a short row, which stays in the first cache; then neighbours in it are. So nothing is decided for
single elements, and memory is read in order. What is given for windows is written next to the elements
in the same way, once for each of the windows that an element may be in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from theano.link.native.ir.symbolic import Size
from theano.link.native.render.numbers_in_c import C_TYPES
from theano.link.native.render.statements.images.planes import Plane
from theano.link.native.render.statements.images.windows import (
    accumulate,
    elements_along,
    for_each_window,
    neutral_of,
    nothing_in,
)
from theano.link.native.statements.images.tasks import Along, Mean, Task
from theano.support.data_classes import dataclass

# elements of a row, so that a few rows lie in the first cache
_ROOM = 1024
# a window or step that is larger leaves too few windows for a row
_WIDEST = 256
# windows that an element may be in, of each of which there is a row
_MOST_WINDOWS = 8
# short loops are written out
_FEW = 8


def fits(task: Task, last: Along) -> bool:
    """Return whether windows are computed so."""
    size, step = last.size, last.step
    if not isinstance(size, int) or not isinstance(step, int) or max(size, step) > _WIDEST:
        return False
    return not task.compares or -(-size // step) <= _MOST_WINDOWS


@dataclass(frozen=True)
class Rows:
    """The lines for one image.

    Attributes
    ----------
    task, dtype, maximum, mean
        What is computed.
    along
        The windows, by dimension.
    target, reads
        The arrays.
    """

    task: Task
    dtype: str
    maximum: bool
    mean: Mean | None
    along: Sequence[Along]
    target: Plane
    reads: Sequence[Plane]

    @property
    def kind(self) -> str:
        """The C type of elements."""
        return C_TYPES[self.dtype]

    @property
    def last(self) -> Along:
        """The windows along the last dimension."""
        return self.along[-1]

    @property
    def size(self) -> int:
        """Their size, which is known, as is their distance."""
        assert isinstance(self.last.size, int)
        return self.last.size

    @property
    def step(self) -> int:
        """Their distance."""
        assert isinstance(self.last.step, int)
        return self.last.step

    @property
    def windows_of_element(self) -> int:
        """Return how many windows an element may be in."""
        return -(-self.size // self.step)

    @property
    def together(self) -> int:
        """Return how many windows a row has at most."""
        most = max(1, (_ROOM - self.size) // self.step - self.windows_of_element)
        return min(most, self.last.count) if isinstance(self.last.count, int) else most

    def declarations(self) -> list[str]:
        """Return the rows, before the first image."""
        room = (max(self.together, 1) + self.windows_of_element) * self.step + self.size
        names = {
            Task.POOL: ["row"],
            Task.TO_ALL: ["row"],
            Task.TO_GREATEST: ["best", "row"],
            Task.OF_GREATEST: ["best", "row"],
        }[self.task]
        many = f"[{self.windows_of_element}]" if self.task.compares else ""
        lines = [f"{self.kind} {name}{many}[{room}] = {{0}};" for name in names]
        if self._divides_apart or self.task is Task.TO_ALL:
            lines.append(f"{self.kind} each[{max(self.together, 1)}];")
        return lines

    @property
    def _divides_apart(self) -> bool:
        return self.mean is not None and not self.mean.all_alike and self.task is Task.POOL

    def lines(self) -> list[str]:
        """All of them."""
        of_row = {
            Task.POOL: self._pool,
            Task.TO_ALL: self._to_all,
            Task.TO_GREATEST: self._to_greatest,
            Task.OF_GREATEST: self._of_greatest,
        }[self.task]()
        windows = [f"o{d}" for d in range(len(self.along) - 1)]
        last = self.last
        return [
            *(nothing_in(self.target, self.along) if self.task.fills_images else []),
            f"for (int64_t from = 0; from < {last.count}; from += {self.together}) {{",
            f"const int64_t many = tn_smaller({self.together}, {last.count} - from);",
            f"const int64_t room = (many - 1) * {self.step} + {self.size};",
            # the row begins at this column
            f"const int64_t column = from * {self.step} - {last.pad};",
            # a row may lie outside the image
            "const int64_t low = column < 0 ? tn_smaller(-column, room) : 0;",
            f"const int64_t end = tn_smaller(room, {last.length} - column);",
            "const int64_t high = end < low ? low : end;",
            *(self._counted_along_row() if self._divides_apart else []),
            *for_each_window(self.along, windows, of_row),
            "}",
        ]

    # ---- parts of rows ----

    def _counted_along_row(self) -> list[str]:
        """Return how many elements each of the windows has along the last dimension."""
        d, last = len(self.along) - 1, self.last
        assert self.mean is not None
        return [
            "for (int64_t k = 0; k < many; k++) {",
            f"const int64_t first{d} = column + k * {self.step};",
            f"const int64_t low{d} = first{d} < 0 ? 0 : first{d};",
            f"const int64_t high{d} = tn_smaller(first{d} + {self.size}, {last.length});",
            f"each[k] = {elements_along(d, last, self.mean)};",
            "}",
        ]

    def _rows_of_images(self, body: Callable[[Sequence[str]], list[str]]) -> list[str]:
        """Loops over the rows of an image that the windows have."""
        names = [f"i{d}" for d in range(len(self.along) - 1)]
        heads = [
            f"for (int64_t {name} = low{d}; {name} < high{d}; {name}++) {{"
            for d, name in enumerate(names)
        ]
        return [*heads, *body([*names, "column + k"]), *["}"] * len(names)]

    def _within(self, body: Sequence[str]) -> list[str]:
        """Return a loop over the elements of the row that are elements of the image."""
        return ["TN_INDEPENDENT", "for (int64_t k = low; k < high; k++) {", *body, "}"]

    def _for_windows(self, body: Sequence[str]) -> list[str]:
        return ["TN_INDEPENDENT", "for (int64_t k = 0; k < many; k++) {", *body, "}"]

    def _alongside(self, rows: Mapping[str, str]) -> list[str]:
        """Write values of windows next to their elements, by rows, for each window of an element.

        What is read is the value of window ``k``. Zeros are written where no window is.
        """
        names = [f"{self.kind} of_{row} = {value};" for row, value in rows.items()]
        body = [f"const {name}" for name in names]
        after: list[str] = []
        for q in range(self.windows_of_element):
            inside = min(self.step, self.size - q * self.step)
            for row in rows:
                at = f"{row}[{q}][(k + {q}) * {self.step} + %s]"
                body += _each(self.step, inside, at + f" = of_{row};", at + " = 0;")
            end = f"for (int64_t k = (many + {q}) * {self.step}; k < room; k++)"
            # there is nothing else after the last of them
            if q < self.windows_of_element - 1:
                after += [f"{end} {row}[{q}][k] = 0;" for row in rows]
        return [*self._for_windows(body), *after]

    # ---- tasks ----

    def _pool(self) -> list[str]:
        around = f"row[k] = {neutral_of(self.dtype, self.maximum)};"
        x, windows = self.reads[0], [f"o{d}" for d in range(len(self.along) - 1)]

        def add_row(indices: Sequence[str]) -> list[str]:
            one = f"const {self.kind} one = {x.at(*indices)};"
            return self._within([one, *self._into_row(accumulate(self.maximum, "total", "one"))])

        slowly = [f"for (int64_t k = 0; k < room; k++) {around}", *self._rows_of_images(add_row)]
        lines = self._whole_rows(slowly, around)
        total = [f"{self.kind} total = row[k * {self.step}];"]
        alongside = f"row[k * {self.step} + %s]"
        one = (
            f"{{ const {self.kind} one = {alongside}; {accumulate(self.maximum, 'total', 'one')} }}"
        )
        total += _repeated(1, self.size, one)
        counted = self._counted()
        total.append(f"{self.target.at(*windows, 'from + k')} = total{counted};")
        return [*lines, *self._for_windows(total)]

    def _into_row(self, line: str) -> list[str]:
        return [f"{self.kind} total = row[k];", line, "row[k] = total;"]

    def _counted(self) -> str:
        """Return what sums are divided by."""
        if self.mean is None:
            return ""
        above = [elements_along(d, one, self.mean) for d, one in enumerate(self.along[:-1])]
        if self._divides_apart:
            return f" / (each[k] * ({self.kind})({' * '.join(above) or '1'}))"
        return f" / ({self.kind})({' * '.join([*above, str(self.size)])})"

    def _whole_rows(self, slowly: list[str], around: str) -> list[str]:
        """All rows of a window at once where there is none at the border, or else one by one."""
        if len(self.along) > 2:
            return slowly
        rows: Size = self.along[0].size if len(self.along) == 2 else 1
        if not isinstance(rows, int) or rows > _FEW:
            return slowly
        x = self.reads[0]
        index = [[f"low0 + {r}", "column + k"] for r in range(rows)]
        index = index if len(self.along) == 2 else [["column + k"]]
        body = [f"{self.kind} total = {x.at(*index[0])};"]
        for r in range(1, rows):
            body.append(f"const {self.kind} one{r} = {x.at(*index[r])};")
            body.append(accumulate(self.maximum, "total", f"one{r}"))
        fast = [
            f"for (int64_t k = 0; k < low; k++) {around}",
            *self._within([*body, "row[k] = total;"]),
            f"for (int64_t k = high; k < room; k++) {around}",
        ]
        if len(self.along) == 1:
            return fast
        return [f"if (high0 - low0 == {rows}) {{", *fast, "} else {", *slowly, "}"]

    def _to_all(self) -> list[str]:
        windows = [f"o{d}" for d in range(len(self.along) - 1)]
        given = self.reads[0].at(*windows, "from + k")
        counted = self._counted_for_gradient()
        lines = self._for_windows([*counted[0], f"each[k] = {given}{counted[1]};"])
        at = f"row[k * {self.step} + %s]"
        inside = min(self.step, self.size)
        lines += self._for_windows(_each(self.step, inside, at + " = each[k];", at + " = 0;"))
        lines.append(f"for (int64_t k = many * {self.step}; k < room; k++) row[k] = 0;")
        for q in range(1, self.windows_of_element):
            inside = min(self.step, self.size - q * self.step)
            at = f"row[(k + {q}) * {self.step} + %s]"
            lines += self._for_windows(_each(inside, inside, at + " += each[k];", ""))

        def add(indices: Sequence[str]) -> list[str]:
            return self._within([f"{self.target.at(*indices)} += row[k];"])

        return [*lines, *self._rows_of_images(add)]

    def _counted_for_gradient(self) -> tuple[list[str], str]:
        """Return the bounds along the last dimension, where they are needed, and the divisor."""
        if self.mean is None:
            return [], ""
        d, last = len(self.along) - 1, self.last
        factors = [elements_along(e, one, self.mean) for e, one in enumerate(self.along)]
        by = f" / ({self.kind})({' * '.join(factors)})"
        if self.mean.all_alike:
            return [], by
        return [
            f"const int64_t first{d} = column + k * {self.step};",
            f"const int64_t low{d} = first{d} < 0 ? 0 : first{d};",
            f"const int64_t high{d} = tn_smaller(first{d} + {self.size}, {last.length});",
        ], by

    def _to_greatest(self) -> list[str]:
        windows = [f"o{d}" for d in range(len(self.along) - 1)]
        x, best, given = self.reads
        lines = self._alongside(
            {"best": best.at(*windows, "from + k"), "row": given.at(*windows, "from + k")}
        )

        def add(indices: Sequence[str]) -> list[str]:
            y = self.target.at(*indices)
            return self._within(
                [
                    f"const {self.kind} one = {x.at(*indices)};",
                    f"{self.kind} total = {y};",
                    *self._of_equal("total += one == best[{0}][k] ? row[{0}][k] : 0;"),
                    f"{y} = total;",
                ]
            )

        return [*lines, *self._rows_of_images(add)]

    def _of_greatest(self) -> list[str]:
        windows = [f"o{d}" for d in range(len(self.along) - 1)]
        x, best, values = self.reads
        lines = self._alongside({"best": best.at(*windows, "from + k")})
        lines += self._of_equal(
            f"for (int64_t k = 0; k < (many + {self.windows_of_element}) * {self.step}; k++) "
            "row[{0}][k] = 0;"
        )

        def add(indices: Sequence[str]) -> list[str]:
            return self._within(
                [
                    f"const {self.kind} one = {x.at(*indices)}, value = {values.at(*indices)};",
                    *self._of_equal("row[{0}][k] += one == best[{0}][k] ? value : 0;"),
                ]
            )

        total = [f"{self.kind} total = 0;"]
        for q in range(self.windows_of_element):
            inside = min(self.step, self.size - q * self.step)
            total += _repeated(0, inside, f"total += row[{q}][(k + {q}) * {self.step} + %s];")
        total.append(f"{self.target.at(*windows, 'from + k')} = total;")
        return [*lines, *self._rows_of_images(add), *self._for_windows(total)]

    def _of_equal(self, line: str) -> list[str]:
        return [line.format(q) for q in range(self.windows_of_element)]


def _repeated(first: int, end: int, line: str) -> list[str]:
    """Return a line for each of a few numbers, or in a loop."""
    if end - first <= 2 * _FEW:
        return [line % p for p in range(first, end)]
    return [f"for (int64_t p = {first}; p < {end}; p++) {line % 'p'}"]


def _each(count: int, inside: int, line: str, beyond: str) -> list[str]:
    """Return a line for each of the first numbers, and another for those beyond."""
    if inside >= count:
        return _repeated(0, count, line)
    return [*_repeated(0, inside, line), *_repeated(inside, count, beyond)]
