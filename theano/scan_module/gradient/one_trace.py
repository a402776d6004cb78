"""The user's line of what a gradient makes: looked up once for a loop, not for each variable."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from types import FrameType
from typing import Any

from pytensor.configdefaults import config
from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

from theano.pytensor_base.scan import Scan
from theano.users_lines import PACKAGES


def users_lines(limit: int) -> list[tuple[str, int, str, str]]:
    """The lines of the user's that lead to here, as PyTensor records them; the last comes last."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGES):
        frame = frame.f_back
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
    def derived(op: Any, inputs: Sequence, outputs: Sequence, directions: Sequence) -> list:
        if config.traceback__limit == 0:
            return derive(op, inputs, outputs, directions)
        trace = [users_lines(config.traceback__limit)]
        with config.change_flags(traceback__limit=0):
            results = derive(op, inputs, outputs, directions)
        _mark(ancestors(results, blockers=[*inputs, *outputs, *directions]), trace)
        return results

    return derived


def _mark(variables: Iterable[Variable], trace: Any) -> None:
    for variable in variables:
        if getattr(variable.tag, "trace", None):
            continue
        variable.tag.trace = trace
        node = variable.owner
        if node is not None and not getattr(node.tag, "trace", None):
            node.tag.trace = trace
        if node is not None and isinstance(node.op, Scan):
            _mark(node.op.fgraph.variables, trace)
