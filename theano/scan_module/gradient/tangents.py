"""Directional derivatives by the operations' own rules, in which discrete values stay as they are.

PyTensor's rules put the direction in the place of the operand. Where the operand is an integer
that only depends on the variables by comparisons or rounding, an operation that adds up integers,
or makes an array of them, is then made of floating numbers, which it refuses.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from pytensor.gradient import pushforward
from pytensor.graph.basic import Variable
from pytensor.graph.replace import clone_replace
from pytensor.graph.traversal import toposort
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.type import discrete_dtypes


def tangents_of(
    values: Sequence[Variable],
    wrt: Sequence[Variable],
    directions: Sequence[Variable],
    **options: str,
) -> list[Any]:
    """The derivatives of values along directions.

    Parameters
    ----------
    values, wrt, directions
        What is differentiated, with respect to what, and one direction for each of these.
    **options
        ``disconnected_outputs`` and ``return_disconnected`` of PyTensor's ``pushforward``.

    Raises
    ------
    NotImplementedError
        If an operation has no rule.
    """
    held = {variable: _placeholder(variable) for variable in _to_hold(values, wrt)}
    if not held:
        return pushforward(
            list(values), list(wrt), list(directions), use_op_pushforward=True, **options
        )
    variables = clone_replace([*values, *wrt], held)
    found = pushforward(
        variables[: len(values)],
        variables[len(values) :],
        list(directions),
        use_op_pushforward=True,
        **options,
    )
    back = {place: variable for variable, place in held.items()}
    return [tangent if tangent is None else clone_replace(tangent, back) for tangent in found]


def _placeholder(variable: Variable) -> Variable:
    placeholder = variable.type()
    # its test value too, from which operations on it are tested
    placeholder.tag = copy.copy(variable.tag)
    return placeholder


def _to_hold(values: Sequence[Variable], wrt: Sequence[Variable]) -> list[Variable]:
    """Discrete operands, and values made of operands, of what is not an element-wise operation."""
    if any(_is_discrete(value) for value in values):
        # which has no derivative, as its operations say
        return []
    found: dict[Variable, None] = {}
    own = {*values, *wrt}
    for node in toposort(list(values), blockers=list(wrt)):
        if not isinstance(node.op, Elemwise):
            found.update(dict.fromkeys(v for v in (*node.inputs, *node.outputs) if _is_discrete(v)))
    return [variable for variable in found if variable not in own]


def _is_discrete(variable: Variable) -> bool:
    return variable.owner is not None and getattr(variable.type, "dtype", None) in discrete_dtypes
