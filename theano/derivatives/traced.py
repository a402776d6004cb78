"""Derivatives whose operations name the line of the user's that asked for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.traversal import ancestors

from theano.gof.user_operations.gradients import use_own_gradients
from theano.pytensor_internals.graphs.annotations import only_result
from theano.source_locations.one_trace import traced_as_one

Variables = Variable | Sequence[Variable]


def listed(variables: Variables) -> list[Variable]:
    """Variables as a list, of one too."""
    return list(variables) if isinstance(variables, list | tuple) else [only_result(variables)]


def traced(derive: Callable[[], Any], of: Variables, more: Variables = ()) -> Any:
    """Return what is derived of some variables, and perhaps more that is given, with one line of the user's."""
    if use_own_gradients(listed(of)):
        # the line of a user's own gradient says more than that of the call
        return derive()
    found: list[Any] = []

    def made() -> list[Variable]:
        found.append(derive())
        return listed(found[0])

    given = [v for v in (*listed(of), *listed(more)) if isinstance(v, Variable)]
    traced_as_one(made, set(ancestors(given)))
    return found[0]
