"""Statements of a segment become calls of C functions: where they repeat, or threads share them.

A long program, such as a loop that was unrolled or the updates of many parameters, repeats a few
statements many times; a C compiler takes more than twice as long for twice the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field

from theano.link.native.ir.ir import Scalar
from theano.link.native.lowering.segment import Segment
from theano.link.native.render.c_text import Definition
from theano.link.native.render.numbers_in_c import C_TYPES
from theano.link.native.render.registry import lines_of_a_thread
from theano.link.native.render.shared_statements import SharedStatement, shared_statement
from theano.link.native.render.steps import about_lines, function_writer, noted_statement
from theano.link.native.statements.base import AsFunction, Statement
from theano.support.data_classes import dataclass

# what every such function is given first
RUNTIME = "const tn_runtime *runtime"
# lines, or a statement that is written as it is or as a call
Part = list[str] | Statement


@dataclass(frozen=True)
class _Pattern:
    """A statement whose operands are parameters, and what the operands are here.

    Attributes
    ----------
    result
        The C type of what the function returns.
    returned, further
        The number that it computes, and others, which it stores, with their C types.
    """

    types: tuple[str, ...]
    text: tuple[str, ...]
    operands: tuple[str, ...]
    result: str
    returned: str = ""
    further: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> tuple:
        return (self.result, self.types, self.text)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.operands)

    def call(self, name: str) -> list[str]:
        """Return the lines that call it."""
        given = ["runtime", *self.operands, *(f"&{number}" for _, number in self.further)]
        called = f"{name}({', '.join(given)})"
        if self.returned:
            declared = [f"{kind} {number};" for kind, number in self.further]
            return [*declared, f"const {self.result} {self.returned} = {called};"]
        return [f"{called};" if self.result == "void" else f"if ((status = {called})) goto end;"]

    def definition(self, name: str) -> Definition:
        """Return the function."""
        parameters = [
            RUNTIME,
            *(f"{kind}operand{k}" for k, kind in enumerate(self.types)),
            *(f"{kind} *further{k}" for k, (kind, _) in enumerate(self.further, 1)),
        ]
        return Definition(
            f"TN_SHARED __attribute__((noinline)) {self.result} {name}({', '.join(parameters)})",
            ["{", *self.text, "}"],
        )


@dataclass(frozen=True)
class Calls:
    """The lines of a segment that compute.

    Attributes
    ----------
    names
        What they name that stands before them.
    """

    lines: list[str]
    names: dict[str, None]


@dataclass
class Repeated:
    """The functions of a program, by what they do.

    Attributes
    ----------
    loops
        The names of the C functions of loops, by those that they were lowered under.
    """

    prefix: str
    loops: Mapping[str, str]
    functions: dict[tuple, tuple[str, _Pattern | SharedStatement]] = field(default_factory=dict)

    def written(self, segment: Segment, parts: list[Part], fewest: int = 2) -> Calls:
        """Return the lines of a segment, with calls for statements that repeat `fewest` times or are shared."""
        types = types_of_names(segment)
        patterns = [
            None if isinstance(part, list) else _as_function(segment, part, types, fewest)
            for part in parts
        ]
        counts = Counter(pattern.key for pattern in patterns if pattern is not None)
        result: list[str] = []
        names: dict[str, None] = {}
        for part, pattern in zip(parts, patterns, strict=True):
            if isinstance(part, list):
                result += part
            elif pattern is None or (
                isinstance(pattern, _Pattern) and counts[pattern.key] < fewest
            ):
                result += noted_statement(segment.step, part, self.loops, names)
            else:
                name = f"{self.prefix}{len(self.functions)}"
                name, _ = self.functions.setdefault(pattern.key, (name, pattern))
                result += [*about_lines(part), *pattern.call(name)]
                names |= dict.fromkeys(sorted(pattern.names))
        return Calls(result, names)

    def definitions(self) -> list[Definition]:
        """Each function."""
        return [pattern.definition(name) for name, pattern in self.functions.values()]


def _as_function(
    segment: Segment, statement: Statement, types: dict[str, str], fewest: int
) -> _Pattern | SharedStatement | None:
    """Return a statement as a function that threads share or that is called, if it may be one."""
    shared = shared_statement(segment, statement, types)
    if shared is None and _may_be_apart(statement, fewest):
        return _pattern(segment, statement, types)
    return shared


def _may_be_apart(statement: Statement, fewest: int) -> bool:
    """Return whether a statement may be a call of a function."""
    if statement.as_function is AsFunction.IN_LONG_SEGMENTS:
        return fewest == 1
    return statement.as_function is AsFunction.WHERE_IT_REPEATS


def types_of_names(segment: Segment) -> dict[str, str]:
    """Return the C types of what statements may name, as parameters are declared."""
    step = segment.step
    types = {name: "int64_t " for name in step.sizes.names}
    types |= {name: f"{C_TYPES[dtype]} " for name, dtype in step.sizes.number_types.items()}
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


def _pattern(segment: Segment, statement: Statement, types: dict[str, str]) -> _Pattern:
    numbers = [one for one in statement.values_written() if isinstance(one, Scalar)]
    computed = [(C_TYPES[number.dtype], number.expression) for number in numbers]
    writer = function_writer(segment.step, types, tuple(name for _, name in computed))
    lines, result, returned = lines_of_a_thread(statement, writer, None), "void", ""
    if computed:
        # its first lines declare the numbers
        stored = [f"*further{k} = returned{k};" for k in range(1, len(computed))]
        (result, returned), *_ = computed
        lines = [*lines, *stored, "return returned;"]
    elif writer.leaves:
        lines, result = [*lines, "return 0;"], "int64_t"
    names = tuple(writer.names)
    kinds = tuple(types[name] for name in names)
    return _Pattern(kinds, tuple(lines), names, result, returned, tuple(computed[1:]))
