"""Recipes of graphs, a module for each family of rewrites; importing this registers them all."""

from tests_scan_grad.rewrites.recipes import (
    algebra,
    broadcasting,
    elementwise,
    indexed_reads,
    indexed_writes,
    linear_algebra,
    logarithms,
    loops,
    networks,
    products,
    random_draws,
    reductions,
    shapes,
    signs,
    sparse_matrices,
    whole_graphs,
)

__all__ = [
    "algebra",
    "broadcasting",
    "elementwise",
    "indexed_reads",
    "indexed_writes",
    "linear_algebra",
    "logarithms",
    "loops",
    "networks",
    "products",
    "random_draws",
    "reductions",
    "shapes",
    "signs",
    "sparse_matrices",
    "whole_graphs",
]
