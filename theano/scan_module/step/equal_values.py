"""Values of a step that are equal because they are computed alike."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.op import Op

from theano.pytensor_internals.graphs.graph import HasInnerGraph
from theano.pytensor_internals.graphs.order import order_of
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class _WithGraph:
    """An operation with a graph inside, which is compared where all else is equal."""

    op: Any

    def __hash__(self) -> int:
        return hash((type(self.op), len(self.op.inner_inputs), len(self.op.inner_outputs)))


class NumberedValues:
    """Values by number: two have the same if they are the same operations of equal values.

    Each value is looked at once, however many are compared with how many.

    Parameters
    ----------
    equal
        Inputs of the step, and the inputs that they are taken to be equal to.
    """

    def __init__(self, equal: Mapping[Variable, Variable]):
        self._equal = equal
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[Variable, int] = {}

    def of(self, value: Variable) -> int:
        """Return the number of a value of the step."""
        for node in order_of([value], self._known):
            inputs = tuple(self._of_input(variable) for variable in node.inputs)
            number = self._number((_comparable(node.op), inputs))
            for place, output in enumerate(node.outputs):
                self._known[output] = self._number((number, place))
        return self._of_input(value)

    def _of_input(self, variable: Variable) -> int:
        if variable not in self._known:
            self._known[variable] = self._number(_leaf(self._equal.get(variable, variable)))
        return self._known[variable]

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def _comparable(op: Op) -> Hashable:
    return _WithGraph(op) if isinstance(op, HasInnerGraph) else op


def _leaf(variable: Variable) -> Hashable:
    data = variable.data if isinstance(variable, Constant) else None
    if isinstance(data, np.ndarray) and data.dtype != object:
        return data.dtype.str, data.shape, data.tobytes()
    return variable
