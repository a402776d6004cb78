"""C declarations: specifiers, declarators and attributes."""

from __future__ import annotations

from typing import Any

from theano.link.native.ir.ir import CannotLower
from theano.link.native.llvm.c_types import (
    BOOL,
    BYTE,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    SHORT,
    TRUTH,
    UNSIGNED,
    UNSIGNED_LONG,
    UNSIGNED_SHORT,
    VOID,
    CType,
    array_of,
    function_type,
    pointer_to,
    structure_of,
    vector_of,
)
from theano.link.native.llvm.operators import Operators
from theano.link.native.llvm.values import Lane, Place, Value, integer
from theano.support.data_classes import dataclass

_QUALIFIERS = frozenset("const volatile restrict __restrict __restrict__ __extension__".split())
_STORAGE = frozenset("static extern typedef inline register __inline".split())
_WORDS = frozenset("void char short int long signed unsigned float double _Bool".split())
_OTHERS = frozenset("struct enum union __typeof__ typeof __auto_type".split())
_BEGINS_TYPE = _QUALIFIERS | _STORAGE | _WORDS | _OTHERS | {"__attribute__"}
_OF_WORDS: dict[tuple[str, ...], CType] = {
    tuple(sorted(words.split())): kind
    for kind, spellings in {
        VOID: "void",
        CHAR: "char|signed char",
        BYTE: "unsigned char",
        SHORT: "short|short int|signed short",
        UNSIGNED_SHORT: "unsigned short|unsigned short int",
        INT: "int|signed|signed int",
        UNSIGNED: "unsigned|unsigned int",
        LONG: "long|long int|long long|long long int|signed long|signed long long",
        UNSIGNED_LONG: "unsigned long|unsigned long long|unsigned long int|unsigned long long int",
        FLOAT: "float",
        DOUBLE: "double",
        BOOL: "_Bool",
    }.items()
    for words in spellings.split("|")
}


@dataclass(frozen=True)
class Specifiers:
    """The specifiers of a declaration, which stand before its declarators.

    Attributes
    ----------
    kind
        The type; none for ``__auto_type``.
    words
        Storage and attributes.
    """

    kind: CType | None
    words: dict[str, Any]


class Typedef:
    """A name of a type."""

    __slots__ = ("type",)

    def __init__(self, type: CType):
        self.type = type


Meaning = Value | Place | Lane | Typedef


class Declarations(Operators):
    """A text of tokens, and what its names mean.

    Attributes
    ----------
    tokens, at
        The text, and the next token.
    scopes
        What names mean, from the outermost block to the innermost.
    """

    def __init__(self, tokens: list[str]):
        super().__init__()
        self.tokens, self.at = tokens, 0
        self.scopes: list[dict[str, Meaning]] = [{}]
        # the names of a function's parameters, by its type's object
        self.parameter_names: list[str] = []

    # ---- tokens ----

    @property
    def token(self) -> str:
        """Return the next token."""
        return self.tokens[self.at]

    def take(self) -> str:
        """Return the next token, and go on."""
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, token: str) -> bool:
        """Go on if this is the next token; return whether it is."""
        if self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        """Go on; the next token is this one."""
        if self.tokens[self.at] != token:
            near = " ".join(self.tokens[max(0, self.at - 8) : self.at + 8])
            raise CannotLower(f"C that LLVM's renderer does not know: {token} near {near}")
        self.at += 1

    def skip_group(self) -> None:
        """Go past what stands in parentheses, which begin here."""
        depth = 0
        while True:
            token = self.take()
            depth += (token in "([{") - (token in ")]}") if len(token) == 1 else 0
            if not depth:
                return

    # ---- names ----

    def meaning(self, name: str) -> Meaning | None:
        """Return what a name means."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return self.outer(name)

    def outer(self, name: str) -> Meaning | None:
        """Return what a name means outside of the function."""
        raise NotImplementedError

    def expression(self) -> Value | Place | Lane:
        """Return the expression that comes next."""
        raise NotImplementedError

    def assignment(self) -> Value | Place | Lane:
        """Return the expression that comes next, up to a comma."""
        raise NotImplementedError

    def begins_type(self) -> bool:
        """Return whether a type comes next."""
        token = self.tokens[self.at]
        if token in _BEGINS_TYPE:
            return True
        return (token[0].isalpha() or token[0] == "_") and isinstance(self.meaning(token), Typedef)

    def known_integer(self) -> int:
        """Return the constant that comes next."""
        value = self.value(self.assignment())
        if not isinstance(value.constant, int):
            raise CannotLower("a size that is no constant")
        return value.constant

    # ---- specifiers ----

    def specifiers(self) -> Specifiers:
        """Return what a declaration begins with."""
        words: list[str] = []
        kind: CType | None = None
        found: dict[str, Any] = {}
        while True:
            token = self.tokens[self.at]
            if token in _QUALIFIERS:
                found.setdefault(token, True)
                self.at += 1
            elif token in _STORAGE:
                found[token] = True
                self.at += 1
            elif token == "__attribute__":
                self.attributes(found)
            elif token in _WORDS:
                words.append(token)
                self.at += 1
            elif kind is not None or words or "auto" in found:
                break
            elif token == "__auto_type":
                self.at += 1
                found["auto"] = True
            elif token in _OTHERS:
                kind = self._other_type(self.take(), found)
            elif isinstance(meaning := self.meaning(token), Typedef):
                kind = meaning.type
                self.at += 1
            else:
                break
        if words:
            kind = _OF_WORDS[tuple(sorted(words))]
        return Specifiers(kind, found)

    def _other_type(self, word: str, found: dict[str, Any]) -> CType:
        if word in ("__typeof__", "typeof"):
            self.expect("(")
            kind = self.type_name() if self.begins_type() else self.type_of_expression()
            self.expect(")")
            return kind
        self.attributes(found)
        tag = self.take() if self.token not in ("{", "(") else ""
        self.attributes(found)
        if word == "enum":
            return self._enumeration()
        if word != "struct":
            raise CannotLower(f"a {word} of C")
        if self.token == "{":
            structure = self._structure()
            if tag:
                self.scopes[-1][f"struct {tag}"] = Typedef(structure)
            return structure
        known = self.meaning(f"struct {tag}")
        return known.type if isinstance(known, Typedef) else VOID

    def _enumeration(self) -> CType:
        self.expect("{")
        number = 0
        while not self.accept("}"):
            name = self.take()
            if self.accept("="):
                number = self.known_integer()
            self.scopes[-1][name] = integer(INT, number)
            number += 1
            self.accept(",")
        return INT

    def _structure(self) -> CType:
        self.expect("{")
        fields: list[tuple[str, CType, int]] = []
        while not self.accept("}"):
            given = self.specifiers()
            assert given.kind is not None
            while True:
                found = dict(given.words)
                name, kind = self.declarator(given.kind)
                kind = self.attributed(kind, found)
                fields.append((name, kind, found.get("aligned", kind.align)))
                if not self.accept(","):
                    break
            self.expect(";")
        return structure_of(fields)

    def attributes(self, found: dict[str, Any]) -> None:
        """Read attributes, if any come next."""
        while self.accept("__attribute__"):
            self.expect("(")
            self.expect("(")
            while not self.accept(")"):
                name = self.take().strip("_")
                if self.token == "(" and name in ("vector_size", "aligned"):
                    self.at += 1
                    found[name] = self.known_integer()
                    self.expect(")")
                elif self.token == "(":
                    self.skip_group()
                    found[name] = True
                elif name != ",":
                    found[name] = True
            self.expect(")")

    def attributed(self, kind: CType, found: dict[str, Any]) -> CType:
        """Return a type with the attributes that follow a declarator."""
        self.attributes(found)
        if "vector_size" in found:
            return vector_of(kind, found["vector_size"] // kind.size, found.get("aligned", 0))
        return kind

    # ---- declarators ----

    def type_name(self) -> CType:
        """Return a type that stands for itself, as in a cast."""
        given = self.specifiers()
        assert given.kind is not None
        _, kind = self.declarator(given.kind)
        return kind

    def declarator(self, kind: CType) -> tuple[str, CType]:
        """Return the name that is declared, if there is one, and its type."""
        while True:
            if self.accept("*"):
                kind = pointer_to(kind)
            elif self.token in _QUALIFIERS:
                self.at += 1
            elif self.token == "__attribute__":
                self.attributes({})
            else:
                break
        if self.token == "(" and self.tokens[self.at + 1] in ("*", "("):
            inner = self.at
            self.skip_group()
            kind = self._suffixes(kind)
            after = self.at
            self.at = inner + 1
            name, kind = self.declarator(kind)
            self.at = after
            return name, kind
        name = ""
        if self.token[0].isalpha() or self.token[0] == "_":
            name = self.take()
        return name, self._suffixes(kind)

    def _suffixes(self, kind: CType) -> CType:
        if self.accept("["):
            count = -1 if self.token == "]" else self.known_integer()
            self.expect("]")
            return array_of(self._suffixes(kind), count)
        if self.accept("("):
            return function_type(kind, tuple(self._parameters()))
        return kind

    def _parameters(self) -> list[CType]:
        kinds: list[CType] = []
        names: list[str] = []
        while not self.accept(")"):
            given = self.specifiers()
            assert given.kind is not None
            name, kind = self.declarator(given.kind)
            kind = self.attributed(kind, {})
            if kind.kind == "array":
                kind = pointer_to(kind.element)
            elif kind.kind == "function":
                kind = pointer_to(kind)
            if kind is not VOID:
                kinds.append(kind)
                names.append(name)
            self.accept(",")
        self.parameter_names = names
        return kinds

    def type_of_expression(self) -> CType:
        """Return the type of an expression that is not computed."""
        kept = self.lines, self.variables, self.block, self.ended, self.is_plain, self.declared
        self.lines, self.variables, self.ended = [], [], False
        self.declared = dict(self.declared)
        try:
            operand = self.expression()
        finally:
            self.lines, self.variables, self.block, self.ended, self.is_plain, self.declared = kept
        return INT if operand.type is TRUTH else operand.type
