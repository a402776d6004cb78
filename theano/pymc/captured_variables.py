"""Random variables of a model that the step of a loop uses without being given them."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors, apply_ancestors

from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor import RandomType
from theano.source_locations.lines import users_line


def refuse_captured(model: Any) -> None:
    """Raise an error for a loop whose step draws a variable of the model again, in each iteration.

    PyMC puts values in place of random variables in the model's graph, not in graphs of steps.
    There, a variable is known by its generator, which the loop then reads.

    Raises
    ------
    ValueError
        With the names of the variables and the loop's line.
    """
    variables: dict[Variable, Variable] = {
        generator: variable
        for variable in model.basic_RVs
        if variable.owner is not None and not isinstance(variable.owner.op, Scan)
        for generator in variable.owner.inputs
        if isinstance(generator.type, RandomType)
    }
    values = [*model.basic_RVs, *model.potentials, *model.deterministics]
    for loop in apply_ancestors(values):
        if isinstance(loop.op, Scan):
            captured = [variables[v] for v in loop.inputs if v in variables]
            if captured:
                raise ValueError(_message(loop, captured))


def _message(loop: Apply, captured: list[Variable]) -> str:
    # a variable that another one is drawn from comes with it
    used = [
        one
        for one in captured
        if not any(one in ancestors([other]) for other in captured if other is not one)
    ]
    names = ", ".join(str(variable.name) for variable in used)
    line = users_line(loop)
    return (
        f"the step of a scan{f' ({line})' if line else ''} uses {names} of the model without being"
        " given it, and would draw it again. Pass it to the step: scan(step, ...,"
        f" non_sequences=[{names}])"
    )
