"""C's preprocessor: comments, conditions and macros; what is left are tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from theano.link.native.ir.ir import CannotLower
from theano.support.data_classes import dataclass

_TOKEN = re.compile(
    r"[A-Za-z_]\w*"
    r"|\.?\d(?:[eEpP][+-]|[\w.])*"
    r'|"(?:\\.|[^"\\])*"'
    r"|'(?:\\.|[^'\\])+'"
    r"|\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|##|\S"
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(.*)")
_DEFINITION = re.compile(r"(\w+)(\(([^)]*)\))?\s*(.*)", re.DOTALL)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a text without comments."""
    return _TOKEN.findall(text)


@dataclass(frozen=True)
class Macro:
    """A macro: what it is replaced by, and its parameters, if it is one with parentheses."""

    name: str
    parameters: tuple[str, ...] | None
    variadic: bool
    body: tuple[str, ...]


class _End:
    """The end of a macro's replacement, in which the macro itself is no macro."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name


class Preprocessor:
    """A text's macros so far.

    Parameters
    ----------
    macros
        Those that are defined before; they are not changed.
    builtins
        What ``__has_builtin`` knows.
    """

    def __init__(self, macros: dict[str, Macro], builtins: Callable[[str], bool]):
        self.macros = dict(macros)
        self._has_builtin = builtins

    def define(self, name: str, body: str = "1") -> None:
        """Define a macro without parameters."""
        self.macros[name] = Macro(name, None, False, tuple(tokens_of(body)))

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text, with macros replaced."""
        text = _COMMENT.sub(lambda found: " " + "\n" * found[0].count("\n"), text)
        lines = text.replace("\\\n", " ").split("\n")
        result: list[str] = []
        waiting: list[str] = []
        # of each condition around: whether lines count, and whether a branch has been taken
        conditions: list[tuple[bool, bool]] = []
        for line in lines:
            found = _DIRECTIVE.match(line) if "#" in line else None
            if found is None:
                if not conditions or conditions[-1][0]:
                    waiting.append(line)
                continue
            if waiting:
                result += self.expanded(tokens_of("\n".join(waiting)))
                waiting = []
            self._directive(found[1], found[2], conditions)
        if waiting:
            result += self.expanded(tokens_of("\n".join(waiting)))
        return result

    def _directive(self, name: str, rest: str, conditions: list[tuple[bool, bool]]) -> None:
        active = not conditions or conditions[-1][0]
        if name in ("if", "ifdef", "ifndef"):
            holds = active and self._holds(name, rest)
            # within lines that do not count no branch does
            conditions.append((holds, holds or not active))
        elif name in ("elif", "else"):
            _, taken = conditions.pop()
            holds = not taken and (name == "else" or self._holds("if", rest))
            conditions.append((holds, taken or holds))
        elif name == "endif":
            conditions.pop()
        elif active and name == "define":
            self._define(rest)
        elif active and name == "undef":
            self.macros.pop(rest.strip(), None)

    def _define(self, rest: str) -> None:
        found = _DEFINITION.match(rest)
        assert found is not None
        parameters = None
        if found[2]:
            parameters = tuple(one.strip() for one in found[3].split(",") if one.strip())
        variadic = bool(parameters) and parameters[-1] == "..."  # type: ignore[index]
        if variadic:
            assert parameters is not None
            parameters = (*parameters[:-1], "__VA_ARGS__")
        self.macros[found[1]] = Macro(found[1], parameters, variadic, tuple(tokens_of(found[4])))

    def _holds(self, kind: str, condition: str) -> bool:
        if kind != "if":
            return (condition.split(maxsplit=1)[0] in self.macros) == (kind == "ifdef")
        known = re.sub(
            r"defined\s*\(?\s*(\w+)\s*\)?",
            lambda found: str(int(found[1] in self.macros)),
            condition,
        )
        known = re.sub(
            r"__has_builtin\s*\(\s*(\w+)\s*\)",
            lambda found: str(int(self._has_builtin(found[1]))),
            known,
        )
        words = self.expanded(tokens_of(known))
        return bool(_evaluated(words))

    # ---- macros ----

    def expanded(self, tokens: Sequence[str], active: Iterable[str] = ()) -> list[str]:
        """Return tokens with macros replaced, but those that are being replaced already."""
        macros = self.macros
        if macros.keys().isdisjoint(tokens):
            return list(tokens)
        result: list[str] = []
        stack: list[Any] = list(reversed(tokens))
        within = set(active)
        while stack:
            token = stack.pop()
            if type(token) is _End:
                within.discard(token.name)
                continue
            macro = macros.get(token)
            if macro is None or token in within:
                result.append(token)
                continue
            if macro.parameters is None:
                body: Sequence[str] = macro.body
                if "##" in body:
                    body = _pasted(body)
            else:
                arguments = _arguments(stack, macro, within)
                if arguments is None:
                    result.append(token)
                    continue
                body = self._replaced(macro, arguments, within)
            within.add(token)
            stack.append(_End(token))
            stack.extend(reversed(body))
        return result

    def _replaced(
        self, macro: Macro, arguments: list[list[str]], active: set[str]
    ) -> Sequence[str]:
        """Return a macro's body with arguments in place of its parameters."""
        assert macro.parameters is not None
        given = dict(zip(macro.parameters, arguments, strict=True))
        whole: dict[str, list[str]] = {}
        body, result = macro.body, []
        for k, token in enumerate(body):
            if token not in given:
                result.append(token)
                continue
            if "##" in (body[k - 1] if k else "", body[k + 1] if k + 1 < len(body) else ""):
                # an empty one leaves a place next to which nothing is pasted
                result += given[token] or [""]
                continue
            if token not in whole:
                whole[token] = self.expanded(given[token], active)
            result += whole[token]
        return _pasted(result) if "##" in body else result


def _arguments(stack: list[Any], macro: Macro, active: set[str]) -> list[list[str]] | None:
    """Take a macro's arguments from what comes next; None where there are none."""
    while stack and type(stack[-1]) is _End:
        active.discard(stack.pop().name)
    if not stack or stack[-1] != "(":
        return None
    stack.pop()
    assert macro.parameters is not None
    count = len(macro.parameters)
    found: list[list[str]] = [[]]
    depth = 0
    while True:
        token = stack.pop()
        if type(token) is _End:
            active.discard(token.name)
            continue
        if token == ")" and depth == 0:
            break
        depth += (token in "([{") - (token in ")]}") if len(token) == 1 else 0
        last_of_many = macro.variadic and len(found) == count
        if token == "," and depth == 0 and not last_of_many:
            found.append([])
        else:
            found[-1].append(token)
    if not count:
        return []
    found += [[] for _ in range(count - len(found))]
    return found


def _pasted(tokens: Sequence[str]) -> list[str]:
    result: list[str] = []
    paste = False
    for token in tokens:
        if token == "##":
            paste = True
        elif paste and result:
            result[-1] += token
            paste = False
        else:
            result.append(token)
            paste = False
    return [token for token in result if token]


_IN_PYTHON = {"&&": " and ", "||": " or ", "!": " not ", "/": "//"}


def _evaluated(tokens: Sequence[str]) -> Any:
    """Return the value of a condition; names that are no macros are 0."""
    words = []
    for token in tokens:
        if _IDENTIFIER.fullmatch(token):
            words.append("0")
        elif token[0].isdigit():
            words.append(token.rstrip("uUlL"))
        else:
            words.append(_IN_PYTHON.get(token, token))
    text = "".join(words)
    if not re.fullmatch(r"[\d\s()<>=!+*/%a-z-]*", text):
        raise CannotLower(f"the condition {text!r} of a preprocessor")
    return eval(text, {"__builtins__": {}})
