"""Rewriting until nothing changes, in which each sweep after the first visits what changed.

PyTensor's equilibrium visits every node of the graph in each of its sweeps, and its last sweep
only finds that nothing is left to do. A chain of which each sweep rewrites one link costs its
length times the graph.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from time import perf_counter
from typing import Any

from pytensor.configdefaults import config
from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.rewrites_by_operation import RewritesByOperation
from theano.pytensor_internals.graphs.rewriting import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    NodeRewriter,
)
from theano.rewriting.changes import Changes, attached
from theano.rewriting.may_apply import NodeQuestion, graph_question, node_question
from theano.rewriting.rewrites.elementwise.constants_by_own_code import LAST_INSTEAD
from theano.rewriting.rewrites.elementwise.explicit_casts import (
    make_casts_explicit,
    make_casts_implicit,
)
from theano.rewriting.rewrites.of_pytensor.replacements import INSTEAD
from theano.rewriting.times_of_rewrites import SecondsByRewrite
from theano.rewriting.visits_by_operation import most_uses, report_endless_rewriting

# How far from a change a rewrite of one node looks: it matches patterns of its operands ...
LEVELS_OF_CLIENTS = 3
# ... and some ask who else uses what the node computes.
LEVELS_OF_OPERANDS = 1
# An equilibrium serves all graphs of a process.
LISTS_KEPT = 2000


class Equilibrium(EquilibriumGraphRewriter):
    """PyTensor's equilibrium of the same rewrites, reached by visiting what changed.

    The first sweep visits all nodes, the next ones those near a change, until one changes nothing.
    A last sweep of all nodes, as PyTensor's, found nothing in 2,500 graphs.

    Parameters
    ----------
    of
        PyTensor's rewriter, whose rewrites these are.
    """

    def __init__(self, of: EquilibriumGraphRewriter):
        super().__init__(
            of.global_rewriters,
            failure_callback=of.failure_callback,
            ignore_newtrees=of.ignore_newtrees,
            max_use_ratio=of.max_use_ratio,
            final_rewriters=[LAST_INSTEAD.get(each, each) for each in of.final_rewriters],
            cleanup_rewriters=of.cleanup_rewriters,
        )
        self.node_tracker = RewritesByOperation.of(of.node_tracker)
        self.name = of.name
        # by its identity a list of rewrites, which is kept, and `with_questions` of it: to look a
        # rewrite up in a table hashes it in Python, for each node
        self._asked: dict[int, tuple[Any, list[tuple[NodeRewriter, NodeQuestion | None]]]] = {}

    def with_questions(
        self, rewriters: list[NodeRewriter]
    ) -> list[tuple[NodeRewriter, NodeQuestion | None]]:
        """Return what takes the places of rewrites, each with what to ask before it is applied.

        Parameters
        ----------
        rewriters
            A list that the table of rewrites has given, which it gives again.
        """
        found = self._asked.get(id(rewriters))
        if found is None:
            if len(self._asked) >= LISTS_KEPT:
                self._asked.clear()
            instead = [INSTEAD.get(each, each) for each in rewriters]
            pairs = [(each, node_question(each)) for each in instead]
            found = self._asked[id(rewriters)] = (rewriters, pairs)
        return found[1]

    def apply(self, fgraph: FunctionGraph, start_from=None) -> SecondsByRewrite:
        """Rewrite the graph; return the seconds that each rewrite took."""
        make_casts_explicit(fgraph)
        with attached(fgraph, Changes()) as changes:
            seconds = _Run(self, fgraph, changes).until_nothing_changes()
        make_casts_implicit(fgraph)
        return seconds


class _Run:
    """One application of an equilibrium to one graph."""

    def __init__(self, rewriter: Equilibrium, fgraph: FunctionGraph, changes: Changes):
        self.rewriter, self.fgraph, self.changes = rewriter, fgraph, changes
        self.seconds = SecondsByRewrite()
        # to read a clock costs as much as a rewrite that does not apply
        self.timed = config.profile_optimizer
        self.uses: Counter[NodeRewriter | GraphRewriter] = Counter()
        self.largest = self.at_first = len(fgraph.apply_nodes)
        # which changes a whole-graph rewrite has seen
        self.seen: dict[GraphRewriter, int] = {}

    def until_nothing_changes(self) -> SecondsByRewrite:
        every_node = True
        while True:
            before = self.changes.count
            self.apply_whole(self.rewriter.global_rewriters)
            self.sweep(self.next_nodes(every_node))
            self.apply_whole(self.rewriter.final_rewriters)
            self.clean_up()
            if self.changes.count == before or self.used_too_often():
                return self.seconds
            every_node = False

    def next_nodes(self, every_node: bool) -> deque[Apply]:
        """Return the nodes of a sweep, inputs of the graph first."""
        order = in_order(self.fgraph)
        self.largest = max(self.largest, len(order))
        changed = self.changes.take()
        if every_node:
            return deque(order)
        near = near_nodes(self.fgraph, changed)
        return deque(node for node in order if node in near)

    def sweep(self, queue: deque[Apply]) -> None:
        """Apply the rewrites of nodes, from the outputs of the graph to its inputs."""
        rewriter, fgraph, changes = self.rewriter, self.fgraph, self.changes
        trackers = rewriter.node_tracker.get_trackers
        changes.queue = None if rewriter.ignore_newtrees else queue
        while queue:
            node = changes.current = queue.pop()
            if node not in fgraph.apply_nodes:
                continue
            for node_rewriter, question in rewriter.with_questions(trackers(node.op)):
                if question is not None and not question(fgraph, node):
                    continue
                start = perf_counter() if self.timed else 0.0
                done = rewriter.process_node(fgraph, node, node_rewriter, enforce_tracks=False)
                if self.timed:
                    self.seconds.add(node_rewriter, perf_counter() - start)
                if not done:
                    continue
                self.uses[node_rewriter] += 1
                self.clean_up()
                if self.uses[node_rewriter] > self.most_uses():
                    queue.clear()
                    break
                if node not in fgraph.apply_nodes:
                    break
        changes.queue = changes.current = None

    def apply_whole(self, rewriters: Iterable[GraphRewriter]) -> None:
        """Apply rewrites of the whole graph, those that have not seen it as it is."""
        for rewriter in rewriters:
            before = self.changes.count
            if self.seen.get(rewriter) == before:
                continue
            may_change = graph_question(rewriter)
            if may_change is not None and not may_change(self.fgraph):
                continue
            start = perf_counter()
            rewriter.apply(self.fgraph)
            self.seconds.add(rewriter, perf_counter() - start)
            if rewriter not in self.rewriter.cleanup_rewriters:
                # which follow the changes of others
                self.uses[rewriter] += self.changes.count != before
            self.seen[rewriter] = self.changes.count

    def clean_up(self) -> None:
        """Apply what follows each change, and does not walk through the graph."""
        self.apply_whole(self.rewriter.cleanup_rewriters)

    def most_uses(self) -> float:
        """Return how often a rewrite may be used."""
        return most_uses(self.at_first, self.largest, self.rewriter.max_use_ratio)

    def used_too_often(self) -> bool:
        """Return whether a rewrite seems never to end; says which, and those that were used as often."""
        if max(self.uses.values(), default=0) <= self.most_uses():
            return False
        report_endless_rewriting(self.rewriter.name, self.uses, self.at_first)
        return True


def near_nodes(fgraph: FunctionGraph, changed: Iterable[Apply]) -> set[Apply]:
    """Return the nodes whose rewrites may see a change."""
    present = [node for node in changed if node in fgraph.apply_nodes]
    near = set(present)
    level = present
    for _ in range(LEVELS_OF_CLIENTS):
        clients = {
            client for node in level for out in node.outputs for client, _ in fgraph.clients[out]
        }
        level = [node for node in clients if node not in near and node in fgraph.apply_nodes]
        near.update(level)
    level = present
    for _ in range(LEVELS_OF_OPERANDS):
        owners = {variable.owner for node in level for variable in node.inputs}
        level = [node for node in owners if node is not None and node not in near]
        near.update(level)
    return near
