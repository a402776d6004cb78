"""Both sides of the conditions of products of matrices, and of their inverses and factors."""

from __future__ import annotations

import numpy as np
from pytensor.tensor import linalg, matmul

import theano
import theano.tensor as T
from tests_scan_grad.rewriting.refused.sides import Sides, given
from theano.pytensor_internals.operations.tensor_rewrites import (
    LOGARITHMS_OF_STACKS,
    decomposition,
    inverse,
    math,
    solvers,
    summary,
    svd_of_diag,
)

square = given([[2.0, 1.0], [1.0, 3.0]], name="square")
singular = given([[1.0, 2.0], [2.0, 4.0]], name="singular")
vector = given([1.0, 2.0], name="vector")
with_zero = given([1.0, 0.0], name="with_zero")
three = given([2.0, 1.0, 3.0], name="three")
single = given([2.0, 1.0], "float32", name="single")
column, row = given([[2.0]], shape=(None, 1)), given([[1.0, 2.0]], shape=(1, None))
one = given([[3.0]], shape=(1, 1))


def tridiagonal(rows: int, told: bool):
    """Return a tridiagonal matrix, whose length its type gives or not."""
    near = np.eye(rows, k=1) + np.eye(rows, k=-1)
    return given(3 * np.eye(rows) + near, shape=(rows, rows) if told else None)


def solved_twice(matrix, rows: int):
    """Return two solutions with a tridiagonal matrix."""
    sides = [given(np.arange(start, start + rows)) for start in (0.0, 1.0)]
    return [linalg.solve(matrix, side, assume_a="tridiagonal", b_ndim=1) for side in sides]


def solved_in_a_loop(matrix, rows: int):
    """Return a solution for each row of a matrix."""
    sides = given(np.arange(2.0 * rows).reshape(2, rows))
    return theano.scan(
        lambda side, matrix: linalg.solve(matrix, side, assume_a="tridiagonal", b_ndim=1),
        sequences=sides,
        non_sequences=matrix,
    )[0]


def product_with_its_transpose(values):
    """Return the product of a matrix that is said to be a lower triangle with its transpose."""
    lower = given(values)
    lower.tag.lower_triangular = True
    return T.dot(lower, lower.T)


INVERSES = {
    "products with an inverse": Sides(
        inverse.inv_to_solve,
        lambda: T.dot(linalg.inv(square), square),
        lambda: T.dot(linalg.inv(singular), square),
        otherwise=True,
    ),
    "inverses of diagonal matrices": Sides(
        inverse.inv_of_diag_to_diag_reciprocal,
        lambda: linalg.inv(T.diag(vector)),
        lambda: linalg.inv(T.diag(with_zero)),
        otherwise=True,
    ),
    "pseudo-inverses of diagonal matrices": Sides(
        inverse.inv_of_diag_to_diag_reciprocal,
        lambda: linalg.inv(T.diag(vector)),
        lambda: linalg.pinv(T.diag(with_zero)),
    ),
    "inverses of inverses": Sides(
        inverse.inv_of_inv,
        lambda: linalg.pinv(linalg.pinv(square)),
        lambda: linalg.inv(linalg.inv(singular)),
    ),
}

FACTORS = {
    "factors of diagonal matrices": Sides(
        decomposition.cholesky_of_diag,
        lambda: linalg.cholesky(T.diag(vector)),
        lambda: linalg.cholesky(T.diag(with_zero)),
        otherwise=True,
    ),
    "factors of products with a transpose": Sides(
        decomposition.cholesky_ldotlt,
        lambda: linalg.cholesky(product_with_its_transpose([[2.0, 0.0], [1.0, 3.0]])),
        lambda: linalg.cholesky(product_with_its_transpose([[-2.0, 0.0], [1.0, 3.0]])),
        otherwise=True,
    ),
    "factors of complex diagonal matrices": Sides(
        decomposition.cholesky_of_diag,
        lambda: linalg.cholesky(T.diag(vector)),
        lambda: linalg.cholesky(T.diag(given([4, -1], "complex128"))),
    ),
    "factors of Kronecker products": Sides(
        inverse.lift_linalg_of_expanded_matrices,
        lambda: linalg.inv(linalg.kron(square, square)),
        lambda: linalg.cholesky(linalg.kron(-square, -square)),
    ),
    "determinants next to factors": Sides(
        summary.det_of_matrix_factorized_elsewhere,
        lambda: [abs(linalg.det(square)), linalg.svd(square, compute_uv=False)],
        lambda: [linalg.det(singular), *linalg.lu_factor(singular)],
    ),
    "logarithms of determinants": Sides(
        summary.slogdet_specialization,
        lambda: T.log(abs(linalg.det(square))),
        lambda: T.log(abs(linalg.det(given([[[2, 1], [1, 3]], [[0, 1], [1, 0]]])))),
        otherwise=LOGARITHMS_OF_STACKS,
    ),
    "tridiagonal matrices for two solutions": Sides(
        solvers.reuse_decomposition_multiple_solves,
        lambda: solved_twice(tridiagonal(4, True), 4),
        lambda: solved_twice(tridiagonal(2, False), 2),
    ),
    "tridiagonal matrices in a loop": Sides(
        solvers.scan_split_non_sequence_decomposition_and_solve,
        lambda: solved_in_a_loop(tridiagonal(4, True), 4),
        lambda: solved_in_a_loop(tridiagonal(2, False), 2),
    ),
    "eigenvectors of diagonal matrices": Sides(
        decomposition.eigh_of_diag,
        lambda: linalg.eigh(T.diag(three))[1],
        lambda: linalg.eigh(T.diag(T.cast(three, "float32")))[1],
        otherwise=True,
    ),
    "singular vectors of diagonal matrices": Sides(
        svd_of_diag,
        lambda: linalg.svd(T.diag(vector))[0],
        lambda: linalg.svd(T.diag(single))[0],
        otherwise=True,
    ),
}

PRODUCTS = {
    "products of one column": Sides(
        math.local_dot_to_mul,
        lambda: T.dot(one, row),
        lambda: T.dot(column, given([[1.0], [2.0]], shape=(None, 1))),
    ),
    "products of stacks": Sides(
        math.local_batched_matmul_to_core_matmul_with_reshape,
        lambda: matmul(given(np.ones((2, 2, 3))), given(np.ones((3, 4)))[None]),
        lambda: matmul(given(np.ones((2, 2, 0))), given(np.ones((0, 3)))[None]),
        otherwise=True,
    ),
}

OF_MATRICES = {**INVERSES, **FACTORS, **PRODUCTS}
