"""Exponentials of a step are computed again in the backward step, which keeps them finite."""

import numpy as np
import pytest

import theano
import theano.tensor as T

ROWS = 1000 * np.array([[1.0, 0.5, -0.25], [0.75, -1.0, 0.5]])


def softplus(z, y):
    return T.log1p(T.exp(z.sum())) - y[0] * z.sum()


def crossentropy(z, y):
    e = T.exp(z)
    return -(y * T.log(e / e.sum())).sum()


def subtracted(z, y):
    e = T.exp(z - z.max())
    return -(y * T.log(e / e.sum())).sum()


LOSSES = {
    softplus: lambda z, y: (z.sum(axis=1, keepdims=True) > 0) - y[:, :1],
    crossentropy: lambda z, y: (z == z.max(axis=1, keepdims=True)) - y,
    subtracted: lambda z, y: (z == z.max(axis=1, keepdims=True)) - y,
}


def gradient_of(loss, dtype):
    """Return the gradient by the weights of a loss in a loop, of the rows that are multiplied by them."""
    x, w = T.dmatrix("x"), T.dvector("w")
    y = T.TensorType(dtype, (None, None))("y")
    losses, _ = theano.scan(lambda x_t, y_t, w: loss(x_t * w, y_t), [x, y], non_sequences=[w])
    return [x, y, w], T.grad(losses.sum(), w)


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_a_gradient_is_finite_where_exponentials_overflow(loss, dtype):
    inputs, gradient = gradient_of(loss, dtype)
    y = np.array([[1, 0, 0], [0, 0, 1]], dtype)
    found = theano.function(inputs, gradient)(ROWS, y, np.ones(3))
    expected = (ROWS * LOSSES[loss](ROWS, y.astype("float64"))).sum(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
