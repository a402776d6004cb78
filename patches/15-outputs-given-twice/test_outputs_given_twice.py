import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function
from pytensor.gradient import pullback, pushforward

X, U, V = np.array([0.5, -1.0]), np.array([2.0, 3.0]), np.array([5.0, 7.0])


@pytest.fixture
def vectors():
    return pt.dvectors("x", "u", "v")


def values(inputs, output):
    return function(inputs, output, on_unused_input="ignore")(X, U, V)


def test_an_output_given_twice(vectors):
    x, u, v = vectors
    y = pt.sin(x)
    found = values(vectors, pullback([y, y], x, [u, v]))
    np.testing.assert_allclose(found, (U + V) * np.cos(X))


@pytest.mark.parametrize("swapped", [False, True])
def test_an_output_computed_from_another(vectors, swapped):
    x, u, v = vectors
    y = pt.tanh(x)
    pairs = [(pt.sin(y), u), (y, v)]
    outputs, weights = zip(*(pairs[::-1] if swapped else pairs), strict=True)
    found = values(vectors, pullback(list(outputs), x, list(weights)))
    np.testing.assert_allclose(found, (U * np.cos(np.tanh(X)) + V) * (1 - np.tanh(X) ** 2))


def test_an_output_that_is_what_is_differentiated_by(vectors):
    x, u, v = vectors
    found = values(vectors, pullback([pt.sin(x), x], x, [u, v]))
    np.testing.assert_allclose(found, U * np.cos(X) + V)


def test_a_tangent_along_two_operands_of_one_sum(vectors):
    x, u, v = vectors
    y = pt.dvector("y")
    tangent = pushforward(pt.tanh(x + y), [x, y], [u, v], use_op_pushforward=False)
    found = function([x, y, u, v], tangent)(X, X, U, V)
    np.testing.assert_allclose(found, (U + V) * (1 - np.tanh(2 * X) ** 2))


def test_other_outputs_are_left_as_they_are(vectors):
    x, u, v = vectors
    found = values(vectors, pullback([pt.sin(x), pt.exp(x)], x, [u, v]))
    np.testing.assert_allclose(found, U * np.cos(X) + V * np.exp(X))
