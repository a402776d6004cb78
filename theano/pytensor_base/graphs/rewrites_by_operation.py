"""PyTensor's table of node rewrites by operation, read without asking each class in it."""

from __future__ import annotations

from collections.abc import Iterable

from pytensor.graph.rewriting.basic import NodeRewriter, OpToRewriterTracker


class RewritesByOperation(OpToRewriterTracker):
    """Which rewrites of nodes ask for an operation, found by the bases of its class.

    PyTensor asks of each class in the table whether the operation's class is a virtual subclass of
    it, which none is; a table is asked about an operation of a class for the first time in each of
    some tens of passes, of every graph.

    Parameters
    ----------
    rewriters
        In the order in which they are applied.
    """

    def __init__(self, rewriters: Iterable[NodeRewriter] = ()):
        super().__init__()
        for rewriter in rewriters:
            self.add_tracker(rewriter)

    @classmethod
    def of(cls, table: OpToRewriterTracker) -> RewritesByOperation:
        """The same table, read in this way; the given one stays as it is."""
        made = cls()
        for name in _COLUMNS:
            setattr(made, name, getattr(table, name))
        made._cached_composed_mro = _bases
        return made

    def add_tracker(self, rw: NodeRewriter) -> None:
        """Add a rewrite under the operations that it asks for."""
        super().add_tracker(rw)
        self._cached_composed_mro = _bases


_COLUMNS = ("tracked_instances", "tracked_types", "tracked_pattern_types", "untracked_rewrites")


def _bases(kind: type) -> tuple[type, ...]:
    return kind.__mro__
