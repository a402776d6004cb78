"""The loop over blocks of steps."""

from __future__ import annotations

from itertools import chain

from theano.link.native.ir.partitions import Share
from theano.link.native.render.numbers_in_c import in_c
from theano.link.native.render.registry import libraries, lines_of, renders
from theano.link.native.render.writer import Writer
from theano.link.native.statements.step_blocks import StepBlocks


def libraries_of_blocks(statement: StepBlocks) -> set[str]:
    return set(chain.from_iterable(libraries(part) for part in statement.parts))


def head_of_blocks(statement: StepBlocks) -> list[str]:
    """Return the beginning of the loop, in which the first step of a block and its steps are named."""
    start, count, back = statement.start.name, statement.count.name, statement.back.name
    steps, length = in_c(statement.steps), in_c(statement.length)
    return [
        f"for (int64_t {start} = 0; {start} < {steps}; {start} += {length}) {{",
        f"const int64_t {count} = tn_smaller({length}, {steps} - {start});",
        f"const int64_t {back} __attribute__((unused)) = {steps} - {start} - {count};",
    ]


@renders(StepBlocks, libraries=libraries_of_blocks)
def lines_of_blocks(statement: StepBlocks, writer: Writer, share: Share | None) -> list[str]:
    parts = chain.from_iterable(lines_of(part, writer, share) for part in statement.parts)
    return [*head_of_blocks(statement), *parts, "}"]
