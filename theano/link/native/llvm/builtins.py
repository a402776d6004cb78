"""The functions that C compilers know by themselves, as far as the C of the engine calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from theano.link.native.ir.ir import CannotLower
from theano.link.native.llvm.c_types import (
    BYTE,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    TRUTH,
    UNSIGNED_LONG,
    VOID,
    CType,
    vector_of,
)
from theano.link.native.llvm.values import Place, Value, integer, real

# what LLVM has an instruction for, by C's name -> LLVM's
_OF_LLVM = {
    "sqrt": "sqrt",
    "fabs": "fabs",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "rint": "rint",
    "round": "round",
    "fma": "fma",
    "copysign": "copysign",
}
# functions of C's library, which the process has
_OF_C = frozenset(
    """exp expm1 log log1p pow fmod sin cos tan tgamma lgamma erf erfc hypot atan2 j0 j1 tanh exp2
    log2 log10 asin acos atan sinh cosh asinh acosh atanh cbrt""".split()
)
_OVERFLOWS = {"add": "sadd", "sub": "ssub", "mul": "smul"}
# no side effects, as -fno-math-errno says to the C compiler
PURE = " nounwind willreturn memory(none)"


def is_builtin(name: str) -> bool:
    """Return whether there is a function of that name."""
    return _function(name.removeprefix("__builtin_")) is not None


def _function(name: str) -> Callable[[Any, list[Value]], Value] | None:
    if name in _OWN:
        return _OWN[name]
    known = name if name in _OF_LLVM or name in _OF_C else name.removesuffix("f")
    if known not in _OF_LLVM and known not in _OF_C:
        return None
    kind = DOUBLE if known == name else FLOAT
    if known in _OF_LLVM:
        called = f"llvm.{_OF_LLVM[known]}.{'f64' if kind is DOUBLE else 'f32'}"
        return lambda body, given: body.call(called, kind, _all(body, given, kind))
    return lambda body, given: body.call(name, kind, _all(body, given, kind), PURE)


def builtin(body: object, name: str, operands: list[Value]) -> Value:
    """Return what a function gives.

    Raises
    ------
    CannotLower
        When there is none of that name.
    """
    function = _function(name.removeprefix("__builtin_"))
    if function is None:
        raise CannotLower(f"C's function {name}")
    return function(body, operands)


def _all(body: Any, operands: list[Value], kind: CType) -> list[Value]:
    return [body.converted(one, kind) for one in operands]


def _memcpy(body: Any, given: list[Value]) -> Value:
    to, source, size = given[0], given[1], body.converted(given[2], UNSIGNED_LONG)
    body.copy(to.text, source.text, size.text)
    return to


def _memset(body: Any, given: list[Value]) -> Value:
    byte, size = body.converted(given[1], BYTE), body.converted(given[2], UNSIGNED_LONG)
    body.call_void(
        "llvm.memset.p0.i64",
        "void (ptr, i8, i64, i1)",
        f"ptr {given[0].text}, {byte.typed}, {size.typed}, i1 false",
    )
    return given[0]


def _overflow(name: str) -> Callable[[Any, list[Value]], Value]:
    def checked(body: Any, given: list[Value]) -> Value:
        kind = given[2].type.element
        unsigned = "u" if not kind.signed else "s"
        function = f"llvm.{unsigned}{name}.with.overflow.{kind.llvm}"
        pair = CType("pair", f"{{{kind.llvm}, i1}}")
        both = body.call(function, pair, _all(body, given[:2], kind))
        number = body.emit(f"extractvalue {both.typed}, 0", kind)
        body.store(number, Place(kind, given[2].text))
        return body.emit(f"extractvalue {both.typed}, 1", TRUTH)

    return checked


def _elementwise_root(body: Any, given: list[Value]) -> Value:
    kind = given[0].type
    return body.call(f"llvm.sqrt.v{kind.count}f{kind.element.size * 8}", kind, given)


def _of_processor(function: str) -> Callable[[Any, list[Value]], Value]:
    """Return a call of an instruction, which gives what the first operand is."""
    return lambda body, given: body.call(function, given[0].type, given)


def _scaled(function: str, lanes: int) -> Callable[[Any, list[Value]], Value]:
    """Return a call of an instruction for all lanes, rounded as usual."""

    def scaled(body: Any, given: list[Value]) -> Value:
        mask = CType("integer", f"i{lanes}", lanes // 8)
        operands = [*given[:3], Value(mask, "-1"), integer(INT, 4)]
        return body.call(function, given[0].type, operands)

    return scaled


def _elementwise_fma(body: Any, given: list[Value]) -> Value:
    kind = next(one.type for one in given if one.type.kind == "vector")
    width = f"v{kind.count}f{kind.element.size * 8}"
    return body.call(f"llvm.fma.{width}", kind, [body.converted(one, kind) for one in given])


def _leading_zeros(body: Any, given: list[Value]) -> Value:
    number = body.converted(given[0], UNSIGNED_LONG)
    found = body.call("llvm.ctlz.i64", LONG, [number, integer(TRUTH, 1)])
    return body.converted(found, INT)


def _is_constant(body: Any, given: list[Value]) -> Value:
    if given[0].constant is not None:
        return integer(INT, 1)
    kind = given[0].type
    return body.call(f"llvm.is.constant.{kind.llvm}", TRUTH, given)


def _sign_bit(body: Any, given: list[Value]) -> Value:
    kind = given[0].type
    wide = LONG if kind is DOUBLE else INT
    bits = body.emit(f"bitcast {given[0].typed} to {wide.llvm}", wide)
    return body.binary("<", bits, integer(wide, 0))


def _is_finite(body: Any, given: list[Value]) -> Value:
    rest = body.binary("-", given[0], given[0])
    return body.binary("==", rest, rest)


def _masked(lanes: int) -> CType:
    return CType("vector", f"<{lanes} x i1>", lanes, element=TRUTH, count=lanes)


def _first_lanes(body: Any, count: Value, kind: CType) -> Value:
    """Return which lanes are the first so many."""
    wide = body.converted(count, LONG)
    numbers = vector_of(LONG, kind.count)
    listed = ", ".join(f"i64 {k}" for k in range(kind.count))
    counts = body.splat(Value(LONG, wide.text), numbers)
    return body.emit(f"icmp ult {numbers.llvm} <{listed}>, {counts.text}", _masked(kind.count))


def _load_first(body: object, given: list[Value]) -> Value:
    """Return the first elements from a pointer on, and others after them."""
    pointer, others, count = given
    kind = others.type
    lanes = _first_lanes(body, count, kind)
    name = f"llvm.masked.load.v{kind.count}f{kind.element.size * 8}.p0"
    return _masked_call(body, name, kind, [pointer], lanes, [others], kind.element.size)


def _store_first(body: object, given: list[Value]) -> Value:
    """Store the first elements of a vector."""
    pointer, vector, count = given
    kind = vector.type
    lanes = _first_lanes(body, count, kind)
    name = f"llvm.masked.store.v{kind.count}f{kind.element.size * 8}.p0"
    return _masked_call(body, name, VOID, [vector, pointer], lanes, [], kind.element.size)


def _masked_call(
    body: Any, name: str, kind: CType, before: list, lanes: Value, after: list, align: int
) -> Value:
    """Call a function of LLVM that takes a mask."""
    operands = [*before, integer(INT, align), lanes, *after]
    kinds = ", ".join(one.type.llvm for one in operands)
    body.declared[name] = f"declare {kind.llvm} @{name}({kinds})"
    called = f"call {kind.llvm} @{name}({', '.join(one.typed for one in operands)})"
    body.is_plain = False
    if kind is VOID:
        body.do(called)
        return Value(VOID, "")
    return body.emit(called, kind)


def _infinite(kind: CType) -> Callable[[Any, list[Value]], Value]:
    return lambda body, given: real(kind, float("inf"))


def _not_a_number(kind: CType) -> Callable[[Any, list[Value]], Value]:
    return lambda body, given: real(kind, float("nan"))


_OWN: Mapping[str, Callable[[Any, list[Value]], Value]] = {
    "memcpy": _memcpy,
    "memset": _memset,
    **{f"{name}_overflow": _overflow(name) for name in ("add", "sub", "mul")},
    "elementwise_fma": _elementwise_fma,
    "elementwise_sqrt": _elementwise_root,
    "ia32_permvarsf512": _of_processor("llvm.x86.avx512.permvar.sf.512"),
    "ia32_scalefps512_mask": _scaled("llvm.x86.avx512.mask.scalef.ps.512", 16),
    "ia32_scalefpd512_mask": _scaled("llvm.x86.avx512.mask.scalef.pd.512", 8),
    "clzll": _leading_zeros,
    "constant_p": _is_constant,
    "expect": lambda body, given: given[0],
    "signbit": _sign_bit,
    "isfinite": _is_finite,
    "isnan": lambda body, given: body.binary("!=", given[0], given[0]),
    "inf": _infinite(DOUBLE),
    "inff": _infinite(FLOAT),
    "nan": _not_a_number(DOUBLE),
    "nanf": _not_a_number(FLOAT),
    "tn_load_first": _load_first,
    "tn_store_first": _store_first,
}
