"""Systems without a solution are errors in every mode, and name the user's line."""

from inspect import currentframe

import numpy as np
import pytensor.tensor as pt
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_runs import unrewritten_mode
from theano.tensor import nlinalg, slinalg

A, b, B = T.dmatrix("A"), T.dvector("b"), T.dmatrix("B")
SINGULAR = np.diag([1.0, 0.0, 2.0])
SOLUTIONS = {
    "solve": slinalg.solve,
    "symmetric": slinalg.solve_symmetric,
    "triangular": slinalg.solve_triangular,
    "lower triangular": slinalg.solve_lower_triangular,
    "upper triangular": slinalg.solve_upper_triangular,
    "Solve": slinalg.Solve(),
    "Solve of a symmetric matrix": slinalg.Solve("symmetric"),
    "Solve of a lower triangular matrix": slinalg.Solve("lower_triangular"),
    "Solve of an upper triangular matrix": slinalg.Solve("upper_triangular"),
}


def refused(function, *values):
    with pytest.raises(np.linalg.LinAlgError, match="Matrix is singular") as caught:
        function(*values)
    return "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "XLA"])
@pytest.mark.parametrize("solution", SOLUTIONS.values(), ids=SOLUTIONS)
def test_singular_matrices_are_refused_and_others_are_not(solution, mode):
    x, X = solution(A, b), solution(A, B)
    line = currentframe().f_lineno - 1
    of_vector = theano.function([A, b], x, mode=mode)
    of_matrix = theano.function([A, B], X, mode=mode)
    for function, side in ((of_vector, np.ones(3)), (of_matrix, np.ones((3, 2)))):
        np.testing.assert_allclose(function(2 * np.eye(3), side), side / 2)
        text = refused(function, SINGULAR, side)
        assert f"{__file__}:{line}" in text
        assert function(np.eye(3)[:0, :0], side[:0]).shape == side[:0].shape


@pytest.mark.parametrize("mode", ["FAST_RUN", "XLA"])
def test_gradients_and_directions_are_refused(mode):
    x = slinalg.solve(A, b)
    slope = theano.function([A, b], theano.grad(x[0], A), mode=mode)
    change = theano.function([A, b], theano.gradient.Rop(x, b, b), mode=mode)
    expected = np.zeros((3, 3))
    expected[0] = -np.ones(3) / 4
    np.testing.assert_allclose(slope(2 * np.eye(3), np.ones(3)), expected)
    np.testing.assert_allclose(change(2 * np.eye(3), np.ones(3)), np.ones(3) / 2)
    for function in (slope, change):
        refused(function, SINGULAR, np.ones(3))


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "XLA"])
@pytest.mark.parametrize("invariant", [True, False])
def test_singular_matrices_in_loops_are_refused(invariant, mode):
    def step(x):
        return slinalg.solve(A if invariant else A * (1 + 0 * x.sum()), x)

    x, _ = theano.scan(step, outputs_info=b, n_steps=3)
    function = theano.function([A, b], x, mode=mode)
    np.testing.assert_allclose(function(2 * np.eye(3), np.ones(3))[-1], np.ones(3) / 8)
    refused(function, SINGULAR, np.ones(3))


def test_what_is_not_finite_is_refused_as_by_theano():
    function = theano.function([A, b], slinalg.solve(A, b))
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match="what was given is not finite"):
            function(np.eye(3), np.array([1.0, value, 1.0]))


def of_a(step):
    """Two steps from b, with all that they read of A."""
    return theano.scan(step, outputs_info=b, n_steps=2)[0]


inv, det, kron, block_diag = nlinalg.matrix_inverse, nlinalg.det, slinalg.kron, pt.linalg.block_diag
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


ON_XLA = ("inverse", "times vector", "of the inverse", "of blocks", "gradient", "in a loop")


@pytest.mark.parametrize(
    ("name", "mode"),
    [(name, mode) for name in INVERSES for mode in ("FAST_RUN", "FAST_COMPILE")]
    + [(name, "XLA") for name in ON_XLA],
)
def test_what_is_computed_without_the_inverse_is_refused_like_it(name, mode):
    made = INVERSES[name]
    arguments = {"mode": mode, "on_unused_input": "ignore"}
    function = theano.function([A, b, B], made(), **arguments)
    expected = theano.function([A, b, B], made(), mode=unrewritten_mode(), on_unused_input="ignore")
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
        lambda: kron(-T.diag(b), -T.diag(b)),
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
    if not np.linalg.matrix_rank(computed(singular)) == len(computed(singular)):
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            lower(singular)
