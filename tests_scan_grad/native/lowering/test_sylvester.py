"""Schur forms, and equations of Sylvester and Lyapunov: by the engine as SciPy solves them."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
import pytest
import scipy.linalg
from pytensor.tensor import linalg

import theano
from tests_scan_grad.native.lowering.lowering_checks import check, numbers, of
from theano.link.native import report

# n rows and m columns of the solution
SIZES = ((1, 1), (3, 5), (5, 2), (20, 7))


def apart(n: int) -> np.ndarray:
    """A matrix whose eigenvalues have positive real parts, some of them in pairs."""
    return numbers(n, n) / n + 2 * np.eye(n)


def stable(n: int) -> np.ndarray:
    """A matrix whose eigenvalues lie in the unit circle."""
    return numbers(n, n) / (2 * n)


def is_native(function) -> bool:
    return "by PyTensor" not in str(report(function))


def compiled(inputs, solution):
    """A solution and the gradients of the sum of its squares."""
    gradients = theano.grad((solution**2).sum(), inputs)
    function = theano.function(inputs, [solution, *gradients], mode="NATIVE")
    assert is_native(function)
    return function


def differences(solve, values, k, epsilon=1e-6):
    """The gradient with respect to value k of the sum of a solution's squares, by differences."""
    result = np.zeros_like(values[k])
    for place in np.ndindex(result.shape):
        costs = []
        for sign in (1, -1):
            moved = [value.copy() for value in values]
            moved[k][place] += sign * epsilon
            costs.append((solve(*moved) ** 2).sum())
        result[place] = (costs[0] - costs[1]) / (2 * epsilon)
    return result


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_schur_form(dtype):
    a = of(None, None, dtype=dtype)
    triangle, vectors = linalg.schur(a)
    calls = [[numbers(n, n, dtype=dtype)] for n in (0, 1, 2, 5, 20)]
    check([a], [vectors @ triangle @ vectors.T, vectors @ vectors.T], *calls)


def test_schur_form_of_what_is_no_number():
    a = of(None, None)
    function = theano.function([a], linalg.schur(a), mode="NATIVE")
    assert is_native(function)
    for found in function(np.array([[1.0, np.nan], [0.0, 1.0]])):
        assert np.isnan(found).all()


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_sylvester_equation_and_its_gradient(n, m):
    inputs = of(None, None), of(None, None), of(None, None)
    function = compiled(inputs, linalg.solve_sylvester(*inputs))
    values = [apart(n), apart(m), numbers(n, m)]
    found = function(*values)
    np.testing.assert_allclose(found[0], scipy.linalg.solve_sylvester(*values), rtol=1e-9)
    for k, gradient in enumerate(found[1:]):
        expected = differences(scipy.linalg.solve_sylvester, values, k)
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_sylvester_equations_without_rows():
    inputs = of(None, None), of(None, None), of(None, None)
    function = theano.function(inputs, linalg.solve_sylvester(*inputs), mode="NATIVE")
    assert function(np.zeros((0, 0)), apart(3), np.zeros((0, 3))).shape == (0, 3)


def test_sylvester_equations_of_stacks_and_transposes():
    a, b, c = of(None, None, None), of(None, None), of(None, None, None)
    stacks = np.stack([apart(3), apart(3).T]), apart(4), numbers(2, 3, 4)
    function = compiled([a, b, c], linalg.solve_sylvester(a.mT[:, ::-1, ::-1], b.T, c))
    expected = [
        scipy.linalg.solve_sylvester(x.T[::-1, ::-1], stacks[1].T, y)
        for x, y in zip(stacks[0], stacks[2], strict=True)
    ]
    np.testing.assert_allclose(function(*stacks)[0], expected, rtol=1e-9)


def test_rows_that_do_not_fit():
    inputs = of(None, None), of(None, None), of(None, None)
    function = theano.function(inputs, linalg.solve_sylvester(*inputs), mode="NATIVE")
    with pytest.raises(ValueError):
        function(apart(3), apart(2), numbers(2, 2))


@pytest.mark.parametrize("method", ["bilinear", "direct"])
def test_discrete_lyapunov_equation_and_its_gradient(method):
    a, q = of(None, None), of(None, None)
    function = compiled([a, q], linalg.solve_discrete_lyapunov(a, q, method=method))
    values = [stable(4), numbers(4, 4)]
    found = function(*values)
    solve = scipy.linalg.solve_discrete_lyapunov
    np.testing.assert_allclose(found[0], solve(*values), rtol=1e-9)
    for k, gradient in enumerate(found[1:]):
        np.testing.assert_allclose(gradient, differences(solve, values, k), rtol=1e-5, atol=1e-6)


def test_continuous_lyapunov_equation():
    a, q = of(None, None), of(None, None)
    function = compiled([a, q], linalg.solve_continuous_lyapunov(a, q))
    values = [apart(4), numbers(4, 4)]
    expected = scipy.linalg.solve_continuous_lyapunov(*values)
    np.testing.assert_allclose(function(*values)[0], expected, rtol=1e-9)


def test_equation_in_each_step_of_a_loop():
    x, q = of(None, None, None), of(None, None)
    solved, _ = theano.scan(linalg.solve_discrete_lyapunov, sequences=[x], non_sequences=[q])
    function = theano.function([x, q], solved, mode="NATIVE")
    assert is_native(function)
    stacks = np.stack([stable(3), stable(3).T])
    expected = [scipy.linalg.solve_discrete_lyapunov(a, np.eye(3)) for a in stacks]
    np.testing.assert_allclose(function(stacks, np.eye(3)), expected, rtol=1e-9)


def test_forms_that_the_engine_leaves_to_pytensor():
    a = of(None, None)
    form = linalg.schur(a, sort="iuc")[0]
    function = theano.function([a], pt.abs(form).sum(), mode="NATIVE")
    assert not is_native(function)
