"""One file for each family of operators; importing this fills the table."""

from theano.link.xla import loop
from theano.link.xla.lowering import (
    advanced_indexing,
    ctc,
    elementwise,
    fourier,
    graphs,
    indexing,
    inverses,
    outcomes_of_draws,
    products,
    random_draws,
    reductions,
    shapes,
    sorting,
)
from theano.link.xla.lowering.images import correlations, neighbours, pooling, windows
from theano.link.xla.lowering.table import lowers, runs_on_host

__all__ = [
    "advanced_indexing",
    "ctc",
    "correlations",
    "elementwise",
    "fourier",
    "graphs",
    "indexing",
    "inverses",
    "loop",
    "lowers",
    "neighbours",
    "outcomes_of_draws",
    "pooling",
    "products",
    "random_draws",
    "reductions",
    "runs_on_host",
    "shapes",
    "sorting",
    "windows",
]
