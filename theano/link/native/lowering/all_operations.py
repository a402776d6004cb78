"""Importing this fills the table of lowerings: each module registers its own family of operators."""

from theano.link.native.lowering.operations import (
    advanced_indexing,
    batched_products,
    cumulative,
    elementwise,
    generators,
    graphs,
    indexing,
    outcomes_of_draws,
    products,
    random_draws,
    random_state_draws,
    reductions,
    scan,
    shapes,
)

__all__ = [
    "advanced_indexing",
    "batched_products",
    "cumulative",
    "elementwise",
    "generators",
    "graphs",
    "indexing",
    "outcomes_of_draws",
    "products",
    "random_draws",
    "random_state_draws",
    "reductions",
    "scan",
    "shapes",
]
