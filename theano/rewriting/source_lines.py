"""Nodes that rewrites put into a graph get the user's line of what they replace."""

from __future__ import annotations

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Composite

from theano.pytensor_internals.graphs.graph import Feature, features_of
from theano.pytensor_internals.graphs.rewriting import GraphRewriter, copy_stack_trace


class LinesKept(GraphRewriter):
    """Has all rewrites after it leave nodes of which a line is known; many forget it."""

    name = "lines_kept"

    def apply(self, graph: FunctionGraph) -> None:
        """Watch the graph from now on."""
        if not any(isinstance(feature, _GivesLines) for feature in features_of(graph)):
            graph.attach_feature(_GivesLines())


class _GivesLines(Feature):
    """Gives nodes that come without a line that of the variable which they are put in place of.

    The line of what a node is computed from says as much, and is that of the program where the
    node was made by a rewrite of a gradient, whose own line is the call of `theano.grad`.
    """

    def __init__(self) -> None:
        self.without: list[Apply] = []

    def on_import(self, graph: FunctionGraph, node: Apply, reason: object) -> None:
        """Note a node that has none. Nodes come just before the change for which they are made."""
        if not _has_line(node):
            self.without.append(node)

    def on_change_input(
        self,
        graph: FunctionGraph,
        node: Apply,
        position: int,
        old: Variable,
        new: Variable,
        reason: object = None,
    ) -> None:
        """Give those that have none nearer that of what was there before; and one that was fused."""
        for made in self.without:
            if _is_fused(made) or not _reads_what_has_a_line(made):
                for variable in made.outputs:
                    copy_stack_trace(old, variable)
        self.without.clear()

    def clone(self) -> _GivesLines:
        """One for another graph."""
        return _GivesLines()


def _is_fused(node: Apply) -> bool:
    return isinstance(getattr(node.op, "scalar_op", None), Composite)


def _has_line(node: Apply) -> bool:
    return bool(getattr(node.outputs[0].tag, "trace", None))


def _reads_what_has_a_line(node: Apply) -> bool:
    return any(v.owner is not None and _has_line(v.owner) for v in node.inputs)
