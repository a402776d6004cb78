"""Systems without a solution are errors in every mode, and name the user's line."""

from inspect import currentframe

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_runs import unrewritten_mode
from theano.tensor import slinalg

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


ON_XLA = ("solve", "symmetric", "triangular", "Solve of an upper triangular matrix")


@pytest.mark.parametrize(
    ("name", "mode"),
    [(name, mode) for name in SOLUTIONS for mode in ("FAST_RUN", "FAST_COMPILE")]
    + [(name, "XLA") for name in ON_XLA],
)
def test_singular_matrices_are_refused_and_others_are_not(name, mode):
    solution = SOLUTIONS[name]
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


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", None])
@pytest.mark.parametrize("structure", ["gen", "sym", "pos", "tridiagonal"])
def test_gradients_by_the_matrix_are_refused_like_solutions(structure, mode):
    """They read the solution, which is looked at elsewhere."""
    mode = mode or unrewritten_mode()
    for side, value in ((b, np.ones(3)), (B, np.ones((3, 2)))):
        x = slinalg.solve(A, side, assume_a=structure)
        slopes = theano.function([A, side], theano.grad(x.sum(), [A, side]), mode=mode)
        np.testing.assert_allclose(slopes(2 * np.eye(3), value)[1], value / 2)
        refused(slopes, SINGULAR, value)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_one_singular_matrix_of_a_stack_is_refused(mode):
    matrices, sides = T.dtensor3("matrices"), T.dmatrix("sides")
    x = slinalg.solve(matrices, sides, b_ndim=1)
    arguments = [matrices, sides]
    solved = theano.function(arguments, x, mode=mode)
    slope = theano.function(arguments, theano.grad(x.sum(), matrices), mode=mode)
    regular, ones = np.stack([2 * np.eye(3)] * 2), np.ones((2, 3))
    np.testing.assert_allclose(solved(regular, ones), ones / 2)
    np.testing.assert_allclose(slope(regular, ones), np.full((2, 3, 3), -0.25))
    for function in (solved, slope):
        refused(function, np.stack([2 * np.eye(3), SINGULAR]), ones)


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
