"""Whole functions in mode 'XLA' against the Python linker."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T

pytest.importorskip("jax")


def test_a_cost_its_gradient_and_an_update():
    rng = np.random.default_rng(0)
    start = rng.normal(size=(3, 4))
    x, w = T.matrix("x"), theano.shared(start, name="w")
    cost = T.tanh(x.dot(w)).sum()
    gradient = theano.grad(cost, w)
    train = theano.function([x], [cost, gradient], updates=[(w, w - 0.1 * gradient)], mode="XLA")
    value = rng.normal(size=(5, 3))
    activations = np.tanh(value @ start)
    found_cost, found_gradient = train(value)
    expected = value.T @ (1 - activations**2)
    np.testing.assert_allclose(found_cost, activations.sum(), rtol=1e-12)
    np.testing.assert_allclose(found_gradient, expected, rtol=1e-12)
    np.testing.assert_allclose(w.get_value(), start - 0.1 * expected, rtol=1e-12)
