"""The user's line of what this package makes for a call: looked up once, not for each variable."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import wraps
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import HasInnerGraph, Op
from pytensor.graph.traversal import ancestors

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.untraced import untraced
from theano.source_locations.lines import OF_A_GRADIENT, users_frame


def users_lines(limit: int) -> list[tuple[str, int, str, str]]:
    """Return the lines of the user's that lead to here, as PyTensor records them; the last comes last."""
    frame = users_frame(sys._getframe(1))
    lines: list[tuple[str, int, str, str]] = []
    while frame is not None and (limit < 0 or len(lines) < limit):
        file, number = frame.f_code.co_filename, frame.f_lineno
        line = linecache.getline(file, number, frame.f_globals).strip()
        lines.append((file, number, frame.f_code.co_name, line))
        frame = frame.f_back
    return lines[::-1]


def with_one_trace(derive: Callable) -> Callable:
    """Give all that a method of an op derives from its node the trace of its call.

    Parameters
    ----------
    derive
        A method that is called with the node's inputs, its outputs, and variables of the same
        kind as these, and returns variables.
    """

    @wraps(derive)
    def derived(op: Op, inputs: Sequence, outputs: Sequence, directions: Sequence) -> list:
        given = [*inputs, *outputs, *directions]
        return traced_as_one(lambda: derive(op, inputs, outputs, directions), given)

    return derived


def traced_as_one(make: Callable[[], list], given: Collection[Variable]) -> list:
    """Return what a function makes of given variables, all of it with the trace of the user's call.

    Where PyTensor records the trace of a variable, the calls within this package take the places
    of the user's line, of which it keeps a few.

    Parameters
    ----------
    make
        Returns a list of variables, and perhaps of None.
    given
        Where what it makes ends: these variables and what they are computed from are not marked.
    """
    limit = untraced.limit
    if limit == 0:
        return make()
    trace = [users_lines(limit)]
    with untraced:
        results = make()
    _mark(ancestors([v for v in results if v is not None], blockers=given), trace)
    return results


def _mark(variables: Iterable[Variable], trace: Any) -> None:
    for variable in variables:
        own = getattr(variable.tag, "trace", None)
        if own:
            if len(own) == 1 and OF_A_GRADIENT in own[0]:
                # it names what it differentiates; who asked for that follows
                variable.tag.trace = [*own, *trace]
            continue
        variable.tag.trace = trace
        node = variable.owner
        if node is not None and not getattr(node.tag, "trace", None):
            _mark_node(node, trace)


def _mark_node(node: Apply, trace: object) -> None:
    node.tag.trace = trace
    for other in node.outputs:
        # also what nothing reads: the first result says the node's line
        if not getattr(other.tag, "trace", None):
            other.tag.trace = trace
    if _is_loop(node.op):
        _mark(node.op.fgraph.variables, trace)  # type: ignore[attr-defined]


def _is_loop(op: Op) -> bool:
    if not is_a(op, HasInnerGraph):
        return False
    # Imported when first used: programs without loops need none of it.
    from theano.pytensor_internals.graphs.scan import Scan

    return isinstance(op, Scan)
