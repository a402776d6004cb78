"""PyTensor's rewrites that are right under a condition: they run where it holds.

Also, what a rewrite gives in another dtype than that of what it replaces, which PyTensor would
refuse with a message, is cast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.tensor.basic import cast
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.rewriting import NodeRewriter, OpPattern
from theano.rewriting.rewrites.of_pytensor.guards import Condition

Accepts = Callable[[FunctionGraph, Apply, list[Variable]], bool]


class Guarded(NodeRewriter):
    """A PyTensor rewrite, where it is right.

    Parameters
    ----------
    rewriter
        The rewrite.
    holds
        Whether it is right of a node.
    accepts
        Whether what it gives for a node is right.
    remembers
        Whether a node that was refused is not asked for again, as long as it reads the same.
    """

    def __init__(
        self,
        rewriter: NodeRewriter,
        holds: Condition | None = None,
        accepts: Accepts | None = None,
        remembers: bool = False,
    ):
        super().__init__()
        self.rewriter, self.holds, self.accepts = rewriter, holds, accepts
        self.remembers = remembers or accepts is not None
        # node -> its inputs when what was given for it was refused: each sweep would ask again
        self._refused: WeakKeyDictionary[Apply, list[Variable]] = WeakKeyDictionary()
        self.name = getattr(rewriter, "name", None) or rewriter.__name__  # type: ignore[attr-defined]

    def tracks(self) -> Any:
        """Return the operations for which it is asked."""
        return self.rewriter.tracks()

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Require what the rewrite does."""
        self.rewriter.add_requirements(fgraph)

    def transform(
        self, fgraph: FunctionGraph, node: Apply, enforce_tracks: bool = True, **kwargs: object
    ) -> Any:
        """Return what the rewrite gives, if it may be asked; False or None if not."""
        if enforce_tracks and not self._is_asked(node.op):
            return None
        if self.remembers and self._refused.get(node) == node.inputs:
            return None
        if not self._holds(fgraph, node):
            self._refuse(node)
            return None
        replaced = self.replaced(fgraph, node, enforce_tracks=enforce_tracks, **kwargs)
        if not replaced:
            return replaced
        if isinstance(replaced, dict):
            # of a pattern that is looked for where a rare operation in it is
            if not all(self._holds(fgraph, v.owner) for v in replaced):
                return None
            return {old: _in_dtype_of(old, new) for old, new in replaced.items()}
        made = [_in_dtype_of(old, new) for old, new in zip(node.outputs, replaced, strict=True)]
        if self.accepts is not None and not self.accepts(fgraph, node, made):
            self._refuse(node)
            return None
        return made

    def replaced(self, fgraph: FunctionGraph, node: Apply, **kwargs: Any) -> Any:
        """Return what the rewrite gives for a node of which it is right."""
        return self.rewriter.transform(fgraph, node, **kwargs)

    def _refuse(self, node: Apply) -> None:
        if self.remembers:
            self._refused[node] = list(node.inputs)

    def _holds(self, fgraph: FunctionGraph, node: Apply) -> bool:
        return self.holds is None or self.holds(fgraph, node)

    def _is_asked(self, op: Op) -> bool:
        """Return whether it is asked about an operation: who walks through a graph asks about each."""
        return any(_is_tracked(op, tracked) for tracked in self.tracks() or ())

    def __str__(self) -> str:
        return str(self.name)


def _is_tracked(op: Op, tracked: object) -> bool:
    """Return whether an operation is one that a class, an operation or a pattern of them stands for."""
    if isinstance(tracked, OpPattern):
        return tracked.match_op(op)
    return isinstance(op, tracked) if isinstance(tracked, type) else op == tracked


def _in_dtype_of(old: Any, new: Any) -> Any:
    types = [getattr(variable, "type", None) for variable in (old, new)]
    if not all(isinstance(kind, TensorType) for kind in types):
        return new
    return new if old.type.dtype == new.type.dtype else cast(new, old.type.dtype)
