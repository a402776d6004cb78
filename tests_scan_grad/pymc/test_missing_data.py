"""Missing data in a loop of one's own, a loop that ends early, and the likelihoods by which models compare."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import theano

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")

import theano.pymc  # noqa: E402

DAYS = 40
MISSING = [5, 20, 21]
QUICK = {"draws": 30, "tune": 30, "chains": 1, "cores": 1, "random_seed": 1, "progressbar": False}


def series():
    """Return a series with gaps."""
    values = 0.3 * np.cumsum(np.random.default_rng(1).normal(size=DAYS))
    values[MISSING] = np.nan
    return values


def autoregression(memory, scale, size):
    """Simulate an autoregression."""
    generator = pytensor.shared(np.random.default_rng())

    def step(rng, before, memory, scale):
        following, shock = pt.random.normal(rng=rng, return_next_rng=True)
        return following, memory * before + scale * shock

    _, values = pytensor.scan(
        step,
        outputs_info=[generator, pt.as_tensor(np.float64(0.0))],
        non_sequences=[memory, scale],
        n_steps=DAYS,
        return_updates=False,
    )
    return values


@pytest.fixture(scope="module")
def model():
    with pm.Model() as built:
        memory, scale = pm.Uniform("memory", -1, 1), pm.HalfNormal("scale")
        pm.CustomDist(
            "y", memory, scale, dist=autoregression, signature="(),()->(t)", observed=series()
        )
    return built


def test_the_density_of_a_loop_with_gaps_is_pymcs(model):
    point = model.initial_point()
    value, gradient = theano.pymc.logp_dlogp(model)(point)
    np.testing.assert_allclose(value, model.compile_logp()(point))
    np.testing.assert_allclose(gradient, model.compile_dlogp()(point), atol=1e-9)


def test_gaps_are_sampled_and_likelihoods_kept(model):
    trace = theano.pymc.sample(model=model, **QUICK, idata_kwargs={"log_likelihood": True})
    assert trace.posterior["y_unobserved"].shape == (1, 30, len(MISSING))
    with model:
        again = pm.compute_log_likelihood(trace, extend_inferencedata=False, progressbar=False)
    for name, values in again.items():
        np.testing.assert_allclose(trace.log_likelihood[name], values)
    predicted = theano.pymc.sample_posterior_predictive(trace, model, progressbar=False)
    assert predicted.posterior_predictive["y_observed"].shape == (1, 30, DAYS - len(MISSING))


def test_a_loop_that_ends_early_is_sampled_and_predicted():
    def fade(before, rate):
        now = before * (1 - rate)
        return now, theano.scan_module.until(now < 0.1)

    with pm.Model() as model:
        rate = pm.Uniform("rate", 0.05, 0.9)
        values, _ = theano.scan(
            fade, outputs_info=pt.as_tensor(np.float64(1.0)), non_sequences=rate, n_steps=100
        )
        pm.Normal("z", values.sum(), 0.1, observed=3.0)
    trace = theano.pymc.sample(model=model, **QUICK)
    assert trace.posterior["rate"].shape == (1, 30)
    predicted = theano.pymc.sample_posterior_predictive(trace, model, progressbar=False)
    assert predicted.posterior_predictive["z"].shape == (1, 30)
