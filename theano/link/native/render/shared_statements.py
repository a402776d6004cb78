"""Statements of a segment that several threads share, each as a separate C function.

Loops share what their steps do in another way (`passes/partition.py`): there, threads do not part
between statements.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from theano.link.native.ir.partitions import OuterRange, Parts
from theano.link.native.ir.prologue import names_of
from theano.link.native.lowering.segment import Segment
from theano.link.native.lowering.step import Step
from theano.link.native.passes.step_time import nanoseconds
from theano.link.native.render.c_text import Definition
from theano.link.native.render.loop_nests import nest_in_c
from theano.link.native.render.numbers_in_c import C_TYPES, in_c, time_in_c
from theano.link.native.render.registry import lines_of
from theano.link.native.render.steps import function_writer
from theano.link.native.render.writer import Writer
from theano.link.native.schedule.elements import ELEMENTS_TOGETHER, range_of_thread
from theano.link.native.schedule.parts_of_numbers import (
    declared,
    memory_of_parts,
    put_together,
    worth,
)
from theano.link.native.schedule.reduce import reductions_of
from theano.link.native.statements.base import Statement
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class SharedStatement:
    """A statement whose operands are parameters, and what the operands are here.

    Attributes
    ----------
    types
        The C types of the operands.
    takes
        The nanoseconds of all of it, in C.
    names
        What the operands and the nanoseconds name.
    before, made, after
        The lines that declare what it computes, make room for it, and find it in what threads left there.
    """

    types: tuple[str, ...]
    text: tuple[str, ...]
    operands: tuple[str, ...]
    takes: str
    names: frozenset[str]
    before: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def key(self) -> tuple:
        """Return what is the same for two that may be one function."""
        return ("shared", self.types, self.text)

    def call(self, name: str) -> list[str]:
        """Return the lines that have threads call it."""
        addresses = ", ".join(["0", *(f"(void *)&{name}" for name in self.operands)])
        return [
            *self.before,
            "{",
            *self.made,
            f"void *operands[] = {{{addresses}}};",
            f"runtime->share_out(runtime, {self.takes}, {name}, operands);",
            *self.after,
            "}",
        ]

    def definition(self, name: str) -> Definition:
        """Return the function, in which a thread does its part."""
        given = [
            f"{kind}const operand{k} = *({kind}const *)operands[{k + 1}];"
            for k, kind in enumerate(self.types)
        ]
        return Definition(
            f"TN_SHARED void {name}(void *context, int thread, int threads)",
            [
                "{",
                "void *const *const operands = context;",
                "const tn_runtime *const runtime = operands[0];",
                *given,
                *self.text,
                "}",
            ],
        )


def shared_statement(
    segment: Segment, statement: Statement, types: Mapping[str, str]
) -> SharedStatement | None:
    """Return a statement of a segment as threads share it; None where one thread does it.

    Parameters
    ----------
    types
        The C types of what statements may name.
    """
    sizes, part = segment.step.sizes, segment.parts.get(statement)
    if part is None:
        return None
    around: tuple[tuple[str, ...], ...] = ()
    if isinstance(part, Parts):
        types = {**types, **{name: f"{C_TYPES[dtype]} *" for name, dtype in part.partials}}
        around = _around_parts(segment.step, statement, part)
    writer = function_writer(segment.step, types)
    lines = lines_of(statement, writer, part)
    if not isinstance(part, OuterRange):
        unit = 1 if part.unit == "1" else ELEMENTS_TOGETHER
        lines = [*nest_in_c(range_of_thread(sizes.find(part.size), unit), writer), *lines]
    takes = time_in_c(nanoseconds([statement], sizes))
    if not isinstance(part, OuterRange) and not isinstance(size := sizes.find(part.size), int):
        # what cannot be shared out here may be shared by the function that it calls
        takes = f"{in_c(size)} < 2 ? 0 : {takes}"
    names = tuple(writer.names)
    shapes = [sizes.find(size) for work in statement.nanoseconds() for size in work.shape]
    return SharedStatement(
        tuple(types[name] for name in names),
        tuple(lines),
        names,
        takes,
        frozenset({*names, *names_of(shapes)}),
        *around,
    )


def _around_parts(step: Step, statement: Any, share: Parts) -> tuple[tuple[str, ...], ...]:
    """Return what declares numbers, makes room for the results of their parts, and puts these together."""
    writer = Writer(step.sizes, not step.repeats, step.error, {})
    room = memory_of_parts(share)
    reductions = reductions_of(statement)
    together = put_together(reductions, worth(statement, step.sizes), share)
    lines = nest_in_c([*room, *together], writer)
    before = nest_in_c(declared(reductions), writer)
    return tuple(before), tuple(lines[: len(room)]), tuple(lines[len(room) :])
