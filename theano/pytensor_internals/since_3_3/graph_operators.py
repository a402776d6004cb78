"""Operators of graphs that read shared variables which nobody lists, and that compile themselves.

PyTensor asks for the shared variables as inputs, and compiles the graph as the function around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.compile.builders import OpFromGraph as GivenAllInputs
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.traversal import graph_inputs

# settings of a compilation that PyTensor looks at when the operator is made
_CHECKED = ("givens", "on_unused_input", "updates")


class OpFromGraph(GivenAllInputs):
    """An operator that is a graph.

    Attributes
    ----------
    shared_inputs : list of SharedVariable
        Those that the graph reads and that were not listed: its last inputs.
    kwargs : dict
        How the graph is compiled.
    """

    def __init__(
        self,
        inputs: list[Variable],
        outputs: list[Variable],
        *,
        pullback: Any = None,
        pushforward: Any = None,
        connection_pattern: Any = None,
        name: str | None = None,
        inline: bool = False,
        strict: bool = False,
        destroy_map: Any = None,
        **kwargs: Any,
    ):
        if not (isinstance(inputs, list) and isinstance(outputs, list)):
            raise TypeError("Inputs and outputs must be lists")
        self.shared_inputs = _not_listed(inputs, outputs)
        if strict and self.shared_inputs:
            raise ValueError(
                "All variables needed to compute inner-graph must be provided as inputs under "
                f"strict=True: it depends on the shared variables {self.shared_inputs}"
            )
        super().__init__(
            [*inputs, *self.shared_inputs],
            outputs,
            inline=inline,
            pullback=pullback,
            pushforward=pushforward,
            connection_pattern=connection_pattern,
            name=name,
            destroy_map=destroy_map,
            **{key: value for key, value in kwargs.items() if key in _CHECKED},
        )
        # as PyTensor, whose overrides of gradients get inputs that they do not read
        self.kwargs = {"on_unused_input": "ignore", **kwargs}

    def make_node(self, *inputs: object) -> Apply:
        """Return a node of the listed inputs, or of all."""
        listed = len(self.input_types) - len(self.shared_inputs)
        if len(inputs) == listed:
            inputs = (*inputs, *self.shared_inputs)
        elif len(inputs) != len(self.input_types):
            raise ValueError(f"{self}: expected at least {listed} inputs, got {len(inputs)}")
        return super().make_node(*inputs)

    def make_thunk(self, node: Apply, *arguments: Any, **settings: Any) -> Any:
        """Return what runs the operator: `fn` compiles the graph when it is first asked for."""
        return Op.make_thunk(self, node, *arguments, **settings)


def _not_listed(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> list[SharedVariable]:
    if not all(isinstance(variable, Variable) for variable in (*inputs, *outputs)):
        return []
    found = graph_inputs(outputs, inputs)
    return [v for v in dict.fromkeys(found) if isinstance(v, SharedVariable) and v not in inputs]
