"""compute_test_value in loops: the step's arguments, the results and the gradients have values."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.gof.test_values import get_test_value

X = np.arange(6.0).reshape(3, 2)


@pytest.fixture
def x():
    with theano.change_flags(compute_test_value="raise"):
        x = T.dmatrix("x")
        x.tag.test_value = X
        yield x


def test_results_and_gradients_have_values(x):
    total, _ = theano.scan(lambda s, h: s + h, sequences=x, outputs_info=[T.zeros_like(x[0])])
    np.testing.assert_array_equal(total.tag.test_value, np.cumsum(X, axis=0))
    slope = theano.grad((total[-1] ** 2).sum(), x)
    np.testing.assert_array_equal(slope.tag.test_value, np.tile(2 * X.sum(axis=0), (3, 1)))
    along = theano.Rop(total[-1], x, T.ones_like(x))
    np.testing.assert_array_equal(along.tag.test_value, [3, 3])


def test_gradient_of_an_elementwise_operation_has_a_value(x):
    slope = theano.grad((x**3).sum(), x)
    np.testing.assert_allclose(slope.tag.test_value, 3 * X**2)


def test_step_sees_values_of_its_arguments(x):
    seen = []

    def step(ahead, here, two_before, before, total, w):
        seen.extend(get_test_value(v) for v in (ahead, here, two_before, before, total, w))
        return here + before, total + here

    w = theano.shared(np.full(2, 7.0))
    theano.scan(
        step,
        sequences={"input": x, "taps": [1, 0]},
        outputs_info=[{"initial": 10 * x[:2], "taps": [-2, -1]}, x[2]],
        non_sequences=w,
    )
    expected = [X[1], X[0], 10 * X[0], 10 * X[1], X[2], [7, 7]]
    np.testing.assert_array_equal(np.array(seen), np.array(expected))


def test_wrong_shape_is_found_in_the_step(x):
    def step(row):
        return T.dot(row, T.ones((3, 2)))

    with pytest.raises(ValueError, match="shapes|aligned|mismatch"):
        theano.scan(step, sequences=x)


def test_missing_value_is_reported():
    with theano.change_flags(compute_test_value="raise"):
        y = T.dvector("y")
        with pytest.raises(ValueError, match="has no test value"):
            theano.scan(lambda s: s + 1, sequences=y)


def test_loop_in_a_loop(x):
    def row_sum(row):
        return theano.reduce(lambda e, total: e + total, row, T.zeros(()))[0]

    sums, _ = theano.map(row_sum, x)
    np.testing.assert_array_equal(sums.tag.test_value, X.sum(axis=1))


def test_gradient_of_products_in_a_loop_has_a_value(x):
    w = theano.shared(np.full((2, 2), 0.5))
    outputs, _ = theano.scan(lambda row, w: T.tanh(T.dot(row, w)), sequences=x, non_sequences=w)
    slope = theano.grad(outputs.sum(), w)
    expected = X.T @ (1 - np.tanh(X @ w.get_value()) ** 2)
    np.testing.assert_allclose(slope.tag.test_value, expected)
