"""Models of `pymc.dims`, whose variables have named axes."""

from __future__ import annotations

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
pytest.importorskip("nutpie", reason="needs the extra [pymc]")
pmd = pytest.importorskip("pymc.dims", reason="needs pymc.dims")

import nutpie  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

import theano.pymc  # noqa: E402
from theano.link.native import report  # noqa: E402

SPENT = np.random.default_rng(0).gamma(2.0, 1.0, (12, 3))
SOLD = np.random.default_rng(1).standard_normal(12)


def channels():
    with pm.Model(coords={"day": range(12), "channel": list("abc")}) as model:
        spending = pmd.Data("spent", SPENT, dims=("day", "channel"))
        effect = pmd.Normal("effect", 0.0, 1.0, dims="channel")
        scale = pmd.HalfNormal("scale", 1.0)
        mean = pmd.Deterministic("mean", (spending * effect).sum("channel"))
        pmd.Normal("sold", mean, scale, observed=pmd.as_xtensor(SOLD, dims=("day",)))
    return model


def test_densities_and_gradients_are_those_of_pymc():
    model = channels()
    density = theano.pymc.logp_dlogp(model)
    logp, dlogp = model.compile_logp(), model.compile_dlogp()
    random = np.random.default_rng(1)
    for _ in range(3):
        vector = random.standard_normal(density.points.count)
        value, gradient = density(vector)
        point = density.points.by_name(vector)
        np.testing.assert_allclose(value, logp(point), rtol=1e-12)
        np.testing.assert_allclose(gradient, dlogp(point), rtol=1e-10)
    assert not report(density.function).calls


def test_nutpie_samples_them():
    compiled = theano.pymc.compile_model(channels())
    trace = nutpie.sample(compiled, draws=20, tune=20, chains=1, seed=1, progress_bar=False)
    effect = trace.posterior["effect"].values
    np.testing.assert_allclose(trace.posterior["mean"].values, effect @ SPENT.T)
    other = compiled.with_data(spent=np.ones((12, 3)))
    trace = nutpie.sample(other, draws=5, tune=5, chains=1, seed=1, progress_bar=False)
    effect = trace.posterior["effect"].values
    np.testing.assert_allclose(trace.posterior["mean"].values[..., 0], effect.sum(-1))


def test_functions_of_pymc_read_them_in_c():
    model = channels()
    values = [*model.value_vars]
    outputs = [model.logp(), model.dlogp()]
    found = model.compile_fn(outputs, inputs=values, mode=theano.pymc.mode, point_fn=False)
    assert not report(found).calls
    expected = model.compile_fn(outputs, inputs=values, mode="FAST_COMPILE", point_fn=False)
    random = np.random.default_rng(2)
    for _ in range(2):
        point = [random.standard_normal(shape) for shape in ((3,), ())]
        for ours, theirs in zip(found(*point), expected(*point), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_results_with_named_axes_are_arrays():
    x = pmd.as_xtensor(SPENT, dims=("day", "channel"))
    y = pt.dscalar("y")
    f = pm.compile([y], [(x * pmd.as_xtensor(y)).sum("day"), y + 1], mode=theano.pymc.mode)
    np.testing.assert_allclose(f(2.0)[0], 2 * SPENT.sum(0))
    assert not report(f).calls
