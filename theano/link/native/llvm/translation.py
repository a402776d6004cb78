"""A text of C as a module of LLVM: its functions, each with those that it calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from theano.link.native.ir.ir import CannotLower
from theano.link.native.llvm.c_types import TRUTH, VOID, CType
from theano.link.native.llvm.declarations import Meaning, Typedef
from theano.link.native.llvm.statements import Statements
from theano.link.native.llvm.values import Place, Value
from theano.support.data_classes import dataclass

_ASSIGNS = frozenset("= += -= *= /= %= &= |= ^= <<= >>= ++ --".split())
_MOVES = ("++", "--", "&")
# of C's attributes, those that LLVM has
_ATTRIBUTES = {
    "noinline": "noinline",
    "always_inline": "alwaysinline",
    "cold": "cold",
    "optnone": "optnone",
}
# shorter ones that C declares inline are inlined
LINES_OF_A_SMALL_FUNCTION = 40
_METADATA = re.compile(r"!@(\d+)")


@dataclass(frozen=True)
class Written:
    """A definition at the outermost level of a text, as LLVM's text.

    Attributes
    ----------
    declared
        Functions that others define, by name.
    needs
        What else of the text it refers to.
    metadata
        What marks its loops.
    """

    text: str
    declared: Mapping[str, str]
    needs: frozenset[str]
    metadata: tuple[str, ...] = ()


class Definitions:
    """The definitions of a text of C, found by name; nothing is translated before it is needed.

    Parameters
    ----------
    tokens
        By name, the tokens of the declaration or definition: a list, or lines of a text.
    before
        What is defined before it.
    """

    def __init__(self, tokens: Mapping[str, Any], before: Definitions | None = None):
        self._before = before
        self._tokens = tokens
        self._meanings: dict[str, Meaning] = {}
        self._written: dict[str, Written] = {}

    def _tokens_of(self, name: str) -> list[str] | None:
        tokens = self._tokens.get(name)
        return tokens.split("\n") if isinstance(tokens, str) else tokens

    def exported(self) -> list[str]:
        """Return the names of functions and variables that others may call."""
        return [name for name, tokens in self._tokens.items() if _is_exported(tokens)]

    def meaning(self, name: str) -> Meaning | None:
        """Return what a name means."""
        found = self._meanings.get(name)
        if found is not None:
            return found
        tokens = self._tokens_of(name)
        if tokens is None:
            return None if self._before is None else self._before.meaning(name)
        Outermost(self, tokens).define()
        return self._meanings.get(name)

    def define(self, meanings: Mapping[str, Meaning]) -> None:
        """Know what names mean."""
        self._meanings.update(meanings)

    def written(self, name: str) -> Written:
        """Return a function or a table as LLVM's text."""
        if name not in self._written:
            tokens = self._tokens_of(name)
            if tokens is None and self._before is not None:
                return self._before.written(name)
            if tokens is None:
                raise CannotLower(f"C's function {name}")
            self._written[name] = Outermost(self, tokens).written(name)
        return self._written[name]


class Outermost(Statements):
    """A declaration or definition at the outermost level of a text."""

    def __init__(self, definitions: Definitions, tokens: list[str]):
        super().__init__([*tokens, ""])
        self.definitions = definitions
        self.needs: set[str] = set()
        self.tables: list[str] = []
        self.function, self.returns = "", VOID
        self.changed: set[str] = set()
        self.has_labels = False

    def outer(self, name: str) -> Meaning | None:
        found = self.definitions.meaning(name)
        if isinstance(found, Place):
            self.needs.add(name)
        return found

    def declare_function(self, name: str, kind: CType) -> None:
        self.scopes[-1][name] = Place(kind, f"@{name}")

    def define(self) -> None:
        """Say what the names that are declared mean."""
        if self.tokens[-2] == "}":
            _, name, kind = self._signature()
            self.definitions.define({name: Place(kind, f"@{name}")})
            return
        given = self.specifiers()
        while not self.accept(";"):
            found = dict(given.words)
            name, kind = self.declarator(given.kind or VOID)
            kind = self.attributed(kind, found)
            if self.accept("="):
                kind = self.completed(kind)
                while self.token not in (",", ";"):
                    if self.token in ("{", "("):
                        self.skip_group()
                    else:
                        self.at += 1
            typedef = "typedef" in given.words
            self.scopes[-1][name] = Typedef(kind) if typedef else Place(kind, f"@{name}")
            self.accept(",")
        self.definitions.define(self.scopes[-1])

    def _signature(self) -> tuple[dict, str, CType]:
        given = self.specifiers()
        name, kind = self.declarator(given.kind or VOID)
        words = dict(given.words)
        self.attributes(words)
        return words, name, kind

    def written(self, name: str) -> Written:
        """Return what is defined, as LLVM's text."""
        text = self._function() if self.tokens[-2] == "}" else self._outside(name)
        return Written(
            "\n".join([*self.tables, text]),
            self.declared,
            frozenset(self.needs - {name}),
            tuple(self.metadata),
        )

    def _outside(self, wanted: str) -> str:
        """Return a variable, or what declares what others define."""
        given = self.specifiers()
        lines = []
        while not self.accept(";"):
            name, kind = self.declarator(given.kind or VOID)
            found = dict(given.words)
            kind = self.attributed(kind, found)
            if kind.kind == "function":
                parameters = ", ".join(one.llvm for one in kind.parameters)
                self.declared[name] = f"declare {kind.element.llvm} @{name}({parameters})"
            else:
                lines.append(self._variable_outside(name, kind, found))
            self.accept(",")
        return "\n".join(lines)

    def _variable_outside(self, name: str, kind: CType, words: dict) -> str:
        linkage = "internal " if "static" in words else ""
        qualifier = "constant" if "const" in words else "global"
        text = f"{kind.llvm} zeroinitializer"
        if self.accept("="):
            kind = self.completed(kind)
            text = self._constant(kind)
        return f"@{name} = {linkage}{qualifier} {text}, align {words.get('aligned', kind.align)}"

    def _function(self) -> str:
        words, name, kind = self._signature()
        self.function, self.returns = name, kind.element
        body = self.tokens[self.at :]
        self.changed = _changed(body)
        self.has_labels = "goto" in body
        parameters = self._parameters_begin(kind)
        self.expect("{")
        self.block_of_statements()
        if not self.ended:
            # what ends without a result has none
            none = "ret void" if self.returns is VOID else "unreachable"
            self.end(none)
        linkage = "internal " if "static" in words else ""
        attributes = [text for word, text in _ATTRIBUTES.items() if word in words]
        if "inline" in words and len(self.lines) < LINES_OF_A_SMALL_FUNCTION:
            attributes = attributes or ["alwaysinline"]
        if "optnone" in attributes and "noinline" not in attributes:
            attributes.append("noinline")
        return "\n".join(
            [
                f"define {linkage}{_widened(kind.element)}{kind.element.llvm} @{name}({parameters}) "
                f"nounwind {' '.join(attributes)} {{",
                "entry:",
                *self.variables,
                *self.lines,
                "}",
            ]
        )

    def _parameters_begin(self, kind: CType) -> str:
        """Return the parameters; those that change are variables."""
        listed = []
        scope = self.scopes[-1]
        for k, (name, each) in enumerate(zip(self.parameter_names, kind.parameters, strict=True)):
            listed.append(f"{each.llvm} {_widened(each)}%p{k}")
            given = Value(each, f"%p{k}")
            if name in self.changed or self.has_labels:
                place = self.variable(each, name)
                self.store(given, place)
                scope[name] = place
            else:
                scope[name] = given
        return ", ".join(listed)


def _widened(kind: CType) -> str:
    if kind.kind == "integer" and kind.size < 4 and kind is not TRUTH:
        return "signext " if kind.signed else "zeroext "
    return ""


def _changed(tokens: Sequence[str]) -> set[str]:
    """Return the names that may get a value, or whose address may be taken."""
    found: set[str] = set()
    last = len(tokens) - 1
    for k, token in enumerate(tokens):
        if token in _ASSIGNS:
            before = k - 1
            while tokens[before] == "]":
                before = _opening(tokens, before) - 1
            first = _opening(tokens, before) if tokens[before] == ")" else before
            found.update(tokens[first : before + 1])
        if token in _MOVES and k < last:
            found.add(tokens[k + 1])
    return found


def _opening(tokens: Sequence[str], closing: int) -> int:
    """Return where what ends at a position begins."""
    depth = 0
    for k in range(closing, -1, -1):
        depth += (tokens[k] in ")]") - (tokens[k] in "([") if len(tokens[k]) == 1 else 0
        if not depth:
            return k
    return 0


# ---- the outermost level ----


def definitions_in(tokens: Sequence[str]) -> dict[str, list[str]]:
    """Return the declarations and definitions of a text by what they declare; what is defined counts."""
    found: dict[str, list[str]] = {}
    for declaration in _declarations(tokens):
        for name in _names_of(declaration):
            if name not in found or declaration[-1] == "}" or "extern" in found[name][:2]:
                found[name] = declaration
    return found


def _is_exported(tokens: Sequence[str]) -> bool:
    """Return whether what is defined is seen outside of its text."""
    if tokens[0] in ("typedef", "struct", "enum", "extern", "static"):
        return False
    opening = tokens.index("(") if "(" in tokens else len(tokens)
    is_function = tokens[-1] == "}"
    return "static" not in tokens[:opening] and (is_function or opening == len(tokens))


def _declarations(tokens: Sequence[str]) -> Iterator[list[str]]:
    """Yield the declarations and definitions of a text."""
    start = depth = 0
    for k, token in enumerate(tokens):
        if token in "{([":
            depth += len(token)
        elif token in "})]" and token:
            depth -= 1
            if token == "}" and not depth and _is_function(tokens, start, k):
                yield list(tokens[start : k + 1])
                start = k + 1
        elif token == ";" and not depth:
            if k > start:
                yield list(tokens[start : k + 1])
            start = k + 1


def _is_function(tokens: Sequence[str], start: int, end: int) -> bool:
    if tokens[start] in ("typedef", "struct", "enum"):
        return False
    opening = tokens.index("{", start, end)
    return tokens[opening - 1] == ")" and "=" not in tokens[start:opening]


def _names_of(declaration: Sequence[str]) -> list[str]:
    """Return the names that a declaration declares."""
    tokens = list(_without_attributes(declaration))
    names: list[str] = []
    if tokens[0] == "enum" or tokens[:2] == ["typedef", "enum"]:
        start, end = tokens.index("{"), tokens.index("}")
        inside = tokens[start : end + 1]
        names += [one for one, before in zip(inside[1:], inside, strict=False) if before in "{,"]
        tokens = [*tokens[:start], *tokens[end + 1 :]]
    if "struct" in tokens[:2] and "{" in tokens:
        start = tokens.index("{")
        end = len(tokens) - 1 - tokens[::-1].index("}")
        if tokens[start - 1] != "struct":
            names.append(f"struct {tokens[start - 1]}")
        tokens = ["struct", *tokens[end + 1 :]]
    if tokens[0] == "typedef" or tokens[0] == "struct":
        ends = [k for k, token in enumerate(tokens) if token in (";", "[", ",")]
        pointed = [k for k in range(len(tokens) - 2) if tokens[k : k + 2] == ["(", "*"]]
        name = tokens[pointed[0] + 2] if pointed else tokens[ends[0] - 1]
        return [*names, name] if name != "struct" else names
    if tokens[0] == "enum":
        return names
    for k, token in enumerate(tokens):
        if token == "(" and tokens[k - 1].isidentifier():
            return [tokens[k - 1]]
        if token in ("=", "[", ";"):
            return [tokens[k - 1]]
    return names


def _without_attributes(tokens: Sequence[str]) -> Iterator[str]:
    k = 0
    while k < len(tokens):
        if tokens[k] != "__attribute__":
            yield tokens[k]
            k += 1
            continue
        depth = 0
        while True:
            k += 1
            depth += (tokens[k] == "(") - (tokens[k] == ")")
            if not depth:
                break
        k += 1


@dataclass(frozen=True)
class Module:
    """A module of LLVM.

    Attributes
    ----------
    exported
        The functions and variables that others may ask for.
    called
        The functions that others define which it calls.
    has_loops_to_vectorize
        Whether it has loops whose steps do not depend on one another, one number at a time.
    """

    text: str
    exported: tuple[str, ...]
    called: tuple[str, ...]
    has_loops_to_vectorize: bool


def module(definitions: Definitions, names: Iterable[str]) -> Module:
    """Return a module of LLVM with some functions, and all that they need."""
    exported = tuple(names)
    waiting, done = list(exported), set()
    texts: list[str] = []
    declared: dict[str, str] = {}
    metadata: list[str] = []
    while waiting:
        name = waiting.pop()
        if name in done:
            continue
        done.add(name)
        written = definitions.written(name)
        declared.update(written.declared)
        waiting += sorted(written.needs)
        text, first = written.text, len(metadata)
        if written.metadata:
            text = _numbered(text, first)
            metadata += [_numbered(one, first) for one in written.metadata]
        texts.append(text)
    marks = [f"!{k} = {text}" for k, text in enumerate(metadata)]
    called = tuple(name for name in declared if not name.startswith("llvm."))
    vectorize = any("parallel_accesses" in text for text in metadata)
    return Module("\n".join([*texts, *declared.values(), *marks, ""]), exported, called, vectorize)


def _numbered(text: str, first: int) -> str:
    return _METADATA.sub(lambda found: f"!{first + int(found[1])}", text)
