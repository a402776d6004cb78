"""C loops over the elements of views."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.layout import Place, Product, collapsed, marks, place_of
from theano.link.native.ir.sharing import OuterRange, Rectangle, Share
from theano.link.native.ir.symbolic import Name
from theano.link.native.render.looks import declared, going_on, in_blocks, unless_empty
from theano.link.native.render.numbers_in_c import C_TYPES
from theano.link.native.render.writer import Writer


class Operands:
    """The views that a loop reads and writes, each once, with the names of their pointers."""

    def __init__(self, writer: Writer):
        self.writer = writer
        self.views: list[View] = []
        self.places: list[Place] = []

    def add(self, view: View) -> int:
        """The position of an operand, which is new if none lies in the same place."""
        place = place_of(view, self.writer.sizes)
        for k, known in enumerate(self.views):
            if self.places[k] == place and known.dtype == view.dtype:
                return k
        self.views.append(view)
        self.places.append(place)
        return len(self.views) - 1

    def collapsed(
        self, shape: Sequence[Size], apart: bool = False
    ) -> tuple[list[Size], list[list[Product]]]:
        """The dimensions of the loops, and the strides of each operand along them."""
        writer, all_strides = self.writer, [place.strides for place in self.places]
        extents, strides = collapsed(tuple(shape), all_strides, writer.sizes, apart)
        if not extents:
            return [1], [[Product(0)] for _ in self.views]
        renamed = [[stride.renamed(writer.rename) for stride in mine] for mine in strides]
        return [writer.size(extent) for extent in extents], renamed

    def pointer(self, k: int) -> str:
        """The pointer to the first element of an operand."""
        return self.places[k].renamed(self.writer.rename).pointer


# Of a range: whole lines of memory, and of the vectors of any type.
ELEMENTS_TOGETHER = 64

# Writes a loop over i from one bound to another, given the strides along it.
Inner = Callable[[str, str, list[Product]], list[str]]


def nest(
    shape: Sequence[Size],
    operands: Operands,
    inner: Inner,
    share: Share | None,
    looks: int = 0,
) -> list[str]:
    """Loops over all but the last dimension, and in them what ``inner`` writes for the last.

    After so many elements they look up for signals; 0: never.
    """
    if (
        share is not None
        and share.dimension >= 0
        and _is_wide(operands, shape[share.dimension + 1 :])
    ):
        return _nest_of_rows(shape, operands, inner, share, looks)
    extents, strides = operands.collapsed(shape)
    lines: list[str] = []
    first: str = "0"
    end: Size | str = extents[-1]
    rows = (share.top, share.bottom) if isinstance(share, Rectangle) else None
    if isinstance(share, OuterRange):
        unit = ELEMENTS_TOGETHER if len(extents) == 1 else 1
        lines += range_of_thread(extents[0], unit)
        if len(extents) == 1:
            first, end = "first", "end"
    elif share is not None:
        whole = end
        first, end = share.first, share.end
        joined = extents[-1] != operands.writer.size(share.size)
        if joined:
            # One thread alone takes the elements of all rows in one go.
            extents, strides = operands.collapsed(shape, apart=True)
            top, bottom = rows or ("0", str(extents[-2]))
            lines += [
                *([f"const int64_t from = threads > 1 ? {top} : 0;"] if rows else []),
                f"const int64_t rows = threads > 1 ? {bottom} : 1;",
                f"const int64_t first = threads > 1 ? {first} : 0;",
                f"const int64_t end = threads > 1 ? {end} : {whole};",
            ]
            extents[-2], first, end = Name("rows"), "first", "end"
            rows = ("from", "rows") if rows else None
    lines += declared(looks)
    bounds: list[tuple[str, Size | str]] = [("0", extent) for extent in extents]
    if isinstance(share, OuterRange):
        bounds[0] = "first", "end"
    elif rows is not None:
        bounds[0] = rows
    return block([*lines, *_loops(operands, bounds, (first, end), strides, inner, looks)])


def _nest_of_rows(
    shape: Sequence[Size], operands: Operands, inner: Inner, share: Share, looks: int
) -> list[str]:
    """The same, of a range along a dimension that is not the last."""
    writer = operands.writer
    apart = marks(share.dimension, len(shape))
    all_strides = [apart, *(place.strides for place in operands.places)]
    extents, (marked, *strides) = collapsed(tuple(shape), all_strides, writer.sizes)
    bounds: list[tuple[str, Size | str]] = [("0", writer.size(extent)) for extent in extents]
    bounds[[mark.factor for mark in marked].index(1)] = share.first, share.end
    renamed = [[stride.renamed(writer.rename) for stride in mine] for mine in strides]
    lines = _loops(operands, bounds, bounds[-1], renamed, inner, looks)
    return block([*declared(looks), *lines])


def block(lines: list[str]) -> list[str]:
    """Lines in a block of their own, unless they are one."""
    depth = 0
    for line in lines[:-1]:
        depth += line.endswith("{") - line.startswith("}")
        if not depth:
            return ["{", *lines, "}"]
    return lines


def _is_wide(operands: Operands, shape: Sequence[Size]) -> bool:
    return any(operands.writer.sizes.find(size) != 1 for size in shape)


def _loops(
    operands: Operands,
    bounds: Sequence[tuple[str, Size | str]],
    last_bounds: tuple[str, Size | str],
    strides: list[list[Product]],
    inner: Inner,
    looks: int,
) -> list[str]:
    """Loops over all but the last dimension, the pointers, and the last loop."""
    lines = [
        f"for (int64_t i{level} = {low}; i{level} < {high}{going_on(looks)}; i{level}++) {{"
        for level, (low, high) in enumerate(bounds[:-1])
    ]
    for k, view in enumerate(operands.views):
        terms = [operands.pointer(k)]
        terms += [
            f"i{level} * {stride.text}" if stride.text != "1" else f"i{level}"
            for level, stride in enumerate(strides[k][:-1])
            if stride.factor
        ]
        lines.append(f"{C_TYPES[view.dtype]} *const p{k} = {' + '.join(terms)};")
    last = [stride[-1] for stride in strides]
    lines += in_blocks(looks, *last_bounds, lambda first, end: inner(first, end, last))
    lines += ["}"] * (len(bounds) - 1)
    return unless_empty([end for _, end in bounds[1:]], lines)


def range_of_thread(size: Size, unit: int) -> list[str]:
    """The range of a thread of elements, of which so many are not parted."""
    bounds = f"const int64_t first = tn_share({size}, {unit}, thread, threads)"
    return [f"{bounds}, end = tn_share({size}, {unit}, thread + 1, threads);"]


def element(k: int, stride: Product) -> str:
    """The element of an operand in the innermost loop."""
    if not stride.factor:
        return f"*p{k}"
    return f"p{k}[i]" if stride.text == "1" else f"p{k}[i * ({stride.text})]"
