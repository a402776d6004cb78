"""Layouts of views in memory: pointers and strides."""

from __future__ import annotations

from collections.abc import Iterable

from theano.link.native.ir.ir import Buffer, View
from theano.link.native.ir.prologue import Element
from theano.link.native.ir.sizes import Sizes
from theano.link.native.ir.symbolic import Rename, Size, Symbolic, factor, product_of, sum_of
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Product:
    """A number times named sizes: what a stride is made from, so that strides compare."""

    factor: int
    names: tuple[Symbolic, ...] = ()

    def times(self, size: Size) -> Product:
        if isinstance(size, int):
            return Product(self.factor * size, self.names if size else ())
        names = tuple(sorted((*self.names, size), key=str))
        return Product(self.factor, names) if self.factor else self

    def renamed(self, rename: Rename) -> Product:
        """Return the same of other names."""
        return Product(self.factor, tuple(size.renamed(rename) for size in self.names))

    @property
    def size(self) -> Size:
        """The number itself."""
        number: Size = self.factor
        for name in self.names:
            number = product_of(number, name)
        return number

    @property
    def text(self) -> str:
        if not self.names:
            return str(self.factor)
        names = [factor(size) for size in self.names]
        factors = names if self.factor == 1 else [str(self.factor), *names]
        return " * ".join(factors)


@dataclass(frozen=True)
class Place:
    """The location of a view's elements, and the strides of dimensions, in elements.

    Attributes
    ----------
    name
        The pointer to the memory.
    offsets
        How far from it the first element is, in summands.
    """

    name: str
    strides: tuple[Product, ...]
    offsets: tuple[Product, ...] = ()

    @property
    def pointer(self) -> str:
        """The pointer to the first element."""
        return " + ".join([self.name, *(offset.text for offset in self.offsets)])

    def renamed(self, rename: Rename) -> Place:
        """Return the same of other names."""
        strides = tuple(stride.renamed(rename) for stride in self.strides)
        offsets = tuple(offset.renamed(rename) for offset in self.offsets)
        return Place(rename(self.name), strides, offsets)


def c_order(shape: Iterable[Size], sizes: Sizes) -> tuple[Product, ...]:
    """Return the strides of a shape in C order."""
    strides = []
    stride = Product(1)
    for size in reversed(tuple(shape)):
        strides.append(stride)
        stride = stride.times(sizes.find(size))
    return tuple(reversed(strides))


def place_of_buffer(buffer: Buffer, sizes: Sizes) -> Place:
    if buffer.place is not None:
        return place_of(buffer.place, sizes)
    if buffer.source is not None:
        base = place_of(buffer.source, sizes)
        return Place(base.name, c_order(buffer.shape, sizes), base.offsets)
    if buffer.strides is not None:
        return Place(buffer.name, tuple(Product(1).times(stride) for stride in buffer.strides))
    return Place(buffer.name, c_order(buffer.shape, sizes))


def place_of(view: View, sizes: Sizes) -> Place:
    """Return the pointer to the first element of a view, and its strides."""
    base = place_of_buffer(view.buffer, sizes)
    offsets = list(base.offsets)
    for start, stride in zip(view.start, base.strides, strict=True):
        if start != 0 and stride.factor:
            offsets.append(stride.times(start))
    strides = tuple(
        Product(0) if axis is None else base.strides[axis].times(step)
        for axis, step in zip(view.axes, view.steps, strict=True)
    )
    return Place(base.name, strides, tuple(offsets))


def first_element(view: View, sizes: Sizes) -> Element:
    """Return the first element of a view, as the prologue reads it."""
    place = place_of(view, sizes)
    offset: Size = 0
    for term in place.offsets:
        offset = sum_of(offset, term.size)
    return Element(place.name, offset)


def marks(dimension: int, ndim: int) -> tuple[Product, ...]:
    """Strides of no operand, which keep a dimension apart from its neighbours, and mark it."""
    return tuple(Product(int(d == dimension)) for d in range(ndim))


def collapsed(
    shape: tuple[Size, ...],
    operands: list[tuple[Product, ...]],
    sizes: Sizes,
    apart: bool = False,
) -> tuple[list[Size], list[list[Product]]]:
    """Fewer dimensions over the same elements, for operands of these strides.

    Two neighbouring dimensions become one where for every operand the outer stride is the
    inner size times the inner stride. With ``apart``, not so the last.
    """
    kept_shape: list[Size] = []
    kept: list[list[Product]] = [[] for _ in operands]
    wide = [(d, size) for d, size in enumerate(map(sizes.find, shape)) if size != 1]
    for d, size in wide:
        joins = bool(kept_shape) and not (apart and d == wide[-1][0])
        joins = joins and all(
            mine[-1] == strides[d].times(size) for mine, strides in zip(kept, operands, strict=True)
        )
        if joins:
            kept_shape[-1] = product_of(kept_shape[-1], size)
            for mine, strides in zip(kept, operands, strict=True):
                mine[-1] = strides[d]
        else:
            kept_shape.append(size)
            for mine, strides in zip(kept, operands, strict=True):
                mine.append(strides[d])
    return kept_shape, kept
