"""A test of whether a sum or a product is in PyTensor's canonical form already, which most are.

PyTensor takes each apart, its constants are multiplied out, and the result is compared with
what was there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Abs
from pytensor.tensor.elemwise import DimShuffle, Elemwise

from theano.pytensor_internals.graphs.kinds import is_a

# integers beyond it are changed when PyTensor divides them by one
LARGEST = 2.0**53
# sums of more terms are not tested: sums that share terms may have as many as there are paths to them
MOST_TERMS = 1000


def question_of_form(
    main: Elemwise, inverse: Elemwise, reciprocal: Elemwise, neutral: float
) -> Callable[[FunctionGraph, Apply], bool]:
    """Return a question of nodes whether they may be brought into canonical form, and are not in it.

    Parameters
    ----------
    main, inverse, reciprocal
        Addition, subtraction and negation; or multiplication, division and reciprocal.
    neutral
        What does not change anything: 0, or 1.
    """
    kinds = {type(op.scalar_op): op for op in (main, inverse, reciprocal)}

    def part_of_form(node: Apply | None) -> Elemwise | None:
        op = None if node is None else node.op
        return kinds.get(type(op.scalar_op)) if is_a(op, Elemwise) else None

    def may_change(fgraph: FunctionGraph, node: Apply) -> bool:
        if any(part_of_form(client) for client, _ in fgraph.clients[node.outputs[0]]):
            # the node that reads it is asked
            return False
        op = part_of_form(node)
        if op is reciprocal or op is None:
            return True
        above, below = _unpacked(node, part_of_form, inverse, reciprocal)
        if len(above) + len(below) > MOST_TERMS:
            return True
        longer = not below and len(node.inputs) < len(above)
        return longer or _may_be_simplified(above, below, node.outputs[0], neutral)

    return may_change


def _unpacked(
    node: Apply,
    part_of_form: Callable[[Apply | None], Elemwise | None],
    inverse: Any,
    reciprocal: Any,
) -> tuple[list[Variable], list[Variable]]:
    """Return the terms that are added and those that are subtracted, or factors and divisors."""
    parts: tuple[list[Variable], list[Variable]] = ([], [])
    waiting: list[tuple[Variable, int]] = [(node.outputs[0], 0)]
    while waiting and len(parts[0]) + len(parts[1]) <= MOST_TERMS:
        variable, turned = waiting.pop()
        op = part_of_form(variable.owner)
        if op is None:
            inside = _before_reordering(variable)
            if inside is variable or part_of_form(inside.owner) is None:
                parts[turned].append(inside)
            else:
                waiting.append((inside, turned))
            continue
        inputs = [(operand, turned) for operand in variable.owner.inputs]
        if op is inverse:
            inputs[1] = inputs[1][0], 1 - turned
        elif op is reciprocal:
            inputs[0] = inputs[0][0], 1 - turned
        waiting.extend(reversed(inputs))
    return parts


def _before_reordering(variable: Any) -> Any:
    while variable.owner is not None and is_a(variable.owner.op, DimShuffle):
        variable = variable.owner.inputs[0]
    return variable


def _may_be_simplified(above: list[Any], below: list[Any], result: Any, neutral: float) -> bool:
    """Return whether constants may be put together, or something stands above and below."""
    if any(is_a(v, Constant) or _is_absolute(v) for v in below):
        return True
    constants = [k for k, v in enumerate(above) if is_a(v, Constant)]
    if len(constants) > 1 or len(constants) == len(above):
        return True
    if constants and not (constants == [0] and _stays(above[0], result, neutral)):
        return True
    return not set(above).isdisjoint(below)


def _is_absolute(variable: Any) -> bool:
    node = variable.owner
    return node is not None and is_a(node.op, Elemwise) and is_a(node.op.scalar_op, Abs)


def _stays(constant: Any, result: Any, neutral: float) -> bool:
    """Return whether a constant that is the first term, or factor, is left where it is."""
    # one of another dtype gets that of the result
    if constant.data.size != 1 or constant.type.dtype != result.type.dtype:
        return False
    number = constant.data.item()
    if isinstance(number, complex) or not np.isfinite(number):
        return False
    return number not in (0, neutral) and abs(number) < LARGEST
