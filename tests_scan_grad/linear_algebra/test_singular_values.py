"""Singular values and vectors are native, and NumPy's."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor.tensor.linalg import svd

import theano
from theano.link.native import report

random = np.random.default_rng(0)
SHAPES = [(1, 1), (2, 5), (5, 2), (4, 4), (40, 7), (7, 90), (0, 3), (3, 0), (0, 0)]


def native(inputs, outputs):
    f = theano.function(inputs, outputs, mode="NATIVE")
    assert not report(f).calls
    return f


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("whole", [False, True])
def test_factors_give_the_matrix_and_are_orthogonal(dtype, whole):
    x = pt.matrix("x", dtype=dtype)
    f = native([x], svd(x, full_matrices=whole))
    tolerance = {"atol": 1e-11 if dtype == "float64" else 2e-4, "rtol": 0}
    for shape in SHAPES:
        matrix = random.normal(size=shape).astype(dtype)
        for given in (matrix, np.asfortranarray(matrix), matrix[::-1]):
            # vectors may have either sign
            expected = np.linalg.svd(given, full_matrices=whole)
            u, values, v = f(given)
            assert [one.shape for one in (u, values, v)] == [one.shape for one in expected]
            assert u.dtype == values.dtype == v.dtype == dtype
            k = len(values)
            np.testing.assert_allclose(values, expected[1], **tolerance)
            np.testing.assert_allclose(u[:, :k] * values @ v[:k], given, **tolerance)
            np.testing.assert_allclose(u.T @ u, np.eye(u.shape[1]), **tolerance)
            np.testing.assert_allclose(v @ v.T, np.eye(len(v)), **tolerance)


def test_values_alone_and_their_gradient():
    x = pt.dmatrix("x")
    values = svd(x, compute_uv=False)
    f = native([x], [values, theano.grad((values**3).sum(), x)])
    for shape in SHAPES[:6]:
        matrix = random.normal(size=shape)
        found, gradient = f(matrix)
        np.testing.assert_allclose(found, np.linalg.svd(matrix, compute_uv=False), atol=1e-12)
        step = 1e-6 * random.normal(size=shape)
        ahead, behind = (
            (np.linalg.svd(matrix + moved, compute_uv=False) ** 3).sum() for moved in (step, -step)
        )
        np.testing.assert_allclose((gradient * step).sum(), (ahead - behind) / 2, rtol=1e-5)


def test_stacks_and_loops():
    x = pt.dtensor3("x")
    u, values, v = native([x], svd(x, full_matrices=False))(
        matrices := random.normal(size=(6, 5, 3))
    )
    np.testing.assert_allclose(u * values[:, None] @ v, matrices, atol=1e-12)
    rows, _ = theano.scan(lambda a: svd(a, compute_uv=False), sequences=[x])
    expected = np.linalg.svd(matrices, compute_uv=False)
    np.testing.assert_allclose(native([x], rows)(matrices), expected, atol=1e-12)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_has_no_values_is_numpys_error(number):
    x = pt.dmatrix("x")
    f = native([x], svd(x, compute_uv=False))
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        f(np.full((3, 3), number))
