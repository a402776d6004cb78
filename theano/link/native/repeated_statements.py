"""Statements that repeat in a segment, with other operands, become calls of one C function.

A long program, such as a loop that was unrolled or the updates of many parameters, repeats a few
statements many times; a C compiler takes more than twice as long for twice the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from theano.link.native.ir import Combine, Copy, Map, Reduce, Statement, View
from theano.link.native.scalar_types import C_TYPES
from theano.link.native.segment import Segment

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_COMMENT = re.compile(r"/\*.*?\*/")
# names of results within a map, which count on through the step
_RESULT = re.compile(r"\be\d+\b")


@dataclass(frozen=True)
class _Pattern:
    """A statement whose operands are parameters, and what the operands are here."""

    types: tuple[str, ...]
    text: tuple[str, ...]
    operands: tuple[str, ...]

    @property
    def key(self) -> tuple:
        return (self.types, self.text)


@dataclass
class Repeated:
    """The functions of a program, by what they do."""

    prefix: str
    functions: dict[tuple, str] = field(default_factory=dict)

    def replace(self, segment: Segment, emitted: list[tuple[Statement, list[str]]]) -> list[str]:
        """The lines of the statements, with calls for those that repeat."""
        types = _types_of_names(segment)
        patterns = [
            _pattern(lines, types) if _may_be_apart(statement) else None
            for statement, lines in emitted
        ]
        counts: dict[tuple, int] = {}
        for pattern in patterns:
            if pattern is not None:
                counts[pattern.key] = counts.get(pattern.key, 0) + 1
        result: list[str] = []
        for (_, lines), pattern in zip(emitted, patterns, strict=True):
            if pattern is None or counts[pattern.key] < 2:
                result += lines
                continue
            name = self.functions.setdefault(pattern.key, f"{self.prefix}{len(self.functions)}")
            comment = [line for line in lines[:1] if line.startswith("/*")]
            result += [*comment, f"{name}({', '.join(pattern.operands)});"]
        return result

    def definitions(self) -> list[list[str]]:
        """The lines of each function."""
        return [
            [
                f"static __attribute__((noinline)) void {name}("
                + ", ".join(f"{kind}a{k}" for k, kind in enumerate(types))
                + ")",
                "{",
                *text,
                "}",
            ]
            for (types, text), name in self.functions.items()
        ]


def _may_be_apart(statement: Statement) -> bool:
    """Whether a statement neither defines a number nor leaves the function."""
    if isinstance(statement, Reduce):
        return isinstance(statement.target, View)
    return isinstance(statement, Map | Copy | Combine)


def _types_of_names(segment: Segment) -> dict[str, str]:
    """The C types of what statements may name, as parameters are declared."""
    step = segment.step
    types = {name: "int64_t " for name in step.sizes.names}
    types |= {name: f"{kind} " for name, kind in step.sizes.number_types.items()}
    types |= {name: f"{C_TYPES[dtype]} " for name, dtype in step.number_types.items()}
    for buffer in step.temporaries:
        types[buffer.name] = f"{C_TYPES[buffer.dtype]} *"
    for argument, _ in segment.inputs:
        types[argument.name] = f"{C_TYPES[argument.dtype]} *"
        for d in range(len(argument.shape)):
            types[f"{argument.name}_s{d}"] = "int64_t "
    for output in segment.outputs:
        types[output.argument.name] = f"{C_TYPES[output.argument.dtype]} *"
    return types


def _pattern(lines: list[str], types: dict[str, str]) -> _Pattern:
    operands: dict[str, str] = {}
    results: dict[str, str] = {}

    def parameter(found: re.Match) -> str:
        name = found[0]
        if name not in types:
            return name
        return operands.setdefault(name, f"a{len(operands)}")

    def result(found: re.Match) -> str:
        return results.setdefault(found[0], f"e{len(results)}")

    text = tuple(
        _NAME.sub(parameter, _RESULT.sub(result, _COMMENT.sub("", line))) for line in lines
    )
    return _Pattern(tuple(types[name] for name in operands), text, tuple(operands))
