"""C's types, and what LLVM calls them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache


class CType:
    """A type; each is one object.

    Attributes
    ----------
    kind
        'void', 'integer', 'float', 'pointer', 'array', 'vector', 'structure' or 'function'.
    llvm
        Its name in LLVM.
    size, align
        In bytes.
    signed
        Of an integer.
    element
        What a pointer points to, what an array or a vector consists of, what a function returns.
    count
        Of an array or a vector; -1 of an array whose length is not known yet.
    parameters
        Of a function.
    fields
        Of a structure: by name, the type and where it begins.
    """

    __slots__ = (
        "align", "count", "element", "fields", "kind", "llvm", "parameters", "signed", "size",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        llvm: str,
        size: int = 0,
        align: int = 1,
        signed: bool = False,
        element: CType | None = None,
        count: int = 0,
        parameters: Sequence[CType] = (),
    ):
        self.kind, self.llvm, self.size, self.align = kind, llvm, size, align
        self.signed, self.count, self.parameters = signed, count, tuple(parameters)
        self.element: CType = element or self
        self.fields: dict[str, tuple[CType, int]] = {}

    @property
    def is_number(self) -> bool:
        """Return whether it is an integer or has a fraction."""
        return self.kind in ("integer", "float")

    @property
    def is_scalar(self) -> bool:
        """Return whether a condition may be of it."""
        return self.kind in ("integer", "float", "pointer")

    @property
    def in_register(self) -> bool:
        """Return whether its values are LLVM's values."""
        return self.kind in ("integer", "float", "pointer", "vector")

    def __repr__(self) -> str:
        return f"{self.kind} {self.llvm}"


def _integer(bits: int, signed: bool) -> CType:
    return CType("integer", f"i{bits}", max(1, bits // 8), max(1, bits // 8), signed)


VOID = CType("void", "void", 1)
# what comparisons give: C's int, of which LLVM has one bit
TRUTH = _integer(1, False)
CHAR, BYTE = _integer(8, True), _integer(8, False)
SHORT, UNSIGNED_SHORT = _integer(16, True), _integer(16, False)
INT, UNSIGNED = _integer(32, True), _integer(32, False)
LONG, UNSIGNED_LONG = _integer(64, True), _integer(64, False)
BOOL = CType("integer", "i8", 1, 1, False)
FLOAT = CType("float", "float", 4, 4)
DOUBLE = CType("float", "double", 8, 8)

INTEGERS = {
    (bits, signed): kind
    for kind in (CHAR, BYTE, SHORT, UNSIGNED_SHORT, INT, UNSIGNED, LONG, UNSIGNED_LONG)
    for bits, signed in [(kind.size * 8, kind.signed)]
}


@cache
def pointer_to(element: CType) -> CType:
    """Return the type of pointers to a type."""
    return CType("pointer", "ptr", 8, 8, element=element)


@cache
def array_of(element: CType, count: int) -> CType:
    """Return the type of so many side by side."""
    return CType(
        "array",
        f"[{max(count, 0)} x {element.llvm}]",
        element.size * max(count, 0),
        element.align,
        element=element,
        count=count,
    )


@cache
def vector_of(element: CType, count: int, align: int = 0) -> CType:
    """Return the type of vectors; they are aligned to their size unless it is said otherwise."""
    size = element.size * count
    return CType(
        "vector", f"<{count} x {element.llvm}>", size, align or size, element=element, count=count
    )


@cache
def function_type(returns: CType, parameters: tuple[CType, ...]) -> CType:
    """Return the type of functions."""
    listed = ", ".join(one.llvm for one in parameters)
    return CType(
        "function", f"{returns.llvm} ({listed})", 1, element=returns, parameters=parameters
    )


def structure_of(fields: Sequence[tuple[str, CType, int]]) -> CType:
    """Return the type of a structure, of fields by name with their alignments."""
    at, align, places = 0, 1, {}
    for name, kind, aligned in fields:
        at = -(-at // aligned) * aligned
        places[name] = (kind, at)
        at += kind.size
        align = max(align, aligned)
    listed = ", ".join(kind.llvm for _, kind, _ in fields)
    size = -(-at // align) * align
    structure = CType("structure", f"{{{listed}}}", size, align)
    structure.fields = places
    return structure


def truths_of(vector: CType) -> CType:
    """Return the type of what comparisons of such vectors give: integers of the elements' size."""
    return vector_of(INTEGERS[vector.element.size * 8, True], vector.count)


def same_shape(a: CType, b: CType) -> bool:
    """Return whether two types of vectors differ in signs or alignment at most."""
    return a.llvm == b.llvm
