"""Factors of matrices of a known structure."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.tensor import slinalg

b = T.dvector("b")


def triangle():
    """A lower triangle that is told to be one."""
    triangle = T.tril(T.outer(b, b))
    triangle.tag.lower_triangular = True
    return triangle


FACTORS = {
    "diagonal": (lambda: T.diag(b), np.diag),
    "one by one": (lambda: b[:1].dimshuffle(0, "x"), lambda value: value[:1, None]),
    "square of a triangle": (
        lambda: (lambda matrix: matrix.dot(matrix.T))(triangle()),
        lambda value: np.tril(np.outer(value, value)) @ np.tril(np.outer(value, value)).T,
    ),
    "square of a diagonal": (lambda: T.diag(b).dot(T.diag(b).T), lambda v: np.diag(v**2)),
    "Kronecker product": (
        lambda: slinalg.kron(-T.diag(b), -T.diag(b)),
        lambda v: np.kron(*[-np.diag(v)] * 2),
    ),
}


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize(("made", "computed"), FACTORS.values(), ids=FACTORS)
def test_factors_of_matrices_of_a_known_structure(made, computed, mode):
    """They have a positive diagonal, and semidefinite matrices have none."""
    lower = theano.function([b], slinalg.cholesky(made()), mode=mode)
    upper = theano.function([b], slinalg.Cholesky(lower=False)(made()), mode=mode)
    positive, mixed = np.array([1.0, 2.0, 0.5]), np.array([-2.0, 0.5, -3.0])
    for value in (positive, mixed):
        matrix = computed(value)
        try:
            expected = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            for function in (lower, upper):
                with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
                    function(value)
            continue
        np.testing.assert_allclose(lower(value), expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(upper(value), expected.T, rtol=1e-9, atol=1e-12)
    singular = np.array([0.0, 1.0, 2.0])
    if np.linalg.matrix_rank(computed(singular)) != len(computed(singular)):
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            lower(singular)
