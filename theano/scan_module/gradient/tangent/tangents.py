"""Directional derivatives by the operations' own rules, in which discrete values stay as they are.

PyTensor's rules put the direction in place of the operand. Where the operand is an integer
that only depends on the variables by comparisons or rounding, an operation that adds up integers,
or makes an array of them, is then made from floating numbers, which it refuses.

PyTensor also gives a direction of zeros to what does not depend on the variables. The derivative of
``x ** 2`` by the exponent, which is NaN where ``x`` is negative, is NaN times zero, too.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import disconnected_type, pushforward
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.replace import clone_replace
from pytensor.scalar.basic import Mul, TrueDiv
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.type import continuous_dtypes, discrete_dtypes

from theano.pytensor_internals.graphs.annotations import (
    ForDisconnected,
    OnDisconnected,
    all_results,
    known_tensor,
)
from theano.pytensor_internals.graphs.graph import copy_of_graph_inside
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import order_of
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.gradient.step_gradient import is_connected


def tangents_of(
    values: Sequence[Variable],
    wrt: Sequence[Variable],
    directions: Sequence[Variable],
    disconnected_outputs: OnDisconnected = "raise",
    return_disconnected: ForDisconnected = "zero",
) -> list[Any]:
    """Return the derivatives of values along directions.

    Parameters
    ----------
    values, wrt, directions
        What is differentiated, with respect to what, and one direction for each of these.
    disconnected_outputs, return_disconnected
        As PyTensor's ``pushforward`` has them.

    Raises
    ------
    NotImplementedError
        If an operation has no rule.
    """
    held = {variable: _placeholder(variable) for variable in _to_hold(values, wrt)}
    options = disconnected_outputs, return_disconnected
    if not held:
        return _pushforward(values, wrt, directions, *options)
    variables = clone_replace([*values, *wrt], held)
    found = _pushforward(variables[: len(values)], variables[len(values) :], directions, *options)
    back = {place: variable for variable, place in held.items()}
    return [tangent if tangent is None else clone_replace(tangent, back) for tangent in found]


def _pushforward(
    values: Sequence[Variable],
    wrt: Sequence[Variable],
    directions: Sequence[Variable],
    disconnected_outputs: OnDisconnected,
    return_disconnected: ForDisconnected,
) -> list[Any]:
    """Return the directions of values, where PyTensor compares what is given and heeds the options."""
    # (f, wrt, directions, ...) -> the directions of `f`, by the rules of operations
    push = partial(
        pushforward,
        disconnected_outputs=disconnected_outputs,
        return_disconnected=return_disconnected,
        use_op_pushforward=True,
    )
    known = _tangents(values, dict(zip(wrt, directions, strict=False)))
    places, found = [], {}
    for value in values:
        place = value if value.owner is None else value.type(name=str(value))
        places.append(place)
        tangent = known.get(value)
        if tangent is None and value.owner is not None:
            # of other variables; an operation on the way that has no tangent is an error all the same
            (pushed,) = all_results(push([value], list(wrt), list(directions)))
            if pushed is not None and is_connected(pushed):
                tangent = known_tensor(value).zeros_like()
        if tangent is not None and is_connected(tangent):
            found[place] = tangent
    tangents = all_results(push(places, [*wrt, *found], [*directions, *found.values()]))
    return [
        tangent if tangent is None or place in found else clone_replace(tangent, {place: value})
        for tangent, place, value in zip(tangents, places, values, strict=True)
    ]


def _tangents(
    values: Sequence[Variable], given: dict[Variable, Variable]
) -> dict[Variable, Variable]:
    """Return the tangents of what the values are computed of and that depends on given variables."""
    known = dict(given)
    for node in order_of(values, given):
        if any(variable in known for variable in node.inputs):
            tangents = [
                _fitting(variable, known[variable])
                if variable in known
                else _of_constant(variable, node.op)
                for variable in node.inputs
            ]
            found = _of_results(node, tangents)
            of_some = isinstance(node.op, Elemwise) and not all(v in known for v in node.inputs)
            for output, tangent in zip(node.outputs, found, strict=True):
                # zeros like a variable are constant, though they are computed of it
                if is_connected(tangent) or not of_some:
                    known[output] = _as_large(output, tangent)
    return known


def _of_results(node: Apply, tangents: list[Variable]) -> list[Variable]:
    """Return the tangents of what an operation computes."""
    if not _is_graph(node.op):
        return node.op.pushforward(node.inputs, node.outputs, tangents)
    graph = copy_of_graph_inside(node.op)
    along = {
        place: place.type()
        for place, tangent in zip(graph.inputs, tangents, strict=True)
        if is_connected(tangent)
    }
    known = _tangents(graph.outputs, along)
    found = [known.get(output, disconnected_type()) for output in graph.outputs]
    given = dict(zip(graph.inputs, node.inputs, strict=True))
    given |= {along[p]: t for p, t in zip(graph.inputs, tangents, strict=True) if p in along}
    outside = iter(clone_replace([t for t in found if is_connected(t)], given))
    return [next(outside) if is_connected(tangent) else tangent for tangent in found]


def _is_graph(op: Op) -> bool:
    """Return whether an operator is a graph whose tangents only the graph gives."""
    own = is_a(op, OpFromGraph) and type(op).pushforward is OpFromGraph.pushforward
    return own and op.pushforward_overrides is None  # type: ignore[attr-defined]


def _of_constant(variable: Variable, op: Op) -> Variable:
    """Return the tangent of what does not depend on the variables, which some operations can do without.

    Of a product it stays, by which the tangent has a gradient by the other factor, of zeros.
    """
    if isinstance(op, Elemwise):
        needed = isinstance(op.scalar_op, Mul | TrueDiv)
    else:
        needed = not (isinstance(op, Scan) or _is_graph(op))
    zeros = getattr(variable, "zeros_like", None)
    return disconnected_type() if zeros is None or not needed else zeros()


def _as_large(variable: Variable, tangent: Variable) -> Variable:
    """Return the tangent with the dimensions of a variable; that of `zero_grad` is one number."""
    dimensions = getattr(variable.type, "ndim", 0)
    if getattr(tangent.type, "ndim", dimensions) < dimensions:
        return known_tensor(variable).zeros_like() + tangent
    return tangent


def _fitting(variable: Variable, tangent: Variable) -> Variable:
    """Return the tangent in the precision of a floating variable; that of an integer may be floating."""
    dtype = getattr(variable.type, "dtype", None)
    if dtype in continuous_dtypes and getattr(tangent.type, "dtype", dtype) != dtype:
        return known_tensor(tangent).astype(dtype)
    return tangent


def _placeholder(variable: Variable) -> Variable:
    placeholder = variable.type()
    # its test value too, from which operations on it are tested
    placeholder.tag = copy.copy(variable.tag)
    return placeholder


def _to_hold(values: Sequence[Variable], wrt: Sequence[Variable]) -> list[Variable]:
    """Discrete operands, and values made from operands, of what is not an element-wise operation."""
    if any(_is_discrete(value) for value in values):
        # which has no derivative, as its operations say
        return []
    found: dict[Variable, None] = {}
    own = {*values, *wrt}
    for node in order_of(values, set(wrt)):
        if not isinstance(node.op, Elemwise):
            found.update(dict.fromkeys(v for v in (*node.inputs, *node.outputs) if _is_discrete(v)))
    return [variable for variable in found if variable not in own]


def _is_discrete(variable: Variable) -> bool:
    return variable.owner is not None and getattr(variable.type, "dtype", None) in discrete_dtypes
