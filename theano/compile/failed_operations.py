"""Which operation of a function, and of a loop's step in it, raised an error."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_base.functions.linking import raise_with_op
from theano.pytensor_base.graphs.scan import Scan
from theano.scan_module.loop.arguments import take_apart
from theano.scan_module.report.describe import describe, input_names


@dataclass(frozen=True)
class FailedOperation:
    """An operation that raised an error.

    Attributes
    ----------
    node, thunk
        The operation, and what ran it.
    title
        The words that name it; in a loop's step, as a formula.
    """

    node: Apply
    thunk: Any
    title: str


def failed_operations(error: BaseException, fgraph: FunctionGraph) -> list[FailedOperation]:
    """The operation of a function that failed, and if it is a loop, that of its step, and so on.

    Parameters
    ----------
    error
        What calling the function raised.
    fgraph
        The function's graph.
    """
    found: list[FailedOperation] = []
    names: dict[Variable, str] = {}
    for graph, node, thunk in _raised_with(error):
        if graph is fgraph:
            title = f"Apply node that caused the error: {node}"
            found = [FailedOperation(node, thunk, title)]
        elif found and _step_of(found[-1].node) is graph is not None:
            loop = take_apart(found[-1].node)
            of_step = input_names(loop, names)
            # the function of a step has the inputs of the step first
            pairs = zip(loop.inner_inputs, graph.inputs, strict=False)
            names = {given: of_step[variable] for variable, given in pairs}
            text = describe(node.outputs[0], names)
            title = f"In a step of the loop {loop.settings.name or 'scan'}: {text}"
            found.append(FailedOperation(node, thunk, title))
    return found


def _step_of(node: Apply) -> FunctionGraph | None:
    """The compiled graph of a loop's step."""
    return node.op.fn.maker.fgraph if isinstance(node.op, Scan) else None


def _raised_with(error: BaseException) -> Iterator[tuple[Any, Apply, Any]]:
    """The graph, the node and the thunk that PyTensor noted where it raised an error again."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code is raise_with_op.__code__:
            known = frame.f_locals
            yield known["fgraph"], known["node"], known["thunk"]
