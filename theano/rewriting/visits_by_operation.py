"""Rewrites that would never end: one makes again what it looks for, or two undo each other."""

from __future__ import annotations

import logging
from collections import Counter, deque
from copy import copy
from typing import Any

from pytensor.configdefaults import config
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import apply_ancestors

from theano.pytensor_internals.graphs.order import order_of
from theano.pytensor_internals.graphs.rewrites_by_operation import RewritesByOperation
from theano.pytensor_internals.graphs.rewriting import SequentialNodeRewriter, WalkingGraphRewriter
from theano.rewriting.changes import NewNodes, attached

_log = logging.getLogger(__name__)

# A rewrite may be used on a small graph as often as on one of so many nodes.
FEWEST_NODES = 20
# Beyond so many times the graph that was given, what a rewrite adds does not let it go on.
MOST_GROWTH = 5


def most_uses(at_first: int, largest: int, ratio: float | None) -> float:
    """Return how often a rewrite may be used, as PyTensor decides it for graphs that stay as large.

    Parameters
    ----------
    at_first, largest
        How many nodes the graph had when it was given, and how many it had at most.
    ratio
        Uses for each node; the flag ``optdb__max_use_ratio``.
    """
    return max(min(largest, MOST_GROWTH * at_first), FEWEST_NODES) * (ratio or 0)


def report_endless_rewriting(where: object, uses: Counter, at_first: int) -> None:
    """Log an error that names the rewrites that were used most.

    Raises
    ------
    AssertionError
        Instead, where the flag ``on_opt_error`` is 'raise'.
    """
    most = max(uses.values())
    named = [f"{each} ({n} times)" for each, n in uses.most_common() if n > most / 4]
    message = (
        f"{where}: {' and '.join(named)} were applied without end to a graph of {at_first} node(s):"
        " one makes again what it looks for, or two undo each other. The graph stays as they left"
        " it last; the flag optdb__max_use_ratio says how many times the number of nodes is allowed"
    )
    if config.on_opt_error == "raise":
        raise AssertionError(message)
    _log.error(message)


class _WithoutEnd(Exception):
    """A rewrite was used too often."""


class Walk(WalkingGraphRewriter):
    """PyTensor's walk along a graph, past the nodes that its rewrite does not ask for.

    It ends where its rewrite makes new nodes for ever.

    Parameters
    ----------
    of
        PyTensor's.
    node_rewriter
        What it applies to each node.
    """

    def __init__(self, of: WalkingGraphRewriter, node_rewriter: Any):
        vars(self).update(vars(of))
        self.node_rewriter = node_rewriter
        self.asked_for = RewritesByOperation([node_rewriter]).get_trackers
        self.uses: Counter = Counter()
        self.limit = 0.0

    def apply(self, fgraph: FunctionGraph, start_from: object = None) -> Any:
        """Rewrite the graph."""
        asked_for = [node for node in fgraph.apply_nodes if self.asked_for(node.op)]
        if not asked_for:
            return None
        at_first = len(fgraph.apply_nodes)
        walk = copy(self)
        walk.uses = Counter()
        walk.limit = most_uses(at_first, at_first * MOST_GROWTH, config.optdb__max_use_ratio)
        try:
            if start_from or len(asked_for) > 1:
                asked_for = walk._in_order(start_from or fgraph.outputs)
            walk._visit(fgraph, asked_for)
        except _WithoutEnd:
            report_endless_rewriting(self.name or "walk", walk.uses, at_first)
        return None

    def _in_order(self, start_from: Any) -> list[Apply]:
        """Return the nodes that the rewrite asks for."""
        order = apply_ancestors(start_from) if self.order == "dfs" else order_of(start_from)
        return [node for node in order if self.asked_for(node.op)]

    def _visit(self, fgraph: FunctionGraph, nodes: list[Apply]) -> None:
        queue = deque(nodes)
        take = queue.pop if self.order == "out_to_in" else queue.popleft
        new_nodes = NewNodes(self.asked_for)
        new_nodes.queue = None if self.ignore_newtrees else queue
        with attached(fgraph, new_nodes):
            while queue:
                node = new_nodes.current = take()
                if node in fgraph.apply_nodes:
                    self.process_node(fgraph, node, enforce_tracks=False)

    def process_node(self, fgraph, node, node_rewriter=None, enforce_tracks=True):
        """Rewrite a node; the rewrites are those that the one of this walk consists of."""
        done = super().process_node(fgraph, node, node_rewriter, enforce_tracks)
        if done:
            self.uses[getattr(self.node_rewriter, "last", None) or self.node_rewriter] += 1
            if self.uses.total() > self.limit:
                raise _WithoutEnd
        return done


class InTurn(SequentialNodeRewriter):
    """PyTensor's rewrites of a node one after the other, which end where they would not.

    Attributes
    ----------
    last
        The one that was used last.
    """

    last: Any = None

    def __init__(self, *rewriters: Any, **options: Any):
        super().__init__(*rewriters, **options)
        self.tracker = RewritesByOperation(rewriters)

    def transform(self, fgraph: FunctionGraph, node: Apply, enforce_tracks: bool = False) -> Any:
        """Return what takes the place of a node's results."""
        uses: Counter = Counter()
        replaced = None
        while True:
            for rewrite in self.tracker.get_trackers(node.op):
                found = rewrite.transform(fgraph, node, enforce_tracks=False)
                if found:
                    break
            else:
                return replaced
            self.last = rewrite
            uses[rewrite] += 1
            first = found[0] if isinstance(found, list | tuple) else next(iter(found.values()))
            if not self.apply_all_rewrites or first.owner is None:
                return found
            if uses.total() > most_uses(1, 1, config.optdb__max_use_ratio):
                report_endless_rewriting(self.name or "rewrites in turn", uses, 1)
                return None
            replaced, node = found, first.owner
