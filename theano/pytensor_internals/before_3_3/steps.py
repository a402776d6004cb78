"""A loop's step, which PyTensor 3.0 keeps as a graph and freezes next to it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any, cast

from pytensor.compile.mode import get_mode
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import NodeRewriter
from pytensor.scan.op import Scan
from pytensor.scan.rewriting import ScanMerge as MergeWithLines  # noqa: F401

from theano.pytensor_internals.functions.python_machine import mode_of_step

# steps of loops that rewrites make again have their lines
KEEPING_LINES: dict[NodeRewriter, NodeRewriter] = {}


def step_of(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> FunctionGraph:
    """Return the graph of a step, which is not copied."""
    return FunctionGraph(inputs, outputs, clone=False)


def step_shared_with(graph: FunctionGraph) -> FunctionGraph:
    """Return the step of another loop for one that is equal to it; PyTensor compiles a step in place."""
    return graph.clone()


def unfrozen_step(op: Scan) -> FunctionGraph:
    """Return the step of a PyTensor loop as one of ours."""
    return cast("FunctionGraph", op.fgraph)


class FrozenWhenAsked(Scan):
    """A loop whose step is frozen when it is first compared or hashed, which takes time."""

    fgraph: FunctionGraph

    @cached_property
    def _frozen_fgraph(self) -> Any:  # type: ignore[override]
        return self.fgraph.freeze()  # type: ignore[attr-defined]

    # the step that its mode has rewritten already; a copy around another step is rewritten again
    _rewritten_step: FunctionGraph | None = None

    def around_rewritten(self, step: FunctionGraph) -> FrozenWhenAsked:
        """Return a copy around the step as the mode of the loop rewrites it, which remains to be linked."""
        made = copy(self)
        made._fn = None
        made.fgraph = made._rewritten_step = step
        vars(made).pop("_frozen_fgraph", None)
        return made

    @property
    def fn(self) -> Any:
        """The function of the step, made when it is first asked for."""
        if getattr(self, "_fn", None) is not None:
            return super().fn
        # what compiles it asks for the mode, and has no other way to be given one, or not to rewrite
        mode = self.mode
        if mode not in (None, "FAST_RUN", "FAST_COMPILE"):
            self.mode = mode_of_step(mode, any(self.mitmots_preallocated), self.allow_gc)
        if self.fgraph is self._rewritten_step:
            self.mode = get_mode(self.mode).clone(optimizer=None)
        try:
            return super().fn
        finally:
            self.mode = mode

    def clone(self) -> FrozenWhenAsked:
        """Return a copy with its own step, which is not compiled."""
        made: Any = super().clone()
        made._fn = None
        return made
