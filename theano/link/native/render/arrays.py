"""Arrays with any strides as lines of C see them, and loops over their elements."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.symbolic import Size
from theano.link.native.render.numbers_in_c import C_TYPES
from theano.link.native.render.polls import going_on, in_blocks, unless_empty
from theano.support.data_classes import dataclass


def loops(
    names: Sequence[str], sizes: Sequence[Size | str], body: Sequence[str], polls: int = 0
) -> list[str]:
    """Loops around a body, one for each size, the last of them innermost.

    Where there are polls, they end once the body has found that a signal came.
    """
    heads = [
        f"for (int64_t {name} = 0; {name} < {size}{going_on(polls)}; {name}++) {{"
        for name, size in zip(names, sizes, strict=True)
    ]
    return unless_empty(sizes[1:], [*heads, *body, *["}"] * len(heads)])


def passes(
    names: Sequence[str], sizes: Sequence[Size | str], body: Sequence[str], polls: int
) -> list[str]:
    """Return the same around single elements, with polls between blocks of them."""
    if not polls or not names:
        return loops(names, sizes, body)
    *around, name = names

    def block(first: str, end: str) -> list[str]:
        return [f"for (int64_t {name} = {first}; {name} < {end}; {name}++) {{", *body, "}"]

    rows = loops(around, sizes[:-1], in_blocks(polls, "0", sizes[-1], block), polls)
    return unless_empty(sizes[-1:], rows) if around else rows


def indices(prefix: str, count: int) -> list[str]:
    """Names of so many indices."""
    return [f"{prefix}{k}" for k in range(count)]


@dataclass(frozen=True)
class Array:
    """A view as lines of C see it: the name of a pointer, sizes, and strides as C text."""

    name: str
    dtype: str
    shape: tuple[Size, ...]
    strides: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The C type of its elements."""
        return C_TYPES[self.dtype]

    def at(self, *indices: str) -> str:
        """Return the element at these indices, one for each dimension."""
        return f"{self.name}[{self.offset(*indices)}]"

    def offset(self, *indices: str) -> str:
        """Return where the element at the first so many indices lies, in elements."""
        terms = [
            index if stride == "1" else f"({index}) * ({stride})"
            for index, stride in zip(indices, self.strides, strict=False)
            if stride != "0" and index != "0"
        ]
        return " + ".join(terms) or "0"
