"""The numbers of steps that a budget of memory decides when a function is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.variable import TensorVariable

from theano.scan_module.budget.few_steps import keep_few_steps
from theano.scan_module.budget.loop_pairs import loop_pairs
from theano.scan_module.gradient.forward_loops import unify_forward_loops
from theano.scan_module.scan_op import Scan
from theano.support.data_classes import dataclass

# where a variable's tag keeps it
_TAG = "chosen_steps"
KEPT, LENGTH = "kept", "length"
# of any loop
ALL_STEPS = 2**40


@dataclass(frozen=True)
class ChosenSteps:
    """The purpose of a variable.

    Attributes
    ----------
    what
        How many steps loops keep, 'kept', or how many a segment of the others has, 'length'.
    bytes
        What a call may take.
    loops
        How many loops can keep few steps.
    """

    what: str
    bytes: int
    loops: int


def mark_chosen(variable: Variable, chosen: ChosenSteps) -> None:
    """Note what a variable is for."""
    setattr(variable.tag, _TAG, chosen)


def chosen_steps(variables: Iterable[Variable]) -> dict[str, tuple[Variable, ChosenSteps]]:
    """Return those of a graph's inputs that a budget decides, by what they are."""
    found = {}
    for variable in variables:
        chosen = getattr(variable.tag, _TAG, None)
        if chosen is not None:
            found[chosen.what] = variable, chosen
    return found


def with_few_steps(
    results: Sequence[Any], kept: TensorVariable, length: TensorVariable
) -> tuple[list[Any], int]:
    """Return results of which the loops keep few steps for their gradients, and how many loops do.

    Parameters
    ----------
    results
        Variables; what is none stays as it is.
    """
    places = [k for k, result in enumerate(results) if isinstance(result, Variable)]
    graph = FunctionGraph(outputs=[results[k] for k in places], clone=True, copy_inputs=False)
    unify_forward_loops(graph)
    given = [node for node in graph.toposort() if isinstance(node.op, Scan)]
    count = 0
    while pair := next((p for p in loop_pairs(graph) if p.forward in given), None):
        given.remove(pair.forward)
        keep_few_steps(graph, pair, kept, length)
        count += 1
    edited = list(results)
    for k, output in zip(places, graph.outputs, strict=True):
        edited[k] = output
    return edited, count
