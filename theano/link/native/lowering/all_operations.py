"""Importing this fills the table of lowerings: each module registers its own family of operators."""

from theano.link.native.lowering.operations import (
    advanced_indexing,
    convolution,
    ctc,
    cumulative,
    elementwise,
    generators,
    graphs,
    indexing,
    masks,
    reductions,
    scan,
    shapes,
    sorting,
)
from theano.link.native.lowering.operations.draws import (
    outcomes_of_draws,
    random_draws,
    random_state_draws,
)
from theano.link.native.lowering.operations.images import correlation, neighbours, pooling
from theano.link.native.lowering.operations.matrices import (
    batched_products,
    block_diagonal,
    blockwise,
    linear_algebra,
    products,
    tridiagonal,
)

__all__ = [
    "advanced_indexing",
    "batched_products",
    "block_diagonal",
    "blockwise",
    "correlation",
    "ctc",
    "convolution",
    "cumulative",
    "elementwise",
    "generators",
    "graphs",
    "indexing",
    "linear_algebra",
    "masks",
    "neighbours",
    "outcomes_of_draws",
    "pooling",
    "products",
    "random_draws",
    "random_state_draws",
    "reductions",
    "scan",
    "shapes",
    "sorting",
    "tridiagonal",
]
