"""The history of a graph's loops while it was compiled, kept with the graph.

Rewrites build loops again, and loops may share a name. So each loop that is recorded before the
first rewrite gets a number, and a loop that comes from recorded ones carries their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.graph import Feature, features_of, register_feature_callback
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.scan_module.loop.arguments import Loop, Trace, unpack
from theano.scan_module.loop.roles import Roles
from theano.scan_module.step.products import products_among
from theano.support.data_classes import dataclass

# How many operations (slices, mostly) may lie between a loop and what a rewrite replaces.
FARTHEST_READ = 4


@dataclass(frozen=True)
class Decision:
    """A decision of a rewrite about something of a loop: what it did, or why it did nothing.

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
    origins
        The numbers of the recorded loops that the loop comes from.
    heading
        Under which heading a report prints it, if the rewrite applied.
    """

    loop: str
    rewrite: str
    subject: str
    applied: bool
    detail: str
    origins: tuple[int, ...] = ()
    heading: str = ""


@dataclass(frozen=True, eq=False)
class LoopRecord:
    """A loop as it was before the first rewrite; what is said of it is worked out when it is read.

    Attributes
    ----------
    number
        Its number in the graph.
    node
        Its node, in a copy of the graph that no rewrite touches.
    """

    number: int
    node: Apply

    @property
    def name(self) -> str:
        """Its name."""
        return self.node.op.name or "scan"

    @cached_property
    def loop(self) -> Loop:
        """Its arguments."""
        return unpack(self.node)

    @cached_property
    def products(self) -> int:
        """Return how many products its step held."""
        return len(products_among(self.node.op.fgraph.toposort()))

    @property
    def saved(self) -> tuple[Trace, ...]:
        """The traces that the loop has for gradients only."""
        extended = getattr(self.node.op, "extends", None)
        return () if extended is None else self.loop.traces[Roles.of(extended).traces :]

    @property
    def policy(self) -> str | None:
        """The value of ``scan.save`` that chose them; None without any."""
        return getattr(self.node.op, "save_policy", None)

    def __getstate__(self) -> dict:
        return {"number": self.number, "node": self.node}


def origins_of(node: Apply) -> tuple[int, ...]:
    """Return the numbers of the recorded loops that a loop comes from."""
    return getattr(node.tag, "loop_origins", ())


def _is_loop(variable: Variable) -> bool:
    return variable.owner is not None and is_a(variable.owner.op, PyTensorScan)


@dataclass(eq=False)
class LoopHistory(Feature):
    """The loops of a graph before the first rewrite, and the decisions about them.

    It follows the loops through PyTensor's rewrites too: a loop that takes the place of another
    one gets its numbers.
    """

    decisions: list[Decision] = field(default_factory=list)
    records: list[LoopRecord] = field(default_factory=list)
    inputs: tuple[Variable, ...] = ()
    _visited: tuple[int, ...] | None = field(default=None, repr=False)
    _unknown: set[Apply] = field(default_factory=set, repr=False)

    def clone(self) -> LoopHistory:
        """Return a copy, for a copy of the graph."""
        return LoopHistory(list(self.decisions), list(self.records), self.inputs)

    def remembered(self) -> list[Variable]:
        """Return what the records have of the graph as it was; makes this go where its graph goes."""
        nodes = [record.node for record in self.records]
        return [variable for node in nodes for variable in (*node.inputs, *node.outputs)]

    @contextmanager
    def visiting(self, node: Apply) -> Iterator[None]:
        """While this lasts, loops that join the graph come from ``node``."""
        self._visited = origins_of(node)
        try:
            yield
        finally:
            self._visited = None

    @register_feature_callback
    def on_import(self, graph: FunctionGraph, node: Apply, reason: object) -> None:
        """Give a loop that one of our rewrites made the numbers of the loop that it rewrites."""
        if is_a(node.op, PyTensorScan) and not origins_of(node):
            if self._visited is None:
                self._unknown.add(node)
            else:
                node.tag.loop_origins = self._visited

    @register_feature_callback
    def on_prune(self, graph: FunctionGraph, node: Apply, reason: object) -> None:
        """Forget a loop that left the graph."""
        self._unknown.discard(node)

    @register_feature_callback
    def on_change_input(
        self,
        graph: FunctionGraph,
        node: Apply,
        i: int,
        r: Variable,
        new_r: Variable,
        reason: object = None,
    ) -> None:
        """Give a loop that replaces another one its numbers."""
        if self._visited is not None:
            return
        if _is_loop(r) and _is_loop(new_r):
            assert r.owner is not None and new_r.owner is not None
            self._follow(r.owner, new_r.owner)
        elif self._unknown:
            new = _nearest_loop(new_r)
            old = _nearest_loop(r) if new in self._unknown else None
            if old is not None and new is not None:
                self._follow(old, new)

    def _follow(self, old: Apply, new: Apply) -> None:
        # ScanMerge joins the names of the loops that it makes one
        alike = set(str(old.op.name).split("&")) <= set(str(new.op.name).split("&"))
        if new in self._unknown or alike:
            origins = {*origins_of(old), *origins_of(new)}
            if origins:
                new.tag.loop_origins = tuple(sorted(origins))
                self._unknown.discard(new)


def _nearest_loop(variable: Variable) -> Apply | None:
    for _ in range(FARTHEST_READ):
        if variable.owner is None:
            return None
        if _is_loop(variable):
            return variable.owner
        if not variable.owner.inputs:
            return None
        variable = variable.owner.inputs[0]
    return None


def find_history(graph: FunctionGraph) -> LoopHistory | None:
    """Return the history attached to a graph, if there is one."""
    for feature in features_of(graph):
        if isinstance(feature, LoopHistory):
            return feature
    return None


def history_of(graph: FunctionGraph) -> LoopHistory:
    """Return the history attached to a graph; attached now if it has none."""
    history = find_history(graph)
    if history is None:
        history = LoopHistory()
        graph.attach_feature(history)
    return history
