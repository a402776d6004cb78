"""Stages on the host: what XLA has no program for, run by the native engine or by Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph

from theano.link.native import NativeLinker
from theano.link.native.generators_as_words import GeneratorsAsWords
from theano.link.xla.plan import Stage


class HostProgram:
    """A stage compiled for the host.

    Parameters
    ----------
    stage : Stage
    """

    def __init__(self, stage: Stage):
        # the copy holds the stage's nodes only: what they read is made from nothing
        leaves = {variable: variable.type() for variable in stage.inputs}
        known: dict[Any, Any] = dict(leaves)
        self._originals: dict[Apply, Apply] = {}
        for node in stage.nodes:
            copied = node.clone_with_new_inputs([known.get(v, v) for v in node.inputs])
            self._originals[copied] = node
            known.update(zip(node.outputs, copied.outputs, strict=True))
        graph = FunctionGraph(list(leaves.values()), [known[v] for v in stage.outputs], clone=False)
        # a loop that draws is on the host: in C it draws from words
        GeneratorsAsWords().rewrite(graph)
        self.machine, self._given, self._made = NativeLinker().accept(graph).make_thunk()[:3]

    def __call__(self, values: Sequence[Any]) -> list[Any]:
        """Return the outputs for values of the inputs, as the host has them."""
        for box, value in zip(self._given, values, strict=True):
            box.storage[0] = value
        self.machine()
        made = [box.storage[0] for box in self._made]
        for box in self._made:
            # what was returned is the caller's: the next call must not write into it
            box.storage[0] = None
        return made

    def failed(self) -> tuple[Apply, list[Any]] | None:
        """Return the node that failed in the last call and the cells of its inputs, if one did."""
        position = self.machine.position_of_error
        if position < 0:
            return None
        node, thunk = self.machine.nodes[position], self.machine.thunks[position]
        return self._originals.get(node, node), [cell[0] for cell in getattr(thunk, "inputs", [])]
