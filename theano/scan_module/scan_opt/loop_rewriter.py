"""What every rewrite of loops has in common: it visits the loops and notes what it decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pytensor.graph.basic import Apply
from pytensor.graph.features import Feature
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import GraphRewriter
from pytensor.scan.op import Scan as PyTensorScan


@dataclass(frozen=True)
class Decision:
    """What a rewrite did to something of a loop, or why it did nothing.

    Attributes
    ----------
    loop
        The name of the loop.
    rewrite
        The name of the rewrite.
    subject
        What the decision is about, such as a product.
    applied
        Whether the rewrite applied.
    detail
        What was done, or why it was not.
    """

    loop: str
    rewrite: str
    subject: str
    applied: bool
    detail: str


@dataclass(eq=False)
class LoopHistory(Feature):
    """The decisions of all rewrites of loops, kept with the graph that they were made in."""

    decisions: list[Decision] = field(default_factory=list)
    before: dict[str, object] = field(default_factory=dict)

    def clone(self) -> LoopHistory:
        return LoopHistory(list(self.decisions), dict(self.before))


def history_of(graph: FunctionGraph) -> LoopHistory:
    """The history attached to a graph; attached now if it has none."""
    for feature in graph._features:
        if isinstance(feature, LoopHistory):
            return feature
    history = LoopHistory()
    graph.attach_feature(history)
    return history


def loops_of(graph: FunctionGraph) -> Iterator[Apply]:
    """The nodes of the graph that are loops, each before those that read it."""
    for node in graph.toposort():
        if isinstance(node.op, PyTensorScan):
            yield node


class LoopRewriter(GraphRewriter):
    """A rewrite that is applied to each loop of a graph once.

    Subclasses implement ``rewrite_loop``; ``name`` is what reports call them.
    """

    def apply(self, graph: FunctionGraph) -> None:
        """Visit each loop."""
        for node in list(loops_of(graph)):
            if node in graph.apply_nodes:
                self.rewrite_loop(graph, node)

    def rewrite_loop(self, graph: FunctionGraph, node: Apply) -> None:
        """Rewrite one loop, if that is possible."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to rewrite a loop")

    def note(
        self, graph: FunctionGraph, node: Apply, subject: object, applied: bool, detail: str
    ) -> None:
        """Keep a decision for the report."""
        history_of(graph).decisions.append(
            Decision(node.op.name or "scan", self.name, str(subject), applied, detail)
        )
