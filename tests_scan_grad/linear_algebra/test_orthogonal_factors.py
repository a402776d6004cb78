"""The factors Q and R of a matrix: shapes, gradients of matrices of any shape, and filters of them."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.link.native import report
from theano.tensor.nlinalg import qr

SHAPES = [(3, 2), (3, 3), (2, 4), (1, 3), (3, 1)]
MODES = ["reduced", "complete", "r"]
# which of the factors a cost is of
USED = [(mode, used) for mode in MODES[:2] for used in ([0], [1], [0, 1])] + [("r", [0])]
SMALL = 1e-6


def listed(factors):
    return list(factors) if isinstance(factors, list | tuple) else [factors]


def numbers(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


def cost_of(factors, used):
    """A cost that no symmetry makes stationary, of some of the factors."""
    return sum(
        (T.sin(f) * T.arange(1, f.size + 1).reshape(f.shape)).sum()
        for k, f in enumerate(factors)
        if k in used
    )


def by_differences(cost, value):
    found = np.zeros_like(value)
    for at in np.ndindex(*value.shape):
        change = np.zeros_like(value)
        change[at] = SMALL
        found[at] = (cost(value + change) - cost(value - change)) / (2 * SMALL)
    return found


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", MODES)
def test_factors_are_numpys(mode, shape):
    a = T.dmatrix("a")
    found = theano.function([a], listed(qr(a, mode)))(numbers(*shape))
    expected = listed(np.linalg.qr(numbers(*shape), mode))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(("mode", "used"), USED)
def test_gradients(mode, used, static, shape):
    if mode == "complete" and shape[0] > shape[1]:
        used = [1]  # Q has no gradient
    a = T.tensor(dtype="float64", shape=shape) if static else T.dmatrix("a")
    cost = cost_of(listed(qr(a, mode)), used)
    f = theano.function([a], [cost, theano.grad(cost, a)])
    assert not report(f).calls
    value = numbers(*shape)
    expected = by_differences(lambda x: f(x)[0], value)
    np.testing.assert_allclose(f(value)[1], expected, rtol=1e-6, atol=1e-7)


def test_columns_that_are_not_determined_have_no_gradient():
    a = T.dmatrix("a")
    f = theano.function([a], theano.grad(qr(a, "complete")[0].sum(), a))
    with pytest.raises(AssertionError, match="expected no more rows than columns"):
        f(numbers(3, 2))


@pytest.mark.parametrize("shape", [(3, 2), (2, 3)])
def test_second_derivatives_and_stacks(shape):
    a, stack = T.dmatrix("a"), T.dtensor3("stack")
    gradient = theano.grad(cost_of(qr(a), [0, 1]), a)
    values = np.stack([numbers(*shape), 2 + numbers(*shape)])
    of_one = theano.function([a], gradient)
    weights = numbers(*shape)
    second = theano.function([a], theano.grad((gradient * weights).sum(), a))
    expected = by_differences(lambda x: (of_one(x) * weights).sum(), values[0])
    np.testing.assert_allclose(second(values[0]), expected, rtol=1e-5, atol=1e-5)
    q, r = qr(stack)
    cost = sum(cost_of([q[k], r[k]], [0, 1]) for k in range(2))
    f = theano.function([stack], theano.grad(cost, stack))
    assert not report(f).calls
    np.testing.assert_allclose(f(values), [of_one(value) for value in values], rtol=1e-9)


def square_root_filter(seen, noise, transition):
    """Kalman's filter in factors of covariances: one triangle holds all that a step needs."""
    n = 2

    def step(value, mean, root, noise, transition):
        spread = qr(T.concatenate([T.dot(transition, root).T, noise * T.eye(n)]), "r").T
        of_all = T.concatenate(
            [
                T.concatenate([T.eye(n), T.zeros((n, n))], axis=1),
                T.concatenate([spread.T, spread.T], axis=1),
            ]
        )
        triangle = qr(of_all, "r").T
        innovation = T.slinalg.solve_triangular(
            triangle[:n, :n], value - T.dot(transition, mean), lower=True, b_ndim=1
        )
        mean = T.dot(transition, mean) + T.dot(triangle[n:, :n], innovation)
        size = T.log(abs(T.diag(triangle[:n, :n]))).sum()
        return mean, triangle[n:, n:], -0.5 * (innovation**2).sum() - size

    (_, _, densities), _ = theano.scan(
        step,
        sequences=seen,
        outputs_info=[T.zeros(n), T.eye(n), None],
        non_sequences=[noise, transition],
    )
    return densities.sum()


def covariance_filter(seen, noise, transition):
    mean, spread, total = np.zeros(2), np.eye(2), 0.0
    for value in seen:
        mean, spread = transition @ mean, transition @ spread @ transition.T + noise**2 * np.eye(2)
        of_value = spread + np.eye(2)
        gain, off = spread @ np.linalg.inv(of_value), value - mean
        total -= 0.5 * off @ np.linalg.inv(of_value) @ off + 0.5 * np.linalg.slogdet(of_value)[1]
        mean, spread = mean + gain @ off, spread - gain @ spread
    return total


def test_a_square_root_filter_and_its_gradient_are_native():
    seen, noise, transition = T.dmatrix("seen"), T.dscalar("noise"), T.dmatrix("transition")
    cost = square_root_filter(seen, noise, transition)
    f = theano.function([seen, noise, transition], [cost, *theano.grad(cost, [noise, transition])])
    found = report(f)
    assert not found.calls and all(loop.reason is None for loop in found.loops)
    values = [numbers(8, 2), 0.7, np.array([[0.9, 0.2], [-0.1, 0.8]])]
    value, of_noise, of_transition = f(*values)
    np.testing.assert_allclose(value, covariance_filter(*values))
    expected = by_differences(lambda x: covariance_filter(values[0], x, values[2]), np.array(0.7))
    np.testing.assert_allclose(of_noise, expected, rtol=1e-6)
    expected = by_differences(lambda x: covariance_filter(values[0], 0.7, x), values[2])
    np.testing.assert_allclose(of_transition, expected, rtol=1e-6)
