"""Random values besides a model's free variables: each call draws them again, as PyMC does."""

from __future__ import annotations

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
pytest.importorskip("nutpie", reason="needs the extra [pymc]")

import theano.pymc  # noqa: E402
from theano.link.native import NotNativeError  # noqa: E402

ROWS = np.arange(1000.0)


def minibatch():
    with pm.Model() as model:
        rows = pm.Minibatch(ROWS, batch_size=10)
        pm.Normal("seen", pm.Normal("mu"), 1, observed=rows, total_size=len(ROWS))
    return model


def test_each_call_takes_another_batch():
    density = theano.pymc.logp_dlogp(minibatch())
    found = [density(np.zeros(1)) for _ in range(200)]
    assert len({value for value, _ in found}) > 150
    # each is an estimate of all rows' density and gradient
    mean = np.mean([gradient for _, gradient in found])
    np.testing.assert_allclose(mean, ROWS.sum(), rtol=0.1)


def test_value_and_gradient_are_of_one_batch():
    density = theano.pymc.logp_dlogp(minibatch())
    for _ in range(5):
        value, gradient = density(np.zeros(1))
        # -100 * sum(rows ** 2) / 2 and 100 * sum(rows): no other batch fits both
        squares, total = -(value + 0.5 * np.log(2 * np.pi) * 1001) / 50, gradient[0] / 100
        assert total == round(total) and 0 <= squares * 10 - total**2 < 10 * squares


def test_a_sampler_in_c_refuses_batches():
    with pytest.raises(NotNativeError, match="Minibatch"):
        theano.pymc.compile_model(minibatch())


def test_a_kept_value_that_is_drawn_is_refused():
    with pm.Model() as model:
        pm.Deterministic("drawn", pm.Normal("mu") + pm.Normal.dist())
    with pytest.raises(NotNativeError, match="drawn"):
        theano.pymc.compile_model(model)
    assert theano.pymc.compile_model(model, var_names=["mu"]).n_dim == 1
