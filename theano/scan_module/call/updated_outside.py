"""Shared variables made outside of a step that change with each step: generators, for one.

In Theano 1.0 a step computes again whatever its function takes from outside, but its arguments. What
it reads of a shared variable with a default update is then a state of the loop. PyTensor has such
states of the variables that the function itself makes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import graph_inputs

from theano.pytensor_internals.graphs.scan import get_updates_and_outputs, until


def with_default_updates(fn: Callable) -> Callable:
    """Return the step function, which returns the default updates of what it reads, too."""

    def step(*arguments: Variable) -> Any:
        result = fn(*arguments)
        condition, outputs, updates = get_updates_and_outputs(result)
        computed = [*outputs, *updates.values(), *([] if condition is None else [condition])]
        more = _default_updates(computed, arguments, updates)
        if not more:
            return result
        end = [] if condition is None else [until(condition)]
        return (outputs, {**updates, **more}, *end)

    return step


def _default_updates(
    computed: Iterable[Any], arguments: Collection[Variable], updates: Collection[Variable]
) -> dict[Variable, Variable]:
    """Return the default updates that the loop can compute from what its step reads."""
    variables = [variable for variable in computed if isinstance(variable, Variable)]
    read = dict.fromkeys(graph_inputs(variables, blockers=arguments))
    found: dict[Variable, Variable] = {}
    for shared in read:
        update = getattr(shared, "default_update", None)
        if not isinstance(shared, SharedVariable) or update is None:
            continue
        if shared in updates or shared in arguments:
            continue
        needed = graph_inputs([update], blockers=arguments)
        if all(leaf in read or isinstance(leaf, Constant | SharedVariable) for leaf in needed):
            found[shared] = update
    return found
