"""A determinant is that of its matrix, also where a factor of the matrix is computed, and is NaN."""

import numpy as np
import pytensor.tensor as pt
import pytest

import theano
import theano.tensor as T
from theano.tensor import nlinalg, slinalg

A = T.dmatrix("A")
FACTORS = {
    "Cholesky": lambda: slinalg.Cholesky(on_error="nan")(A),
    "LU": lambda: pt.linalg.lu_factor(A)[0],
    "singular values": lambda: nlinalg.svd(A)[1],
    "QR": lambda: nlinalg.qr(A)[1],
}
MATRICES = {
    "singular": np.diag([1.0, 0.0, 2.0]),
    "zero": np.zeros((3, 3)),
    "indefinite": np.diag([1.0, -1.0, 2.0]),
    "not symmetric": np.array([[2.0, 5.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 1.0]]),
}


@pytest.mark.parametrize("factor", FACTORS.values(), ids=FACTORS)
def test_a_determinant_beside_a_factor(factor):
    determinant = nlinalg.det(A)
    function = theano.function([A], [determinant, abs(determinant), factor()])
    alone = theano.function([A], [abs(determinant), factor()])
    for matrix in MATRICES.values():
        expected = np.linalg.det(matrix)
        np.testing.assert_allclose(function(matrix)[0], expected, atol=1e-12)
        np.testing.assert_allclose(function(matrix)[1], abs(expected), atol=1e-12)
        np.testing.assert_allclose(alone(matrix)[0], abs(expected), atol=1e-12)
