"""The canonical forms of sums and products, and a test of whether one is in its form already: most are.

PyTensor takes each apart, its constants are multiplied out, and the result is compared with
what was there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Abs
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import add, mul, neg, reciprocal, sub, true_div

from theano.pytensor_internals.graphs.kinds import is_a

# integers beyond it are changed when PyTensor divides them by one
LARGEST = 2.0**53
# Sums of more terms, those of shared sums among them, are not looked through: there may be as many as
# there are paths to them, and each of the shared sums is asked.
MOST_TERMS = 60


class Form:
    """The canonical form of sums, or of products.

    Parameters
    ----------
    main, inverse, reciprocal
        Addition, subtraction and negation; or multiplication, division and reciprocal.
    neutral
        What does not change anything: 0, or 1.
    """

    def __init__(self, main: Elemwise, inverse: Elemwise, reciprocal: Elemwise, neutral: float):
        self.main, self.inverse, self.reciprocal, self.neutral = main, inverse, reciprocal, neutral
        self._kinds = {type(op.scalar_op): op for op in (main, inverse, reciprocal)}

    def part(self, node: Apply | None) -> Elemwise | None:
        """Return which of the three operations a node is; None if it is another."""
        op = None if node is None else node.op
        return self._kinds.get(type(op.scalar_op)) if is_a(op, Elemwise) else None

    def may_change(self, fgraph: FunctionGraph, node: Apply) -> bool:
        """Return whether a node may be brought into this form, and is not in it."""
        if self.is_within_another(fgraph, node):
            return False
        op = self.part(node)
        if op is self.reciprocal or op is None:
            return True
        *parts, some_are_shared = self.unpacked_but_for_shared(fgraph, node)
        above, below = ([_before_reordering(v) for v in part] for part in parts)
        longer = not below and len(node.inputs) < len(above)
        if longer or _may_be_simplified(above, below, node.outputs[0], self.neutral):
            return True
        return some_are_shared and self.cancels(node)

    def is_within_another(self, fgraph: FunctionGraph, node: Apply) -> bool:
        """Return whether one sum, or product, alone reads a node: that is then asked for both."""
        clients = fgraph.clients[node.outputs[0]]
        return len(clients) == 1 and self.part(clients[0][0]) is not None

    def unpacked_but_for_shared(
        self, fgraph: FunctionGraph, node: Apply
    ) -> tuple[list[Variable], list[Variable], bool]:
        """Return the terms that are added and those that are subtracted, or factors and divisors.

        A part that others read, too, is one term; the last result says whether there is one.
        """
        parts: tuple[list[Variable], list[Variable]] = ([], [])
        waiting, some_are_shared = self._operands(node, 0), False
        while waiting:
            variable, turned = waiting.pop()
            has_readers = len(fgraph.clients[variable]) > 1
            while _has_axes_that_are_added(variable):
                variable = variable.owner.inputs[0]
                has_readers = has_readers or len(fgraph.clients[variable]) > 1
            if self.part(variable.owner) is None:
                parts[turned].append(variable)
            elif has_readers:
                some_are_shared = True
                parts[turned].append(variable)
            else:
                waiting.extend(self._operands(variable.owner, turned))
        return *parts, some_are_shared

    def cancels(self, node: Apply) -> bool:
        """Return whether something may stand above and below, where few shared parts are unpacked, too."""
        parts: tuple[list[Variable], list[Variable]] = ([], [])
        above, below = parts
        waiting = self._operands(node, 0)
        while waiting:
            if len(above) + len(below) + len(waiting) > MOST_TERMS:
                return False
            variable, turned = waiting.pop()
            variable = _before_reordering(variable)
            if self.part(variable.owner) is None:
                parts[turned].append(variable)
            else:
                waiting.extend(self._operands(variable.owner, turned))
        return not set(above).isdisjoint(below) or any(map(_is_absolute, below))

    def _operands(self, node: Apply, turned: int) -> list[tuple[Variable, int]]:
        """Return the operands, the last one first, and whether each is below, which `turned` swaps."""
        inputs: list[tuple[Variable, int]] = [(operand, turned) for operand in node.inputs]
        op = self.part(node)
        if op is self.inverse:
            inputs[1] = inputs[1][0], 1 - turned
        elif op is self.reciprocal:
            inputs[0] = inputs[0][0], 1 - turned
        return inputs[::-1]


SUMS = Form(add, sub, neg, 0)
PRODUCTS = Form(mul, true_div, reciprocal, 1)


def _has_axes_that_are_added(variable: Variable) -> bool:
    """Return whether a variable has axes to the left that element-wise work adds by itself."""
    node = variable.owner
    return node is not None and is_a(node.op, DimShuffle) and bool(node.op.is_left_expand_dims)


def _before_reordering(variable: Variable) -> Any:
    while variable.owner is not None and is_a(variable.owner.op, DimShuffle):
        variable = variable.owner.inputs[0]
    return variable


def _may_be_simplified(above: list[Any], below: list[Any], result: object, neutral: float) -> bool:
    """Return whether constants may be put together, or something stands above and below."""
    if any(is_a(v, Constant) or _is_absolute(v) for v in below):
        return True
    constants = [k for k, v in enumerate(above) if is_a(v, Constant)]
    if len(constants) > 1 or len(constants) == len(above):
        return True
    if constants and not (constants == [0] and _stays(above[0], result, neutral)):
        return True
    return not set(above).isdisjoint(below)


def _is_absolute(variable: Variable) -> bool:
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
