"""Dependences among the values of a step."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.shape import Shape, Shape_i

from theano.pytensor_internals.graphs.kinds import is_a


def computed_from(inputs: Collection[Variable], variables: Iterable[Variable]) -> set[Variable]:
    """Those of the variables that follow from the inputs (and constants) alone."""
    result = set(inputs)
    for variable in in_order(variables):
        node = variable.owner
        if is_a(variable, Constant) or (
            node is not None
            and (
                all(argument in result for argument in node.inputs)
                # shapes of what enters a step are the same in every step
                or (isinstance(node.op, Shape | Shape_i) and node.inputs[0].owner is None)
            )
        ):
            result.add(variable)
    return result


def dependents(inputs: Collection[Variable], variables: Iterable[Variable]) -> set[Variable]:
    """Those of the variables that depend on one of the inputs."""
    result = set(inputs)
    for variable in in_order(variables):
        if variable.owner is not None and any(a in result for a in variable.owner.inputs):
            result.add(variable)
    return result


def in_order(variables: Iterable[Variable]) -> list[Variable]:
    """Return the variables, each after those that it is computed from."""
    pending = dict.fromkeys(variables)
    done: dict[Variable, None] = {}
    for root in pending:
        stack = [root]
        while stack:
            variable = stack[-1]
            waiting = (
                []
                if variable.owner is None
                else [a for a in variable.owner.inputs if a in pending and a not in done]
            )
            if waiting and variable not in done:
                stack.extend(waiting)
            else:
                done[variable] = None
                stack.pop()
    return list(done)
