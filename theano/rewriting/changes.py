"""Changes of a graph, and new nodes in it, while rewrites visit its nodes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph, Output

from theano.pytensor_internals.graphs.graph import Feature, remove_feature
from theano.pytensor_internals.graphs.kinds import is_a


class NewNodes(Feature):
    """Has nodes that come into a graph visited, but the one that is being rewritten.

    Parameters
    ----------
    is_visited
        Whether nodes of an operation are visited; None for those of all.

    Attributes
    ----------
    queue
        The nodes to visit, where new ones are put; None where they are not.
    current
        The node that is being rewritten.
    """

    def __init__(self, is_visited: Callable[[Any], Any] | None = None):
        self.queue: deque[Apply] | None = None
        self.current: Apply | None = None
        self._is_visited = is_visited

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Note a node that came into the graph, but not one that comes back."""
        if self.queue is None or node is self.current or takes_back(reason):
            return
        if self._is_visited is None or self._is_visited(node.op):
            self.queue.append(node)


class Changes(NewNodes):
    """The nodes of a graph that are new or have new inputs, until they are taken.

    Attributes
    ----------
    count
        How often an input of a node was changed and not changed back.
    """

    def __init__(self) -> None:
        super().__init__()
        self.nodes: dict[Apply, None] = {}
        self.count = 0

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Note a node that came into the graph."""
        if not takes_back(reason):
            self.nodes[node] = None
        super().on_import(fgraph, node, reason)

    def on_change_input(self, fgraph, node, i, variable, new_variable, reason=None) -> None:
        """Note a node that now reads another variable."""
        if takes_back(reason):
            # a replacement that was refused, and would be tried again for ever
            self.count -= 1
            return
        self.count += 1
        if not is_a(node.op, Output):
            self.nodes[node] = None
        elif new_variable.owner is not None:
            self.nodes[new_variable.owner] = None

    def take(self) -> list[Apply]:
        """Return what changed since this was called last."""
        taken, self.nodes = list(self.nodes), {}
        return taken


def takes_back(reason: object) -> bool:
    """Return whether a change is one that PyTensor's history of a graph takes back."""
    return isinstance(reason, tuple) and reason[:1] == ("Revert",)


_F = TypeVar("_F", bound=Feature)


@contextmanager
def attached(fgraph: FunctionGraph, feature: _F) -> Iterator[_F]:
    """Have a graph notify a feature of what happens to it."""
    fgraph.attach_feature(feature)
    try:
        yield feature
    finally:
        remove_feature(fgraph, feature)
