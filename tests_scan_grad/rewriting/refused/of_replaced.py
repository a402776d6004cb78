"""Both sides of rewrites that others take the place of, and where those do no more than PyTensor's."""

from __future__ import annotations

import numpy as np

import theano.tensor as T
from tests_scan_grad.rewriting.refused.sides import Sides, given
from theano.pytensor_internals.operations.tensor import Dot22
from theano.pytensor_internals.operations.tensor_rewrites import (
    blas,
    math,
    subtensor,
    uncanonicalize,
)

x, y = given([0.5, -2.0, 3.0], name="x"), given([4.0, 1e-3], name="y")
matrix = given(np.arange(6.0).reshape(2, 3), name="matrix")
rows = given(np.arange(8.0).reshape(4, 2), name="rows")
four_rows = given(np.arange(8.0).reshape(4, 2), shape=(4, 2), name="four_rows")
places, missing = given([1, 0], "int64", name="places"), given([0, 4], "int64", name="missing")
number = given(0.5, name="number")


def product():
    """Return a product of matrices as BLAS computes it."""
    return Dot22()(matrix, matrix.T)


def scaled_and_read():
    """Return a scaled product, and the product."""
    both = product()
    return [both * number.dimshuffle("x", "x"), both]


OF_REPLACED = {
    "scaled products": Sides(
        blas.local_dot22_to_dot22scalar,
        lambda: product() * number.dimshuffle("x", "x"),
        scaled_and_read,
        # the product would be computed twice
        wrong=False,
    ),
    "products with zeros": Sides(
        math.local_0_dot_x,
        lambda: T.dot(matrix, T.zeros_like(matrix).T),
        lambda: T.dot(matrix, T.zeros((2, 3))),
        otherwise=True,
    ),
    "sums with a write": Sides(
        subtensor.local_add_of_sparse_write,
        lambda: x + T.inc_subtensor(T.zeros_like(x)[0], 1.0),
        lambda: x + T.set_subtensor(T.zeros((2, 3))[0], x),
    ),
    "sums with what was set twice": Sides(
        subtensor.local_add_of_sparse_write,
        lambda: x + T.set_subtensor(T.zeros_like(x)[T.constant([0, 1])], y),
        lambda: x + T.set_subtensor(T.zeros_like(x)[T.constant([0, 0])], y),
    ),
    "rows that were set": Sides(
        subtensor.local_read_of_write_same_indices,
        lambda: T.set_subtensor(rows[places], given(np.ones((2, 2))))[places],
        lambda: T.set_subtensor(rows[missing], given(np.ones((2, 2))))[missing],
        otherwise=True,
    ),
    "slices of one row": Sides(
        uncanonicalize.local_dimshuffle_subtensor,
        lambda: rows[1:2].dimshuffle(1),
        lambda: four_rows[:2:-1].dimshuffle(1),
        otherwise=True,
    ),
}
