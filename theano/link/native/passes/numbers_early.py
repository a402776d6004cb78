"""Single numbers are computed as soon as what they are computed from is there.

Between two maps they would keep these apart: one pass can be done only where all the numbers that it
reads are known. Check: the number is computed from other numbers, or is an element of an input, which nothing
writes, at a position that was checked before all statements. Transformation: it moves up to behind the last
statement that defines what it is computed from.
"""

from __future__ import annotations

from theano.link.native.lowering.segment import Segment
from theano.link.native.statements.base import Statement, as_kind
from theano.link.native.statements.numbers import Assign, Load


def compute_numbers_early(segment: Segment) -> None:
    """Move numbers up to behind what they need; positions change."""
    statements = segment.step.statements
    written = {buffer.root() for statement in statements for buffer in statement.written()}
    # behind each statement, the numbers that move there; at first those that need none of them
    behind: list[list[Statement]] = [[] for _ in range(len(statements) + 1)]
    defined_at: dict[str, int] = {}
    for position, statement in enumerate(statements, 1):
        needed = [defined_at[name] for name in statement.numbers_read() if name in defined_at]
        place = position
        load = as_kind(statement, Load)
        if as_kind(statement, Assign):
            place = max(needed, default=0)
        elif load and not needed and load.view.buffer.root() not in written:
            place = 0
        behind[place].append(statement)
        defined_at.update(dict.fromkeys(statement.numbers_defined(), place))
    segment.step.statements = [statement for group in behind for statement in group]
