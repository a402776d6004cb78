"""The walk over a graph: concrete nodes run in NumPy, the others are traced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.scalar.basic import ScalarType

from theano.link.xla.arrays import is_array
from theano.link.xla.branches import Place, choose, places_of
from theano.link.xla.context import CannotLower, Context, Ragged, is_traced
from theano.link.xla.lowering.table import rule_of
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor import IfElse


class NodeFailed(Exception):
    """Tracing a node failed; the cause is what was raised."""

    def __init__(self, node: Apply, inputs: Sequence[Any]):
        super().__init__(node)
        self.node, self.inputs = node, inputs


def interpret(graph: Any, values: Sequence[Any], context: Context) -> list[Any]:
    """Compute the outputs of a function graph from values of its inputs.

    Parameters
    ----------
    graph : FunctionGraph
    values : sequence
        Of each input, concrete or traced.
    context : Context

    Returns
    -------
    list
        The value of each output, concrete or traced.
    """
    known = dict(zip(graph.inputs, values, strict=True))
    compute(graph.toposort(), known, context, graph.outputs)
    return [value_of(variable, known) for variable in graph.outputs]


def compute(
    nodes: Sequence[Apply],
    known: dict[Variable, Any],
    context: Context,
    wanted: Sequence[Variable] = (),
) -> None:
    """Add to `known` the values of the nodes' outputs; what is known already is kept.

    Parameters
    ----------
    nodes
        In an order in which they can run.
    wanted
        The variables that are asked for; other ones may stay unknown if a choice between values
        leaves them out.
    """
    places = places_of(nodes, wanted)

    def compute_at(place: Place, known: dict[Variable, Any], context: Context) -> None:
        context = replace(context, known=known)
        for node in nodes:
            if places.get(node, ()) == place and not all(v in known for v in node.outputs):
                for variable, result in zip(
                    node.outputs, results_of(node, known, context), strict=True
                ):
                    known.setdefault(variable, result)

    def results_of(node: Apply, known: dict[Variable, Any], context: Context) -> list[Any]:
        try:
            if isinstance(node.op, IfElse):
                return choose(node, places[node], known, context, compute_at)
            inputs = [value_of(variable, known) for variable in node.inputs]
        except NodeFailed:
            raise
        except Exception as error:
            raise NodeFailed(node, []) from error
        return run_named(node, inputs, context)

    compute_at((), known, context)


def value_of(variable: Variable, known: Mapping[Variable, Any]) -> Any:
    """Return the value of a variable that is known or constant."""
    if variable in known:
        return known[variable]
    if isinstance(variable, Constant):
        return variable.data
    raise CannotLower(f"nothing gives the value of {variable}")


def run_named(node: Apply, inputs: list[Any], context: Context) -> list[Any]:
    """Run a node as `run_node` does; its name is on what it raises and on what it requires."""
    before = len(context.requirements)
    try:
        results = run_node(node, inputs, context)
    except NodeFailed:
        raise
    except Exception as error:
        raise NodeFailed(node, inputs) from error
    for k, required in enumerate(context.requirements[before:], start=before):
        context.requirements[k] = replace(required, node=required.node or node)
    return results


def run_node(node: Apply, inputs: list[Any], context: Context) -> list[Any]:
    """Return the values of a node's outputs, of their declared dtypes."""
    if any(isinstance(value, Ragged) for value in inputs):
        raise CannotLower("it reads rows of a loop whose number depends on values")
    rule = rule_of(node.op)
    by_numpy = not rule.even_if_concrete or (context.before_call and not isinstance(node.op, Scan))
    if by_numpy and not any(is_traced(value) for value in inputs):
        return performed(node, inputs)
    results = rule.lower(node.op, node, inputs, context)
    if not isinstance(results, list | tuple):
        results = [results]
    results = [_of_declared_type(r, v) for r, v in zip(results, node.outputs, strict=True)]
    if node.outputs[0] in context.once:
        results = _barred(results)
    for result in results:
        array = result.rows if isinstance(result, Ragged) else result
        if is_traced(array):
            context.largest.note(node, array)
    return results


def _barred(results: list[Any]) -> list[Any]:
    """Return the same values, of which XLA makes no copies where they are read."""
    from jax import lax

    return lax.optimization_barrier(results)


def performed(node: Apply, inputs: Sequence[Any]) -> list[Any]:
    """Run a node in NumPy."""
    cells: list[list[Any]] = [[None] for _ in node.outputs]
    # has element-wise operations compute in the declared dtype: the inverse of 4 is no 0
    node.op.prepare_node(node, None, None, "py")
    node.op.perform(
        node, [_as_given(x, v) for x, v in zip(inputs, node.inputs, strict=True)], cells
    )
    return [_of_declared_type(cell[0], v) for cell, v in zip(cells, node.outputs, strict=True)]


def _as_given(value: object, variable: Variable) -> Any:
    if is_array(variable):
        return np.asarray(value, dtype=variable.type.dtype)
    return value


def _of_declared_type(value: Any, variable: Variable) -> Any:
    if isinstance(value, Ragged) or not (
        is_array(variable) or isinstance(variable.type, ScalarType)
    ):
        return value
    dtype = np.dtype(variable.type.dtype)
    if is_traced(value):
        value = value if value.dtype == dtype else value.astype(dtype)
    elif is_array(variable):
        value = np.asarray(value, dtype=dtype)
    if is_array(variable) and value.ndim != variable.type.ndim:
        raise CannotLower(f"{value.ndim} dimensions where {variable.type} was declared")
    return value
