"""Softmax and cross-entropies of the rows of a matrix: operators, and rewrites into them."""
