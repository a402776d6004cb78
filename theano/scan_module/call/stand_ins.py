"""Variables that stand for others while a graph is built on them, without their history.

PyTensor infers the static shape of every buffer that it allocates from all that the lengths are
computed from: on top of other loops, again and again the whole graph below. Built on stand-ins,
a buffer costs what its own few nodes do.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.traversal import toposort

from theano.scan_module.loop.arguments import fresh_like


class StandIns:
    """Pairs of stand-ins and what they stand for, until a graph is connected."""

    def __init__(self) -> None:
        self._meant: dict[Variable, Variable] = {}

    def stand_in(self, value: Any) -> Any:
        """A variable of the same type without a history; what has none is returned itself."""
        if not isinstance(value, Variable) or value.owner is None:
            return value
        found = fresh_like(value)
        found.tag = copy.copy(value.tag)
        self._meant[found] = value
        return found

    def connect(self, outputs: Sequence[Variable]) -> list[Variable]:
        """Put what is meant in the place of the stand-ins, in nodes that nobody else has seen."""
        for node in toposort(list(outputs), blockers=self._meant.values()):
            if not self._meant.keys().isdisjoint(node.inputs):
                node.inputs[:] = [self._meant.get(variable, variable) for variable in node.inputs]
        return [self._meant.get(variable, variable) for variable in outputs]
