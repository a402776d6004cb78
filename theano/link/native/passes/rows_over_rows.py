"""Rows of steps are written where rows of the same steps were read for the last time.

A backward loop reads what the loop before it saved of a step, and after a block of its steps the
cotangents of these steps are computed for the layer below. Check: two temporaries of the same shape with
a row for each step, in the same direction; the statements that are done in blocks are the last that touch
the one and the first that touch the other, and in each block all that touches the one comes before.
Transformation: the later array is another name for the earlier one.
"""

from __future__ import annotations

from collections import defaultdict

from theano.link.native.ir.ir import Buffer, View
from theano.link.native.passes.rows_of_steps import Group
from theano.link.native.passes.share_memory import first_uses, last_uses
from theano.link.native.statements.base import Statement


def write_rows_over_rows(group: Group, ordered: list[Statement]) -> None:
    """Give arrays that a group makes the memory of those that it reads last."""
    statements = group.segment.step.statements
    last, first = last_uses(statements), first_uses(statements)
    positions = {statements.index(one): k for k, one in enumerate(ordered)}
    directions = _directions(group, ordered)
    # what a map makes and nothing reads has no last use yet
    ends = {root: last.get(root, -1) in positions for root in directions}
    begins = {root: first[root] in positions for root in directions}
    read = [root for root in directions if ends[root] and not begins[root]]
    made = [root for root in directions if begins[root] and not ends[root]]
    for new in made:
        for old in read:
            if (
                directions[old] == directions[new]
                and positions[last[old]] < positions[first[new]]
                and old.dtype == new.dtype
                and [*map(group.sizes.find, old.shape)] == [*map(group.sizes.find, new.shape)]
            ):
                new.source = View.of(old)
                read.remove(old)
                break


def _directions(group: Group, ordered: list[Statement]) -> dict[Buffer, int]:
    """Return the temporaries that are touched row by row, with the direction of their rows."""
    found: dict[Buffer, set[int]] = defaultdict(set)
    for statement in ordered:
        for view, direction in group.touched(statement):
            found[view.buffer.root()].add(direction)
    reached = group.segment.step.rows_reached
    return {
        root: each.pop()
        for root, each in found.items()
        if len(each) == 1
        and 0 not in each
        and root.role == "temporary"
        and root not in group.shrunk
        and root not in reached
    }
