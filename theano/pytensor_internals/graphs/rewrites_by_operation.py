"""PyTensor's table of node rewrites by operation, read without asking each class in it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import NodeRewriter, OpToRewriterTracker

OPERATIONS_KEPT = 1000


class RewritesByOperation(OpToRewriterTracker):
    """The rewrites of nodes that ask for an operation, found by the bases of its class.

    PyTensor asks of each class in the table whether the operation's class is a virtual subclass of
    it, which none is; a table is asked about an operation of a class for the first time in each of
    some tens of passes, of every graph. It hashes each operation, too, a loop with its step; here
    those only of whose class a rewrite asks for some.

    Parameters
    ----------
    rewriters
        In the order in which they are applied.
    """

    def __init__(self, rewriters: Iterable[NodeRewriter] = ()):
        super().__init__()
        for rewriter in rewriters:
            self.add_tracker(rewriter)
        self._begin()

    @classmethod
    def of(cls, table: OpToRewriterTracker) -> RewritesByOperation:
        """Return the same table, read in this way; the given one stays as it is."""
        made = cls()
        for name in _COLUMNS:
            setattr(made, name, getattr(table, name))
        made._begin()
        return made

    def add_tracker(self, rw: NodeRewriter) -> None:
        """Add a rewrite under the operations that it asks for."""
        super().add_tracker(rw)
        self._begin()

    def _begin(self) -> None:
        """Forget what was found before."""
        self._cached_composed_mro = _bases
        # a table serves all graphs of a process, and holds the operations that it was asked about
        of_operation = lru_cache(OPERATIONS_KEPT)(self._get_trackers)
        of_class = cache(self._distinguishes)
        of_any: dict[type, list[NodeRewriter]] = {}

        def rewrites(op: Op) -> list[NodeRewriter]:
            kind = type(op)
            found = of_any.get(kind)
            if found is not None:
                return found
            if of_class(kind):
                return of_operation(op)
            found = of_any[kind] = self._get_trackers(op)
            return found

        self.get_trackers = rewrites

    def _distinguishes(self, kind: type) -> bool:
        """Return whether some rewrite asks for some operations of a class, and not for others."""
        return any(type(op) is kind for op in self.tracked_instances) or any(
            base in self.tracked_pattern_types for base in _bases(kind)
        )


_COLUMNS = ("tracked_instances", "tracked_types", "tracked_pattern_types", "untracked_rewrites")


def _bases(kind: type) -> tuple[type, ...]:
    return kind.__mro__
