"""The base of all rewrites of loops: it visits them, notes what it found, and replaces.

A rewrite is a subclass of `LoopRewriter` that says under which heading reports print what it did,
and whose ``check`` says of one loop what applies, what does not and why, and how to build what
takes its place. Nothing else knows the rewrite, but the list that says when it runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import apply_ancestors

from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.rewriting import GraphRewriter, copy_stack_trace
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.rewriting.times_of_rewrites import SecondsByLoop
from theano.scan_module.report.loop_history import Decision, history_of, origins_of
from theano.source_locations.lines import copy_lines
from theano.support.data_classes import dataclass


def loops_of(graph: FunctionGraph) -> Iterator[Apply]:
    """Yield the nodes of the graph that are loops, each before those that read it."""
    found = _loops_among(graph.apply_nodes)
    yield from found if len(found) < 2 else _loops_among(in_order(graph))


def _loops_among(nodes: Collection[Apply]) -> list[Apply]:
    # to ask of each operation takes three times as long
    loops = {kind for kind in {type(node.op) for node in nodes} if PyTensorScan in kind.__mro__}
    return [node for node in nodes if type(node.op) in loops] if loops else []


@dataclass(frozen=True)
class Finding:
    """One thing of a loop that a rewrite may change.

    Attributes
    ----------
    subject
        What it is, such as a product.
    applies
        Whether the rewrite applies to it.
    detail
        What is done, or why not.
    """

    subject: str
    applies: bool
    detail: str


@dataclass(frozen=True)
class Checked:
    """The findings of a rewrite's check of one loop.

    Attributes
    ----------
    findings
        What applies and what does not, for reports.
    transform
        Builds the variables that take the place of others; None if nothing changes.
    """

    findings: Sequence[Finding] = ()
    transform: Callable[[], Mapping[Variable, Variable]] | None = None


class LoopRewriter(GraphRewriter):
    """A rewrite that is applied to each loop of a graph once.

    Subclasses implement ``check``.

    Attributes
    ----------
    name
        What reports call the rewrite.
    heading
        Under which heading reports print what it did; see ``theano.scan_module.report.headings``.
    readers_first
        Whether a loop is visited on the way from the graph's results to its inputs, so that what
        is read of it is less already.
    """

    name: str
    heading: str
    readers_first: bool = False

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Return what there is to do in one loop; None if there is nothing that the rewrite is about."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to check a loop")

    def apply(self, graph: FunctionGraph) -> SecondsByLoop:
        """Visit each loop; return the seconds that each one took, for the profile."""
        seconds = SecondsByLoop()
        for node in self._in_order(graph):
            if node in graph.apply_nodes:
                start = time.perf_counter()
                with history_of(graph).visiting(node):
                    self._rewrite(graph, node)
                name = node.op.name or "scan"
                seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start
        return seconds

    def _in_order(self, graph: FunctionGraph) -> list[Apply]:
        if not self.readers_first:
            return list(loops_of(graph))
        return _loops_among(list(apply_ancestors(graph.outputs)))

    def _rewrite(self, graph: FunctionGraph, node: Apply) -> None:
        checked = self.check(graph, node)
        if checked is None:
            return
        history_of(graph).decisions += [
            Decision(
                loop=node.op.name or "scan",
                rewrite=self.name,
                subject=finding.subject,
                applied=finding.applies,
                detail=finding.detail,
                origins=origins_of(node),
                heading=self.heading,
            )
            for finding in checked.findings
        ]
        if checked.transform is not None:
            replace_values(graph, checked.transform(), self.name)


def replace_values(
    graph: FunctionGraph, replacements: Mapping[Variable, Variable], reason: str
) -> None:
    """Put variables in place of others, which name the same lines of the user's."""
    seen: set[Variable] = set()
    for old, new in replacements.items():
        copy_stack_trace(old, new)
        copy_lines(old, new, graph.variables, seen)
    graph.replace_all(
        [(old, old.type.filter_variable(new)) for old, new in replacements.items()], reason=reason
    )
