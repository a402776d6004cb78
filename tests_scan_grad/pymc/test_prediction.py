"""Draws from priors, posteriors and single variables are those of PyMC for the same seed."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
import xarray

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")

import theano.pymc  # noqa: E402
from theano.link.native import report  # noqa: E402
from theano.pymc import prediction  # noqa: E402

IN_PYTHON = {"mode": "FAST_COMPILE"}
DAYS = 60


def returns(omega, alpha, beta, size):
    """A GARCH model of so many days, simulated."""
    generator = pytensor.shared(np.random.default_rng())

    def step(rng, variance, omega, alpha, beta):
        following, shock = pt.random.normal(rng=rng, return_next_rng=True)
        value = pt.sqrt(variance) * shock
        return following, omega + alpha * value**2 + beta * variance, value

    _, _, values = pytensor.scan(
        step,
        outputs_info=[generator, pt.as_tensor(np.float64(1.0)), None],
        non_sequences=[omega, alpha, beta],
        n_steps=DAYS,
        return_updates=False,
    )
    return values


def garch():
    with pm.Model(coords={"day": range(DAYS)}) as model:
        scale = pm.HalfNormal("scale")
        shocks, memory = (pm.Uniform(name, 0, 0.5) for name in ("shocks", "memory"))
        pm.CustomDist(
            "r",
            *(scale, shocks, memory),
            dist=returns,
            logp=lambda value, *_: pt.zeros_like(value),
            signature="(),(),()->(t)",
            observed=np.random.default_rng(0).normal(size=DAYS),
            dims="day",
        )
        pm.Deterministic("doubled", 2 * scale)
    return model


def counts():
    with pm.Model() as model:
        rate = pm.Gamma("rate", 2, 1, shape=3)
        kind = pm.Categorical("kind", p=[0.2, 0.3, 0.5])
        pm.Poisson("seen", rate[kind] + pm.math.exp(pm.Normal("more")), observed=[1, 2, 3, 4])
    return model


MODELS = {"garch": garch, "counts": counts}


def check_equal(ours, theirs):
    assert set(ours.children) == set(theirs.children)
    for group in theirs.children:
        assert dict(ours[group].sizes) == dict(theirs[group].sizes)
        for name, values in theirs[group].data_vars.items():
            np.testing.assert_allclose(ours[group][name], values, rtol=1e-12, err_msg=name)
            assert ours[group][name].dtype == values.dtype


@pytest.mark.parametrize("name", MODELS)
def test_draws_from_the_prior(name):
    model = MODELS[name]()
    ours = theano.pymc.sample_prior_predictive(20, model, random_seed=5)
    with model:
        theirs = pm.sample_prior_predictive(20, random_seed=5, compile_kwargs=IN_PYTHON)
        check_equal(ours, theirs)
        names = theano.pymc.sample_prior_predictive(
            3, var_names=[*model.named_vars][:1], random_seed=5, return_inferencedata=False
        )
    assert [*names] == [*model.named_vars][:1]


@pytest.mark.parametrize("name", MODELS)
def test_draws_given_a_posterior(name):
    model = MODELS[name]()
    with model:
        prior = pm.sample_prior_predictive(10, random_seed=5, compile_kwargs=IN_PYTHON).prior
    posterior = xarray.concat([prior.dataset, prior.dataset], "chain")
    ours = theano.pymc.sample_posterior_predictive(
        posterior, model, random_seed=7, progressbar=False
    )
    with model:
        theirs = pm.sample_posterior_predictive(
            posterior, random_seed=7, progressbar=False, compile_kwargs=IN_PYTHON
        )
    check_equal(ours, theirs)


VARIABLES = {
    "one": lambda: pm.Normal.dist(),
    "several": lambda: [a := pm.Gamma.dist(2, 1, shape=3), a + pm.Normal.dist()],
    "a mixture": lambda: pm.Mixture.dist(
        w=[0.3, 0.7], comp_dists=[pm.Normal.dist(0, 1), pm.Normal.dist(5, 1)]
    ),
    "a loop": lambda: returns(0.1, 0.2, 0.3, None),
    "drawn by Python": lambda: pm.MvNormal.dist(np.zeros(2), np.eye(2)),
    "no draw": lambda: pt.as_tensor(np.arange(3.0)),
}


@pytest.mark.parametrize("draws", [1, 4])
@pytest.mark.parametrize("name", VARIABLES)
def test_draws_of_variables(name, draws):
    variables = VARIABLES[name]()
    ours = theano.pymc.draw(variables, draws=draws, random_seed=3)
    theirs = pm.draw(variables, draws=draws, random_seed=3, **IN_PYTHON)
    assert type(ours) is type(theirs)
    pairs = zip(ours, theirs, strict=True) if isinstance(ours, list) else [(ours, theirs)]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-12, strict=True)


def test_all_draws_are_one_call(monkeypatch):
    reports = []
    monkeypatch.setattr(prediction, "report", lambda f: reports.append(report(f)) or reports[-1])
    mixture = VARIABLES["a mixture"]()
    assert theano.pymc.draw(mixture, draws=9, random_seed=1).shape == (9,)
    (found,) = reports
    assert [loop.reason for loop in found.loops] == [None]


def test_a_mode_that_is_asked_for_is_taken():
    with counts():
        ours = theano.pymc.sample_prior_predictive(3, random_seed=1, compile_kwargs=IN_PYTHON)
        theirs = pm.sample_prior_predictive(3, random_seed=1, compile_kwargs=IN_PYTHON)
    check_equal(ours, theirs)
    drawn = theano.pymc.draw(pm.Normal.dist(), draws=2, random_seed=1, mode="FAST_COMPILE")
    np.testing.assert_array_equal(drawn, pm.draw(pm.Normal.dist(), draws=2, random_seed=1))


def test_what_is_no_model_is_refused():
    for function in (
        theano.pymc.sample_prior_predictive,
        lambda **k: theano.pymc.sample_posterior_predictive([], **k),
    ):
        with pytest.raises(TypeError, match="expected a pymc.Model, got none, outside"):
            function()
        with pytest.raises(TypeError, match="expected a pymc.Model, got 3"):
            function(model=3)
