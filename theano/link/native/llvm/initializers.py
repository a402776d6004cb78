"""The beginnings of variables in C: in braces or not, in registers, in memory, or as constant tables."""

from __future__ import annotations

from theano.link.native.ir.ir import CannotLower
from theano.link.native.llvm.c_types import LONG, CType, array_of
from theano.link.native.llvm.expressions import Expressions, Operand
from theano.link.native.llvm.values import Place, Value, integer, zero


class Initializers(Expressions):
    """The beginnings of variables.

    Attributes
    ----------
    tables
        Tables that a function has, as LLVM's text.
    function
        The name of the function.
    """

    function: str
    tables: list[str]

    def compound(self, kind: CType) -> Operand:
        if kind.kind == "vector":
            return self._vector(kind)
        if kind.in_register:
            self.expect("{")
            value = self.converted(self.value(self.assignment()), kind)
            self.accept(",")
            self.expect("}")
            return value
        place = self.variable(self.completed(kind), "literal")
        self.fill(place, place.type)
        return place

    def completed(self, kind: CType) -> CType:
        """Return an array's type with the length that the braces say."""
        if kind.kind == "array" and kind.count < 0:
            start = self.at
            count = self._numbers_in_braces()
            self.at = start
            return array_of(kind.element, count)
        return kind

    def _vector(self, kind: CType) -> Value:
        """Return a vector of the numbers in braces; what is left out is 0."""
        self.expect("{")
        given: list[Value] = []
        while not self.accept("}"):
            given.append(self.converted(self.value(self.assignment()), kind.element))
            self.accept(",")
        if all(one.constant is not None for one in given):
            none = zero(kind.element)
            if all(one.text == none.text for one in given):
                return zero(kind)
            listed = [*given, *[none] * (kind.count - len(given))]
            return Value(kind, f"<{', '.join(one.typed for one in listed)}>")
        vector = zero(kind)
        for k, one in enumerate(given):
            vector = self.emit(
                f"insertelement {vector.typed}, {one.typed}, {integer(LONG, k).typed}", kind
            )
        return vector

    def fill(self, place: Place, kind: CType) -> None:
        """Put what stands in braces into memory; what is left out is 0."""
        if self.token != "{":
            value = self.assignment()
            if kind.kind == "structure":
                self.assigned(place, value)
            else:
                self.store(self.converted(self.value(value), kind), place)
            return
        if kind.in_register:
            self.store(self.converted(self.value(self.compound(kind)), kind), place)
            return
        if self._numbers_in_braces_at() < _length(kind) or self._is_nothing():
            self.clear(place.pointer, kind.size, place.align)
        self.expect("{")
        k = 0
        while not self.accept("}"):
            element, offset = self._member(kind, k)
            inner = Place(element, self.beyond(place.pointer, offset), True)
            if self.token == "0" and self.tokens[self.at + 1] == "}" and not element.in_register:
                self.at += 1
            else:
                self.fill(inner, element)
            k += 1
            self.accept(",")

    def _numbers_in_braces_at(self) -> int:
        start = self.at
        count = self._numbers_in_braces()
        self.at = start
        return count

    def _is_nothing(self) -> bool:
        return self.tokens[self.at + 1 : self.at + 3] in (["0", "}"], ["}"])

    def _member(self, kind: CType, k: int) -> tuple[CType, int]:
        """Return the type of a member, and where it begins."""
        if kind.kind == "structure":
            name = self.token
            if name == ".":
                raise CannotLower("a field that is named where it begins")
            return list(kind.fields.values())[k]
        return kind.element, k * kind.element.size

    # ---- tables ----

    def table(self, kind: CType, name: str, align: int) -> Place:
        """Return a constant table, whose numbers come next."""
        kind = self.completed(kind)
        text = self._constant(kind)
        place = f"@{self.function}.{name}.{len(self.tables)}"
        qualifier = "constant" if self.is_constant else "global"
        self.tables.append(f"{place} = internal {qualifier} {text}, align {align or kind.align}")
        return Place(kind, place)

    is_constant = True

    def _constant(self, kind: CType) -> str:
        """Return a constant with its type, in LLVM's text."""
        if self.token != "{":
            value = self.converted(self.value(self.assignment()), kind)
            if value.constant is None and not value.text.startswith("@"):
                raise CannotLower("a table of what is no constant")
            return value.typed
        if kind.kind == "vector":
            return self._vector(kind).typed
        self.expect("{")
        members: list[str] = []
        while not self.accept("}"):
            element, _ = self._member(kind, len(members))
            members.append(self._constant(element))
            self.accept(",")
        for k in range(len(members), _length(kind)):
            element, _ = self._member(kind, k)
            members.append(f"{element.llvm} zeroinitializer")
        opening, closing = ("[", "]") if kind.kind == "array" else ("{", "}")
        return f"{kind.llvm} {opening}{', '.join(members)}{closing}"


def _length(kind: CType) -> int:
    return len(kind.fields) if kind.kind == "structure" else kind.count
