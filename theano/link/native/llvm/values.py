"""Values as they are computed: numbers in registers, places in memory, lanes of vectors."""

from __future__ import annotations

import struct
from typing import Any

from theano.link.native.llvm.c_types import TRUTH, CType


class Value:
    """A value in a register, or a constant.

    Attributes
    ----------
    text
        How LLVM's text names it.
    constant
        The number that it is, if that is known.
    """

    __slots__ = ("constant", "text", "type")

    def __init__(self, type: CType, text: str, constant: Any = None):
        self.type, self.text, self.constant = type, text, constant

    @property
    def typed(self) -> str:
        """The text with its type."""
        return f"{self.type.llvm} {self.text}"


class Place:
    """A place in memory.

    Attributes
    ----------
    pointer
        How LLVM's text names where it is.
    local
        Whether it is a variable of the function.
    align
        To how many bytes it is aligned.
    """

    __slots__ = ("align", "local", "pointer", "type")

    def __init__(self, type: CType, pointer: str, local: bool = False, align: int = 0):
        self.type, self.pointer, self.local = type, pointer, local
        self.align = align or type.align


class Lane:
    """An element of a vector: of one in a place, or of one in a register, which is only read."""

    __slots__ = ("index", "type", "vector")

    def __init__(self, vector: Place | Value, index: Value):
        self.type, self.vector, self.index = vector.type.element, vector, index


def integer(kind: CType, number: int) -> Value:
    """Return a constant of an integer type, in which it wraps around."""
    if kind is TRUTH:
        return Value(kind, "true" if number else "false", int(bool(number)))
    bits = kind.size * 8
    number &= (1 << bits) - 1
    if kind.signed and number >> (bits - 1):
        number -= 1 << bits
    return Value(kind, str(number), number)


def real(kind: CType, number: float) -> Value:
    """Return a constant of a type with a fraction, rounded to it."""
    if kind.size == 4:
        number = _single(number)
    bits = struct.unpack("<Q", struct.pack("<d", number))[0]
    return Value(kind, f"0x{bits:016X}", number)


def _single(number: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def constant(kind: CType, number: Any) -> Value:
    """Return a constant of a type of numbers."""
    return real(kind, float(number)) if kind.kind == "float" else integer(kind, int(number))


def zero(kind: CType) -> Value:
    """Return the value of which each bit is 0."""
    if kind.is_number:
        return constant(kind, 0)
    return Value(kind, "null" if kind.kind == "pointer" else "zeroinitializer", 0)
