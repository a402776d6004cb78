"""Where the elements of a view lie: pointers and strides as C text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from theano.link.native.ir.ir import Buffer, Size, View
from theano.link.native.ir.sizes import Sizes


@dataclass(frozen=True)
class Product:
    """A number times named sizes: what a stride is made of, so that strides compare."""

    factor: int
    names: tuple[str, ...] = ()

    def times(self, size: Size) -> Product:
        if isinstance(size, int):
            return Product(self.factor * size, self.names if size else ())
        return Product(self.factor, tuple(sorted((*self.names, size)))) if self.factor else self

    @property
    def text(self) -> str:
        if not self.names:
            return str(self.factor)
        factors = list(self.names) if self.factor == 1 else [str(self.factor), *self.names]
        return " * ".join(factors)


@dataclass(frozen=True)
class Place:
    """A pointer, and the strides of dimensions in elements."""

    pointer: str
    strides: tuple[Product, ...]


def c_order(shape: Iterable[Size], sizes: Sizes) -> tuple[Product, ...]:
    """The strides of a shape in C order."""
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
        base = place_of(buffer.source, sizes).pointer
        return Place(base, c_order(buffer.shape, sizes))
    if buffer.strides is not None:
        return Place(buffer.name, tuple(Product(1).times(stride) for stride in buffer.strides))
    return Place(buffer.name, c_order(buffer.shape, sizes))


def place_of(view: View, sizes: Sizes) -> Place:
    """The pointer to the first element of a view, and its strides."""
    base = place_of_buffer(view.buffer, sizes)
    terms = [base.pointer]
    for start, stride in zip(view.start, base.strides, strict=True):
        if start != 0 and stride.factor:
            offset = stride.times(start)
            terms.append(offset.text)
    strides = tuple(
        Product(0) if axis is None else base.strides[axis].times(step)
        for axis, step in zip(view.axes, view.steps, strict=True)
    )
    return Place(" + ".join(terms), strides)


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
            kept_shape[-1] = _product(kept_shape[-1], size)
            for mine, strides in zip(kept, operands, strict=True):
                mine[-1] = strides[d]
        else:
            kept_shape.append(size)
            for mine, strides in zip(kept, operands, strict=True):
                mine.append(strides[d])
    return kept_shape, kept


def _product(a: Size, b: Size) -> Size:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return f"{a} * {b}"
