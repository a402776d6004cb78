"""One function for each family of PyTensor's operators; importing this fills the table."""

from theano.link.native.lowering import (
    advanced_indexing,
    batched_products,
    cumulative,
    elementwise,
    generators,
    graphs,
    indexing,
    products,
    reductions,
    shapes,
)
from theano.link.native.lowering.registry import LOWERINGS, lowering_of, lowers

__all__ = [
    "LOWERINGS",
    "advanced_indexing",
    "batched_products",
    "cumulative",
    "elementwise",
    "generators",
    "graphs",
    "indexing",
    "lowering_of",
    "lowers",
    "products",
    "reductions",
    "shapes",
]
