"""The instructions of one function, as LLVM's text: blocks, variables, loads, stores and conversions."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import CannotLower
from theano.link.native.llvm.c_types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    TRUTH,
    UNSIGNED,
    UNSIGNED_LONG,
    CType,
    pointer_to,
)
from theano.link.native.llvm.values import Lane, Place, Value, constant, integer, zero

Operand = Value | Place | Lane


class Instructions:
    """The instructions of a function so far.

    Attributes
    ----------
    lines
        The instructions of the block that is written, and of those before.
    variables
        Those that make room for variables, which stand first.
    block
        The name of the block that is written.
    is_plain
        Whether all since this was set only computes: it reads no memory, and nothing ends.
    declared
        Functions that others define, by name.
    group
        The mark of what loops access whose steps do not depend on one another.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.variables: list[str] = []
        self.block, self.ended = "entry", False
        self.is_plain = True
        self.declared: dict[str, str] = {}
        self.group = ""
        self._names = 0

    # ---- names and blocks ----

    def name(self, about: str = "") -> str:
        """Return a new name."""
        self._names += 1
        return f"{about}.{self._names}"

    def emit(self, instruction: str, kind: CType) -> Value:
        """Add an instruction that gives a value."""
        self._names += 1
        text = f"%v{self._names}"
        self.reach()
        self.lines.append(f"  {text} = {instruction}")
        return Value(kind, text)

    def do(self, instruction: str) -> None:
        """Add an instruction that gives none."""
        self.reach()
        self.is_plain = False
        self.lines.append(f"  {instruction}")

    def reach(self) -> None:
        """Begin a block where the one before has ended."""
        if self.ended:
            self.begin(self.name("unreached"))

    def begin(self, block: str) -> None:
        """Begin a block; the one before goes on with it."""
        if not self.ended:
            self.lines.append(f"  br label %{block}")
        self.lines.append(f"{block}:")
        self.block, self.ended, self.is_plain = block, False, False

    def end(self, instruction: str) -> None:
        """End the block."""
        if not self.ended:
            self.lines.append(f"  {instruction}")
        self.ended, self.is_plain = True, False

    def jump(self, block: str) -> None:
        """Go on with another block."""
        self.end(f"br label %{block}")

    def branch(self, condition: Value, yes: str, no: str) -> None:
        """Go on with one of two blocks."""
        self.end(f"br i1 {condition.text}, label %{yes}, label %{no}")

    # ---- memory ----

    def variable(self, kind: CType, name: str = "", align: int = 0) -> Place:
        """Return room for a variable."""
        place = f"%{self.name(name)}"
        aligned = align or kind.align
        self.variables.append(f"  {place} = alloca {kind.llvm}, align {aligned}")
        return Place(kind, place, True, aligned)

    def marked(self, place: Place) -> str:
        """Return the mark of an access, if it has one."""
        return f", !llvm.access.group {self.group}" if self.group and not place.local else ""

    def load(self, place: Place) -> Value:
        """Return what is in a place."""
        self.is_plain = False
        if not place.type.in_register:
            raise CannotLower(f"a value of {place.type} that is in memory")
        return self.emit(
            f"load {place.type.llvm}, ptr {place.pointer}, align {place.align}{self.marked(place)}",
            place.type,
        )

    def store(self, value: Value, place: Place) -> None:
        """Put a value into a place."""
        self.do(
            f"store {value.typed}, ptr {place.pointer}, align {place.align}{self.marked(place)}"
        )

    def copy(self, to: str, source: str, size: int, align: int = 1) -> None:
        """Copy so many bytes."""
        self.call_void(
            "llvm.memcpy.p0.p0.i64",
            "void (ptr, ptr, i64, i1)",
            f"ptr align {align} {to}, ptr align {align} {source}, i64 {size}, i1 false",
        )

    def clear(self, to: str, size: int, align: int) -> None:
        """Set so many bytes to 0."""
        self.call_void(
            "llvm.memset.p0.i64",
            "void (ptr, i8, i64, i1)",
            f"ptr align {align} {to}, i8 0, i64 {size}, i1 false",
        )

    def element(self, kind: CType, pointer: str, index: Value) -> str:
        """Return where an element is."""
        if index.constant == 0:
            return pointer
        wide = self.converted(index, LONG if index.type.signed else UNSIGNED_LONG)
        return self.emit(f"getelementptr {kind.llvm}, ptr {pointer}, {wide.typed}", kind).text

    def beyond(self, pointer: str, offset: int) -> str:
        """Return where so many bytes further on is."""
        if not offset:
            return pointer
        return self.emit(f"getelementptr i8, ptr {pointer}, i64 {offset}", INT).text

    # ---- calls ----

    def call(
        self, function: str, returns: CType, arguments: Sequence[Value], about: str = ""
    ) -> Value:
        """Call one of LLVM's own functions, or one of C's library without side effects."""
        listed = ", ".join(one.typed for one in arguments)
        if function not in self.declared:
            kinds = ", ".join(one.type.llvm for one in arguments)
            self.declared[function] = f"declare {returns.llvm} @{function}({kinds}){about}"
        return self.emit(f"call {returns.llvm} @{function}({listed})", returns)

    def call_void(self, function: str, kind: str, arguments: str) -> None:
        """Call one of LLVM's own functions that returns nothing."""
        returns, _, parameters = kind.partition(" ")
        self.declared[function] = f"declare {returns} @{function}{parameters}"
        mark = f", !llvm.access.group {self.group}" if self.group else ""
        self.do(f"call {returns} @{function}({arguments}){mark}")

    # ---- conversions ----

    def value(self, operand: Operand) -> Value:
        """Return an operand as a value: what is in memory is read."""
        if type(operand) is Value:
            return operand
        if isinstance(operand, Lane):
            vector = self.value(operand.vector)
            return self.emit(f"extractelement {vector.typed}, {operand.index.typed}", operand.type)
        assert isinstance(operand, Place)
        if operand.type.kind == "array":
            return Value(pointer_to(operand.type.element), operand.pointer)
        if operand.type.kind == "function":
            return Value(pointer_to(operand.type), operand.pointer)
        return self.load(operand)

    def assign(self, operand: Operand, value: Value) -> None:
        """Put a value of the same type where an operand is."""
        if isinstance(operand, Lane):
            assert isinstance(operand.vector, Place)
            vector = self.load(operand.vector)
            changed = self.emit(
                f"insertelement {vector.typed}, {value.typed}, {operand.index.typed}", vector.type
            )
            self.store(changed, operand.vector)
            return
        if not isinstance(operand, Place):
            raise CannotLower("an assignment to what is no place in memory")
        self.store(value, operand)

    def truth(self, operand: Operand) -> Value:
        """Return whether an operand is not 0, as one bit."""
        value = self.value(operand)
        kind = value.type
        if kind is TRUTH:
            return value
        if value.constant is not None:
            return integer(TRUTH, value.constant != 0)
        if kind.kind == "float":
            return self.emit(f"fcmp une {value.typed}, 0.0", TRUTH)
        if not kind.is_scalar:
            raise CannotLower(f"a condition of {kind}")
        return self.emit(f"icmp ne {value.typed}, {zero(kind).text}", TRUTH)

    def promoted(self, value: Value) -> Value:
        """Return a number as arithmetic takes it: small integers as int."""
        kind = value.type
        if kind.kind == "integer" and kind.size < 4:
            return self.converted(value, INT)
        return value

    def converted(self, value: Value, to: CType) -> Value:
        """Return a value in another type, as a cast converts it."""
        kind = value.type
        if kind is to:
            return value
        if to.kind == "vector":
            return self._in_vector(value, to)
        if to is BOOL:
            return self.converted(self.truth(value), BYTE_OF_TRUTH)
        if kind.is_number and to.is_number:
            return self._number(value, to)
        if kind.kind == "pointer" and to.kind == "pointer":
            return Value(to, value.text, value.constant)
        if kind.kind == "pointer" and to.kind == "integer":
            return self.emit(f"ptrtoint {value.typed} to {to.llvm}", to)
        if kind.kind == "integer" and to.kind == "pointer":
            if value.constant == 0:
                return zero(to)
            wide = self.converted(value, UNSIGNED_LONG)
            return self.emit(f"inttoptr {wide.typed} to ptr", to)
        raise CannotLower(f"a conversion of {kind} to {to}")

    def _number(self, value: Value, to: CType) -> Value:
        kind = value.type
        if value.constant is not None:
            finite = kind.kind == "integer" or value.constant - value.constant == 0
            if to.kind == "float" or finite:
                return constant(to, value.constant)
        if kind.llvm == to.llvm:
            return Value(to, value.text)
        if kind.kind == "integer" and to.kind == "integer":
            if to.size < kind.size:
                how = "trunc"
            else:
                how = "sext" if kind.signed and kind is not TRUTH else "zext"
        elif kind.kind == "integer":
            how = "sitofp" if kind.signed and kind is not TRUTH else "uitofp"
        elif to.kind == "integer":
            how = "fptosi" if to.signed else "fptoui"
        else:
            how = "fptrunc" if to.size < kind.size else "fpext"
        return self.emit(f"{how} {value.typed} to {to.llvm}", to)

    def _in_vector(self, value: Value, to: CType) -> Value:
        kind = value.type
        if kind.kind == "vector":
            if kind.size != to.size:
                raise CannotLower(f"a conversion of {kind} to {to}")
            if kind.llvm == to.llvm:
                return Value(to, value.text, value.constant)
            if value.constant == 0 and value.text == "zeroinitializer":
                return Value(to, value.text, 0)
            return self.emit(f"bitcast {value.typed} to {to.llvm}", to)
        return self.splat(self.converted(value, to.element), to)

    def splat(self, value: Value, to: CType) -> Value:
        """Return a vector of which each element is one number."""
        if value.constant is not None:
            return Value(to, f"<{', '.join([value.typed] * to.count)}>", value.constant)
        one = self.emit(f"insertelement {to.llvm} poison, {value.typed}, i64 0", to)
        mask = f"<{to.count} x i32> zeroinitializer"
        return self.emit(f"shufflevector {one.typed}, {to.llvm} poison, {mask}", to)


BYTE_OF_TRUTH = CType("integer", "i8", 1, 1, False)
# the types that arithmetic is done in, from the one that gives way
ARITHMETIC = (INT, UNSIGNED, LONG, UNSIGNED_LONG, FLOAT, DOUBLE)
