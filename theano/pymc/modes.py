"""The mode that PyMC's functions take in place of PyTensor's default."""

from __future__ import annotations

from typing import Any

from pytensor.graph.fg import FunctionGraph

from theano.compile.mode import Mode
from theano.pymc.conditions_of_steps import ConditionsOfSteps
from theano.pymc.functions_in_c import know_functions
from theano.pytensor_internals.graphs.rewriting import GraphRewriter


class _RewritesOf(GraphRewriter):
    """All rewrites of a mode, with which PyMC makes another mode.

    PyMC takes a mode apart into its engine and a query, adds names to the query, and lets PyTensor
    resolve it, which knows nothing of this package's rewrites. This is a query that resolves itself.
    """

    def __init__(self, mode: Mode, tags: tuple[str, ...] = ()):
        super().__init__()
        self.mode, self.tags = mode, tags

    def including(self, *tags: str) -> _RewritesOf:
        """Return the same with more rewrites."""
        return _RewritesOf(self.mode.including(*tags), (*self.tags, *tags))

    def excluding(self, *tags: str) -> _RewritesOf:
        """Return the same with fewer rewrites."""
        kept = tuple(tag for tag in self.tags if tag not in tags)
        return _RewritesOf(self.mode.excluding(*tags), kept)

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Add to a graph what the rewrites ask of it."""
        self.mode.optimizer.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph, *arguments: object, **settings: object) -> Any:
        """Rewrite a graph as `theano.function` does in the mode."""
        ConditionsOfSteps(self.tags).apply(fgraph)
        return self.mode.optimizer.apply(fgraph, *arguments, **settings)


def _mode_to_unpack() -> Mode:
    made = Mode("native", "fast_run")
    made.provided_optimizer = _RewritesOf(Mode("native", "fast_run"))
    return made


def with_conditions(mode: Any, name: str) -> Mode:
    """Return a mode that also rewrites the conditions of distributions by the rewrite of this name."""
    return Mode(mode.linker, _RewritesOf(mode).including(name))


know_functions()
mode = _mode_to_unpack()
