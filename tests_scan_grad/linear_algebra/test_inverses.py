"""Programs computed without their inverses: they still refuse matrices that have none."""

from functools import cache

import numpy as np
import pytensor.tensor as pt
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_runs import unrewritten_mode
from theano.tensor import nlinalg, slinalg

A, b, B = T.dmatrix("A"), T.dvector("b"), T.dmatrix("B")
SINGULAR = np.diag([1.0, 0.0, 2.0])


def of_a(step):
    """Two steps from b, with all that they read of A."""
    return theano.scan(step, outputs_info=b, n_steps=2)[0]


inv, det, block_diag = nlinalg.matrix_inverse, nlinalg.det, pt.linalg.block_diag
# what is computed without an inverse, or of a matrix whose structure is known: PyTensor's rewrites
# would compute each of something else
INVERSES = {
    "inverse": lambda: inv(A),
    "times vector": lambda: inv(A).dot(b),
    "vector times": lambda: b.dot(inv(A)),
    "transposed times vector": lambda: inv(A).T.dot(b),
    "transpose's times vector": lambda: inv(A.T).dot(b),
    "times matrix": lambda: inv(A).dot(B),
    "times two": lambda: T.concatenate([inv(A).dot(b), inv(A).T.dot(T.exp(b))]),
    "of the inverse": lambda: inv(inv(A)),
    "pseudo-inverse of the inverse": lambda: nlinalg.pinv(inv(A)),
    "system of the inverse": lambda: slinalg.solve(inv(A), b),
    "determinant": lambda: det(inv(A)),
    "logarithm of the determinant": lambda: T.log(abs(det(inv(A)))),
    "of blocks": lambda: inv(block_diag(A, 2 * A)).dot(T.concatenate([b, b])),
    "diagonal": lambda: inv(T.diag(T.diagonal(A))),
    "diagonal times vector": lambda: inv(T.diag(T.diagonal(A))).dot(b),
    "gradient": lambda: theano.grad(inv(A).sum(), A),
    "gradient of times vector": lambda: theano.grad(inv(A).dot(b).sum(), [A])[0],
    "gradient of determinant": lambda: theano.grad(det(inv(A)), A),
    "in a loop": lambda: of_a(lambda x: inv(A).dot(x)),
    "changing in a loop": lambda: of_a(lambda x: inv(A * (1 + 0 * x.sum())).dot(x)),
    "gradient of a loop": lambda: theano.grad(of_a(lambda x: inv(A).dot(x)).sum(), A),
}


@cache
def of_unrewritten(name):
    """The program as it is written, computed operation by operation."""
    return theano.function(
        [A, b, B], INVERSES[name](), mode=unrewritten_mode(), on_unused_input="ignore"
    )


ON_XLA = ("inverse", "times vector", "of the inverse", "of blocks", "gradient", "in a loop")


@pytest.mark.parametrize(
    ("name", "mode"),
    [(name, mode) for name in INVERSES for mode in ("FAST_RUN", "FAST_COMPILE")]
    + [(name, "XLA") for name in ON_XLA],
)
def test_what_is_computed_without_the_inverse_is_refused_like_it(name, mode):
    function = theano.function([A, b, B], INVERSES[name](), mode=mode, on_unused_input="ignore")
    expected = of_unrewritten(name)
    sides = np.array([1.0, 2.0, 4.0]), np.arange(6.0).reshape(3, 2)
    regular = np.diag([4.0, 3.0, -2.0]) + (0.5 * np.tri(3)).dot(np.tri(3).T)
    np.testing.assert_allclose(function(regular, *sides), expected(regular, *sides), rtol=1e-9)
    for singular in (SINGULAR, np.diag([0.0, 1.0, 2.0])):
        with pytest.raises(np.linalg.LinAlgError, match="[Ss]ingular"):
            function(singular, *sides)


def test_what_is_not_finite_goes_through_products_with_an_inverse():
    function = theano.function([A, b], inv(A).dot(b))
    assert np.isnan(function(np.eye(3), np.array([1.0, np.nan, 1.0]))).any()


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_pseudo_inverses_of_diagonal_matrices_have_zeros(mode):
    of_diagonal = nlinalg.pinv(T.diag(b))
    twice = nlinalg.pinv(nlinalg.pinv(T.diag(b)))
    function = theano.function([b], [of_diagonal, twice], mode=mode)
    diagonal = np.array([2.0, 0.0, 4.0])
    found = function(diagonal)
    np.testing.assert_allclose(found[0], np.diag([0.5, 0, 0.25]), atol=1e-12)
    np.testing.assert_allclose(found[1], np.diag(diagonal), atol=1e-12)
