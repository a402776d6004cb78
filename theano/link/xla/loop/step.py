"""The step of a loop, traced once for the shapes that its rows have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph

from theano.link.xla.arrays import is_array
from theano.link.xla.context import CannotLower, Context, Ragged, is_traced
from theano.link.xla.interpret import NodeFailed, interpret
from theano.link.xla.loop.computed_once import computed_once
from theano.link.xla.loop.invariants import read
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class TracedStep:
    """A step as a function of rows.

    Attributes
    ----------
    program
        From the constants and the rows, one after the other, to the results and what must hold: a
        ``Jaxpr``.
    constants
        Values from outside the loop.
    results
        The shape and dtype of each result.
    errors
        What is raised where something does not hold.
    """

    program: Any
    constants: tuple[Any, ...]
    results: tuple[Any, ...]
    errors: tuple[Exception, ...]

    def __call__(self, rows: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return the results of a step, and for each error whether all is well."""
        from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

        values = jaxpr_as_fun(ClosedJaxpr(self.program, self.constants))(*rows)
        return values[: len(self.results)], values[len(self.results) :]


def traced_step(
    graph: FunctionGraph,
    rows: Sequence[Any],
    invariants: Sequence[Any],
    context: Context,
    zeros: Sequence[int] = (),
) -> TracedStep:
    """Trace a step.

    Parameters
    ----------
    graph
        Its inputs are rows, then invariants.
    rows
        Arrays, or what has their shape and dtype.
    invariants
        Concrete ones stay so: shapes may be made from them.
    context
        Of the graph that the loop is in.
    zeros
        Positions of the invariants that are zero everywhere.
    """
    import jax
    import jax.numpy as jnp

    errors: list[Exception] = []
    once = computed_once(graph) if context.platform == "cpu" else ()

    def run(*given: object) -> tuple[list[Any], list[Any]]:
        inside = context.of_step(once, [graph.inputs[len(rows) + k] for k in zeros])
        results = interpret(graph, [*given, *map(read, invariants)], inside)
        errors[:] = [requirement.error for requirement in inside.requirements]
        arrays = [as_array(r, v) for r, v in zip(results, graph.outputs, strict=True)]
        return arrays, [jnp.all(requirement.holds) for requirement in inside.requirements]

    try:
        traced, shapes = jax.make_jaxpr(run, return_shape=True)(*rows)
    except NodeFailed as failure:
        reason = failure.__cause__
        if isinstance(reason, CannotLower):
            # the loop as a whole moves to the host
            raise CannotLower(f"{failure.node.op} in its step: {reason}") from None
        raise
    return TracedStep(traced.jaxpr, tuple(traced.consts), tuple(shapes[0]), tuple(errors))


def as_array(value: Any, variable: Variable) -> Any:
    """Return a value of a tensor variable as an array that a loop may carry."""
    import jax.numpy as jnp
    from jax import lax

    if not is_array(variable) or isinstance(value, Ragged):
        raise CannotLower(f"a value of type {variable.type} in a loop")
    if is_traced(value):
        # never of a weak type, which the loop's state would not have
        return lax.convert_element_type(value, variable.type.dtype)
    return jnp.asarray(value, dtype=variable.type.dtype)
