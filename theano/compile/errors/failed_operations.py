"""The operation of a function, and of a loop's step in it, that raised an error."""

from __future__ import annotations

import traceback
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.compile.errors.wrong_values import WrongValueError
from theano.pytensor_internals.functions.linking import raise_with_op
from theano.pytensor_internals.graphs.scan import RunningSteps, Scan, running_steps
from theano.scan_module.gradient.backward_loop import GRADIENT_OF
from theano.scan_module.loop.arguments import unpack
from theano.scan_module.report.describe import describe, input_names
from theano.support.data_classes import dataclass
from theano.support.formatting.values import operation


@dataclass(frozen=True)
class FailedOperation:
    """An operation that raised an error.

    Attributes
    ----------
    node, thunk
        The operation, and what ran it.
    title
        The words that name it; in a loop's step, as a formula.
    step
        In a loop's step, which one; empty where that is not known.
    """

    node: Apply
    thunk: Any
    title: str
    step: str = ""


def failed_operations(error: BaseException, fgraph: FunctionGraph) -> list[FailedOperation]:
    """Return the operation of a function that failed, and if it is a loop, that of its step, and so on.

    Parameters
    ----------
    error
        What calling the function raised.
    fgraph
        The function's graph.
    """
    found: list[FailedOperation] = []
    names: dict[Variable, str] = {}
    steps = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        steps = running_steps(frame) or steps
        if frame.f_code is not raise_with_op.__code__:
            continue
        # PyTensor raises an error again, with where it was
        graph, node, thunk = (frame.f_locals[name] for name in ("fgraph", "node", "thunk"))
        if isinstance(error, WrongValueError) and node is error.checked:
            node, thunk = error.node, None
        if graph is fgraph:
            named = str(node).replace(str(node.op), operation(node.op))
            title = f"Apply node that caused the error: {named}"
            found = [FailedOperation(node, thunk, title)]
        elif found and _step_of(found[-1].node) is graph is not None:
            loop = unpack(found[-1].node)
            of_step = input_names(loop, names)
            # the function of a step has the inputs of the step first
            pairs = zip(loop.inner_inputs, graph.inputs, strict=False)
            names = {given: of_step[variable] for variable, given in pairs}
            text = describe(node.outputs[0], names)
            name = loop.settings.name or "scan"
            title = f"In a step of the loop {name}: {text}"
            found.append(FailedOperation(node, thunk, title, _format_step(name, steps)))
            steps = None
    return found


def _format_step(name: str, steps: RunningSteps | None) -> str:
    """Return which step of a loop one is."""
    if steps is None:
        return ""
    text = f"Step {steps.at} of {steps.number}, the first being 0"
    _, is_gradient, of = name.partition(GRADIENT_OF)
    return f"{text}; it goes back from the last step of {of}" if is_gradient else text


def _step_of(node: Apply) -> FunctionGraph | None:
    """Return the compiled graph of a loop's step."""
    return node.op.fn.maker.fgraph if isinstance(node.op, Scan) else None
