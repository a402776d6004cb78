"""The graphs that a compiled function keeps, with what served to compile it taken away."""

from __future__ import annotations

from pytensor.graph.traversal import ancestors

from theano.pytensor_internals.functions.compiling import FunctionMaker
from theano.rewriting.merging import forget_equals
from theano.source_locations.shared_traces import share_traces


def keep_less(maker: FunctionMaker) -> None:
    """Drop what nothing reads after a function was compiled, and keep once what is equal."""
    forget_equals(maker.fgraph)
    share_traces(maker.fgraph.variables)
    share_traces(ancestors([output.variable for output in maker.outputs]))
