"""C's operators on numbers, vectors and pointers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from theano.link.native.ir.ir import CannotLower
from theano.link.native.llvm.c_types import (
    INT,
    LONG,
    TRUTH,
    CType,
    truths_of,
)
from theano.link.native.llvm.instructions import ARITHMETIC, Instructions
from theano.link.native.llvm.values import Value, constant, integer, real

# operator -> instruction on integers with a sign, without one, and on numbers with a fraction
ARITHMETIC_OPERATORS: dict[str, tuple[str, str, str]] = {
    "+": ("add", "add", "fadd"),
    "-": ("sub", "sub", "fsub"),
    "*": ("mul", "mul", "fmul"),
    "/": ("sdiv", "udiv", "fdiv"),
    "%": ("srem", "urem", ""),
    "&": ("and", "and", ""),
    "|": ("or", "or", ""),
    "^": ("xor", "xor", ""),
    "<<": ("shl", "shl", ""),
    ">>": ("ashr", "lshr", ""),
}
COMPARISONS: dict[str, tuple[str, str, str]] = {
    "==": ("eq", "eq", "oeq"),
    "!=": ("ne", "ne", "une"),
    "<": ("slt", "ult", "olt"),
    "<=": ("sle", "ule", "ole"),
    ">": ("sgt", "ugt", "ogt"),
    ">=": ("sge", "uge", "oge"),
}
_SHIFTS = ("<<", ">>")


def _quotient(a: int, b: int) -> int:
    whole = abs(a) // abs(b)
    return whole if (a < 0) == (b < 0) else -whole


_KNOWN_INTEGERS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b),
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
_KNOWN: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Operators(Instructions):
    """Instructions for what C's operators do."""

    def binary(self, sign: str, a: Value, b: Value) -> Value:
        """Return ``a sign b``."""
        if a.type.kind == "vector" or b.type.kind == "vector":
            return self._on_vectors(sign, a, b)
        if a.type.kind == "pointer" or b.type.kind == "pointer":
            return self._on_pointers(sign, a, b)
        if sign in _SHIFTS:
            a = self.promoted(a)
            return self._computed(sign, a, self.converted(b, a.type))
        common = common_type(a.type, b.type)
        a, b = self.converted(a, common), self.converted(b, common)
        return self._compared(sign, a, b) if sign in COMPARISONS else self._computed(sign, a, b)

    def _computed(self, sign: str, a: Value, b: Value) -> Value:
        kind = a.type
        if a.constant is not None and b.constant is not None:
            known = _known(sign, kind, a.constant, b.constant)
            if known is not None:
                return known
        if sign in "/%" and kind.kind == "integer":
            # it may fail where it is not to be computed
            self.is_plain = False
        return self.emit(f"{_instruction(sign, kind)} {a.typed}, {b.text}", kind)

    def _compared(self, sign: str, a: Value, b: Value) -> Value:
        if a.constant is not None and b.constant is not None:
            return integer(TRUTH, _KNOWN[sign](a.constant, b.constant))
        return self.emit(f"{_comparison(sign, a.type)} {a.typed}, {b.text}", TRUTH)

    def _on_vectors(self, sign: str, a: Value, b: Value) -> Value:
        if a.type.kind != "vector":
            a = self.converted(a, b.type)
        elif b.type.kind != "vector":
            b = self.converted(b, a.type)
        if a.type.size != b.type.size:
            raise CannotLower(f"an operation on {a.type} and {b.type}")
        kind = a.type
        if sign in COMPARISONS:
            found = self.emit(
                f"{_comparison(sign, kind.element)} {a.typed}, {b.text}", _bits_of(kind)
            )
            truths = truths_of(kind)
            return self.emit(f"sext {found.typed} to {truths.llvm}", truths)
        if sign == "-" and b.text == "zeroinitializer":
            # x - 0 is x, also where that is -0
            return a
        if a.type.llvm != b.type.llvm:
            raise CannotLower(f"an operation on {a.type} and {b.type}")
        return self.emit(f"{_instruction(sign, kind.element)} {a.typed}, {b.text}", kind)

    def _on_pointers(self, sign: str, a: Value, b: Value) -> Value:
        if sign in COMPARISONS:
            other = a.type if a.type.kind == "pointer" else b.type
            a, b = self.converted(a, other), self.converted(b, other)
            return self.emit(f"icmp {COMPARISONS[sign][1]} {a.typed}, {b.text}", TRUTH)
        if sign == "+" and a.type.kind != "pointer":
            a, b = b, a
        if sign == "-" and b.type.kind == "pointer":
            ends = [self.emit(f"ptrtoint {one.typed} to i64", LONG) for one in (a, b)]
            apart = self.emit(f"sub {ends[0].typed}, {ends[1].text}", LONG)
            return self.binary("/", apart, integer(LONG, a.type.element.size))
        if sign not in "+-":
            raise CannotLower(f"the operator {sign} on pointers")
        if sign == "-":
            b = self.negative(self.converted(b, LONG))
        return Value(a.type, self.element(a.type.element, a.text, self.promoted(b)))

    # ---- one operand ----

    def negative(self, value: Value) -> Value:
        """Return ``-value``."""
        value = self.promoted(value)
        kind = value.type
        element = kind.element if kind.kind == "vector" else kind
        if value.constant is not None and kind.is_number:
            return constant(kind, -value.constant)
        if element.kind == "float":
            return self.emit(f"fneg {value.typed}", kind)
        return self.emit(f"sub {kind.llvm} {_none(kind)}, {value.text}", kind)

    def inverted(self, value: Value) -> Value:
        """Return ``~value``."""
        value = self.promoted(value)
        if value.constant is not None and value.type.kind == "integer":
            return integer(value.type, ~value.constant)
        kind = value.type
        ones = integer(kind.element if kind.kind == "vector" else kind, -1)
        if kind.kind == "vector":
            return self.emit(f"xor {value.typed}, {self.splat(ones, kind).text}", kind)
        return self.emit(f"xor {value.typed}, {ones.text}", kind)

    def opposite(self, truth: Value) -> Value:
        """Return ``!truth`` of one bit."""
        if truth.constant is not None:
            return integer(TRUTH, not truth.constant)
        return self.emit(f"xor i1 {truth.text}, true", TRUTH)


def _none(kind: CType) -> str:
    return "zeroinitializer" if kind.kind == "vector" else "0"


def _bits_of(vector: CType) -> CType:
    return CType(
        "vector", f"<{vector.count} x i1>", vector.count, element=TRUTH, count=vector.count
    )


def _instruction(sign: str, kind: CType) -> str:
    signed, unsigned, fraction = ARITHMETIC_OPERATORS[sign]
    found = fraction if kind.kind == "float" else signed if kind.signed else unsigned
    if not found:
        raise CannotLower(f"the operator {sign} on {kind}")
    return found


def _comparison(sign: str, kind: CType) -> str:
    signed, unsigned, fraction = COMPARISONS[sign]
    if kind.kind == "float":
        return f"fcmp {fraction}"
    return f"icmp {signed if kind.signed else unsigned}"


def _known(sign: str, kind: CType, a: Any, b: Any) -> Value | None:
    """Return the result on two numbers that are known, unless there is none."""
    if kind.kind == "integer":
        if (sign in "/%" and not b) or (sign in _SHIFTS and not 0 <= b < kind.size * 8):
            return None
        return integer(kind, _KNOWN_INTEGERS[sign](a, b))
    if sign == "/" and not b:
        return None
    try:
        number = _KNOWN[sign](a, b)
    except OverflowError:
        return None
    return real(kind, number) if math.isfinite(number) else None


def common_type(a: CType, b: CType) -> CType:
    """Return the type in which two numbers are computed with."""
    if a is b and a in ARITHMETIC:
        return a
    if not (a.is_number and b.is_number):
        raise CannotLower(f"arithmetic on {a} and {b}")
    ranks = [INT if kind.kind == "integer" and kind.size < 4 else kind for kind in (a, b)]
    return max(ranks, key=ARITHMETIC.index)
