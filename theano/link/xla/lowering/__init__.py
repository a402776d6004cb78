"""One file for each family of operators; importing this fills the table."""

from theano.link.xla import loop
from theano.link.xla.lowering import (
    advanced_indexing,
    ctc,
    elementwise,
    fourier,
    graphs,
    indexing,
    multinomial_samples,
    positions,
    random_samples,
    reductions,
    shapes,
    sorting,
)
from theano.link.xla.lowering.images import correlations, neighbours, pooling, windows
from theano.link.xla.lowering.matrices import decompositions, inverses, products, systems
from theano.link.xla.lowering.table import lowers, runs_on_host

__all__ = [
    "advanced_indexing",
    "correlations",
    "ctc",
    "decompositions",
    "elementwise",
    "fourier",
    "graphs",
    "indexing",
    "inverses",
    "loop",
    "lowers",
    "multinomial_samples",
    "neighbours",
    "pooling",
    "positions",
    "products",
    "random_samples",
    "reductions",
    "runs_on_host",
    "shapes",
    "sorting",
    "systems",
    "windows",
]
