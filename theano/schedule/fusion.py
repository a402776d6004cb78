"""Element-wise operations that become one: it names the user's line of the last of them."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_base.graphs.graph import Feature
from theano.pytensor_base.graphs.rewriting import copy_stack_trace
from theano.pytensor_base.operations.tensor_rewrites import FusionOptimizer


class Fusion(FusionOptimizer):
    """PyTensor's fusion, which forgets the lines of what it replaces."""

    def __init__(self, of: FusionOptimizer):
        super().__init__()
        vars(self).update(vars(of))

    def apply(self, fgraph: FunctionGraph) -> Any:
        """Rewrite the graph."""
        lines = _CopiesLines()
        fgraph.attach_feature(lines)
        try:
            return super().apply(fgraph)
        finally:
            fgraph.remove_feature(lines)


class _CopiesLines(Feature):
    """Gives what takes the place of a variable its line."""

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        if new_var.owner is not None and not getattr(new_var.tag, "trace", None):
            copy_stack_trace(var, new_var)
