"""Statements of a segment become calls of C functions, where they repeat or the segment is long.

A long program, such as a loop that was unrolled or the updates of many parameters, repeats a few
statements many times; a C compiler takes more than twice as long for twice the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from theano.link.native.ir.ir import Scalar
from theano.link.native.ir.scalar_types import C_TYPES
from theano.link.native.lowering.segment import Segment
from theano.link.native.statements.base import AsFunction, Statement

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_COMMENT = re.compile(r"/\*.*?\*/")
# names of results within a map, which count on through the step
_RESULT = re.compile(r"\be\d+\b")
# how a statement leaves the segment when its operands are not what it needs
_LEAVES = re.compile(r"status = ([^;]+); goto end;")


@dataclass(frozen=True)
class _Pattern:
    """A statement whose operands are parameters, and what the operands are here.

    Attributes
    ----------
    result
        The C type of what the function answers.
    call
        The line that calls it, with its name and operands left out.
    """

    types: tuple[str, ...]
    text: tuple[str, ...]
    operands: tuple[str, ...]
    result: str
    call: str

    @property
    def key(self) -> tuple:
        return (self.result, self.types, self.text)


@dataclass
class Repeated:
    """The functions of a program, by what they do."""

    prefix: str
    functions: dict[tuple, str] = field(default_factory=dict)

    def replace(
        self, segment: Segment, emitted: list[tuple[Statement | None, list[str]]], fewest: int = 2
    ) -> list[str]:
        """The lines of the statements, with calls for those that repeat `fewest` times."""
        types = _types_of_names(segment)
        patterns = [
            _pattern(statement, lines, types)
            if statement is not None and _may_be_apart(statement, fewest)
            else None
            for statement, lines in emitted
        ]
        counts: dict[tuple, int] = {}
        for pattern in patterns:
            if pattern is not None:
                counts[pattern.key] = counts.get(pattern.key, 0) + 1
        result: list[str] = []
        for (_, lines), pattern in zip(emitted, patterns, strict=True):
            if pattern is None or counts[pattern.key] < fewest:
                result += lines
                continue
            name = self.functions.setdefault(pattern.key, f"{self.prefix}{len(self.functions)}")
            comment = [line for line in lines[:1] if line.startswith("/*")]
            called = f"{name}({', '.join(pattern.operands)})"
            result += [*comment, pattern.call.format(called)]
        return result

    def definitions(self) -> list[list[str]]:
        """The lines of each function."""
        return [
            [
                f"TN_SHARED __attribute__((noinline)) {result} {name}("
                + ", ".join(f"{kind}a{k}" for k, kind in enumerate(types))
                + ")",
                "{",
                *text,
                "}",
            ]
            for (result, types, text), name in self.functions.items()
        ]


def _may_be_apart(statement: Statement, fewest: int) -> bool:
    """Whether a statement may be a call of a function."""
    if statement.as_function is AsFunction.IN_LONG_SEGMENTS:
        return fewest == 1
    return statement.as_function is AsFunction.WHERE_IT_REPEATS


def _types_of_names(segment: Segment) -> dict[str, str]:
    """The C types of what statements may name, as parameters are declared."""
    step = segment.step
    types = {"runtime": "const tn_runtime *"}
    types |= {name: "int64_t " for name in step.sizes.names}
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


def _pattern(statement: Statement, lines: list[str], types: dict[str, str]) -> _Pattern:
    operands: dict[str, str] = {}
    results: dict[str, str] = {}
    result, call, answer = "void", "{};", ""
    number = next((one for one in statement.values_written() if isinstance(one, Scalar)), None)
    if number is not None:
        # its first line declares the number
        answer, result = number.expression, C_TYPES[number.dtype]
        call = f"const {result} {answer} = {{}};"
        lines = [*lines, f"return {answer};"]
    elif any(_LEAVES.search(line) for line in lines):
        result, call = "int64_t", "if ((status = {})) goto end;"
        lines = [*(_LEAVES.sub(r"return \1;", line) for line in lines), "return 0;"]

    def parameter(found: re.Match) -> str:
        name = found[0]
        if name == answer or name not in types:
            return "answer" if name == answer else name
        return operands.setdefault(name, f"a{len(operands)}")

    def temporary(found: re.Match) -> str:
        return results.setdefault(found[0], f"e{len(results)}")

    text = tuple(
        _NAME.sub(parameter, _RESULT.sub(temporary, _COMMENT.sub("", line))) for line in lines
    )
    return _Pattern(tuple(types[name] for name in operands), text, tuple(operands), result, call)
