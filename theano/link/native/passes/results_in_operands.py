"""A result of a map takes the memory of an operand that nothing needs afterwards.

Memory that was just read is written without being fetched again, and large arrays are fewer. Check:
a temporary of the same type and shape, whose elements the map reads in its own order, and nothing
after it; memory of the result that nothing has touched before. Transformation: the temporary is
computed where the result will be.
"""

from __future__ import annotations

from theano.link.native.ir.ir import Buffer, View
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.reduced_maps import FEW
from theano.link.native.passes.share_memory import first_uses, last_uses


def results_in_operands(segment: Segment) -> None:
    """Place temporaries where the results are that maps make of them, outside loops."""
    together = [one.in_order() for one in segment.step.statements]
    statements = [part for parts in together for part in parts]
    with_it = [parts for parts in together for _ in parts]
    last, first = last_uses(statements), first_uses(statements)
    for position, statement in enumerate(statements):
        views = [view for part in with_it[position] for view in part.views()]
        for compute in statement.elementwise():
            result = compute.buffer
            if result is None or not compute.stored or not _is_new(result, first, position):
                continue
            found = (
                view.buffer
                for view in statement.views()
                if last[view.buffer] == position
                and _may_be_placed(view.buffer, result, segment.step.sizes)
                and all(_is_all_of(one, view.buffer) for one in views)
                and view.buffer not in {buffer.root() for buffer in statement.written()}
            )
            operand = next(found, None)
            if operand is not None:
                operand.place = View.of(result)
                first[result] = first[operand]


def _is_new(result: Buffer, first: dict[Buffer, int], position: int) -> bool:
    """Whether a result is a temporary with memory of its own that was not touched before."""
    return (
        result.role == "temporary"
        and result.root() is result
        and first.get(result, position) == position
    )


def _may_be_placed(operand: Buffer, result: Buffer, sizes: Sizes) -> bool:
    """Whether an operand is a large temporary with memory of its own, and like the result."""
    return (
        not sizes.known_below(operand.shape, FEW)
        and operand.role == "temporary"
        and operand.root() is operand
        and operand.dtype == result.dtype
        and [*map(sizes.find, operand.shape)] == [*map(sizes.find, result.shape)]
    )


def _is_all_of(view: View, buffer: Buffer) -> bool:
    """Whether a view is all of a buffer, in its order, if it is of its memory at all."""
    if view.buffer.root() is not buffer:
        return True
    while view.whole and view.buffer is not buffer and view.buffer.place is not None:
        view = view.buffer.place
    return view.whole and view.buffer is buffer
