"""Values computed from lengths while tracing, which have the declared dtypes."""

import numpy as np
import pytest

import theano
import theano.tensor as T

pytest.importorskip("jax")


def test_the_inverse_of_a_length_is_no_integer():
    x, w = T.matrix("x"), T.matrix("w")
    gradient = T.grad(w.sum() / x.shape[0], w)
    for _ in range(2):
        f = theano.function([x, w], gradient, mode="XLA")
        np.testing.assert_allclose(f(np.ones((4, 2)), np.ones((1, 3))), np.full((1, 3), 0.25))
