"""The statements of a step as C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from theano.link.native.ir.partitions import Partition, Sharing
from theano.link.native.lowering.step import Step
from theano.link.native.render.c_text import comment
from theano.link.native.render.counters import Counters
from theano.link.native.render.registry import about, lines_of_a_thread
from theano.link.native.render.writer import NotingWriter, Writer, WriterOfFunction
from theano.link.native.statements.base import Statement


def emit_statements(
    step: Step,
    sharing: Sharing | None,
    counters: Counters | None,
    functions: Mapping[str, str],
) -> list[str]:
    """All statements of a step, in order, and the barriers between them.

    A barrier before the first of them is for who writes what stands before it.
    """
    lines = counters.between_steps(step) if counters else []
    for position, statement in enumerate(step.statements):
        if sharing is None:
            lines += emit_statement(step, statement, functions)
        else:
            if position:
                lines += barrier(sharing, position, counters.waiting(step) if counters else [])
            lines += emit_statement(step, statement, functions, sharing.partitions[position])
        if counters:
            lines += counters.after(step, position)
    if sharing is not None and step.statements:
        lines += barrier(sharing, len(step.statements))
    return lines


def barrier(sharing: Sharing, position: int, then: Sequence[str] = ()) -> list[str]:
    """Return the barrier before a statement, if there is one, and what follows it."""
    by_columns, by_rows = position in sharing.barriers, position in sharing.barriers_by_rows
    by_both = position in (sharing.barriers_by_both or ())
    if not by_columns and not by_rows and not by_both:
        return []
    if sharing.rows is None or (by_columns and by_rows):
        return ["TN_BARRIER", *then]
    # those by both are among the others, too: all columns are one group of rows
    some = "groups < threads" if by_columns else "groups > 1"
    condition = f"if ({some if by_columns or by_rows else 'groups > 1 && groups < threads'})"
    if not then:
        return [f"{condition} TN_BARRIER"]
    return [f"{condition} {{", "TN_BARRIER", *then, "}"]


def emit_statement(
    step: Step,
    statement: Statement,
    functions: Mapping[str, str],
    partition: Partition | None = None,
) -> list[str]:
    """One statement of a step: all of it, or what one of several threads does of it."""
    writer = Writer(step.sizes, not step.repeats, step.error, functions)
    return [*about_lines(statement), *lines_of_a_thread(statement, writer, partition)]


def noted_statement(
    step: Step, statement: Statement, functions: Mapping[str, str], names: dict[str, None]
) -> list[str]:
    """One statement of a step; what it names is added to the names."""
    writer = NotingWriter(step.sizes, not step.repeats, step.error, functions, names)
    return [*about_lines(statement), *lines_of_a_thread(statement, writer, None)]


def about_lines(statement: Statement) -> list[str]:
    """Return the comment that stands before a statement."""
    return [comment(text)] if (text := about(statement)) else []


def function_writer(
    step: Step, types: Mapping[str, str], returned: tuple[str, ...] = ()
) -> WriterOfFunction:
    """Return what writes a statement of a step as a function that computes these numbers."""
    return WriterOfFunction(step.sizes, not step.repeats, step.error, {}, types, returned)
