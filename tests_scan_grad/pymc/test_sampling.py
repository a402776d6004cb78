"""`theano.pymc.sample`: which sampler it takes, and results like those of `pymc.sample`."""

from __future__ import annotations

import logging
import re

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
nutpie = pytest.importorskip("nutpie", reason="needs the extra [pymc]")

import pytensor.tensor as pt  # noqa: E402
from pymc.exceptions import SamplingError  # noqa: E402
from pytensor.graph.op import Op  # noqa: E402

import theano.pymc  # noqa: E402
from tests_scan_grad.timing.programs import pymc_models  # noqa: E402
from theano.link.native import NotNativeError  # noqa: E402

SHORT = dict(draws=30, tune=60, chains=2, cores=1, progressbar=False, quiet=True)


def schools(**data):
    """Eight schools, with data, coordinates, observations and deterministic values."""
    with pm.Model(coords={"school": list("abcdefgh")}) as model:
        errors = pm.Data("errors", [15.0, 10, 16, 11, 9, 11, 10, 18], dims="school")
        mean, scale = pm.Normal("mean", 0, 5), pm.HalfCauchy("scale", 5)
        offset = pm.Normal("offset", dims="school")
        effect = pm.Deterministic("effect", mean + scale * offset, dims="school")
        scores = [28.0, 8, -3, 7, -1, 1, 18, 12]
        pm.Normal("score", effect, errors, observed=scores, dims="school")
    return model


def counts():
    with pm.Model() as model:
        number = pm.Poisson("number", 3)
        pm.Normal("x", number, 1, observed=2.0)
    return model


def ordered():
    with pm.Model() as model:
        cuts = pm.Normal(
            "cuts", [-1.0, 1.0], transform=pm.distributions.transforms.ordered, shape=2
        )
        pm.OrderedLogistic("y", eta=pm.Normal("eta"), cutpoints=cuts, observed=[0, 1, 2, 1])
    return model


def simplex():
    with pm.Model(coords={"kind": ["x", "y", "z"]}) as model:
        shares = pm.Dirichlet("shares", np.ones(3), dims="kind")
        pm.Multinomial("votes", 10, shares, observed=[5, 3, 2], dims="kind")
    return model


def missing():
    with pm.Model() as model, pytest.warns(Warning):
        pm.Normal("y", pm.Normal("mean"), observed=np.ma.masked_invalid([1.0, np.nan, 2.0]))
    return model


MODELS = {
    "schools": schools,
    "ordered": ordered,
    "simplex": simplex,
    "missing": missing,
    **{
        name: pymc_models.MODELS[name]
        for name in ("garch", "sir", "markov-3", "volatility", "radon", "rnn")
    },
}


def described(trace):
    """Return the groups of a result, and of each its variables, dimensions, dtypes, coordinates."""
    return {
        name: (
            {key: (v.dims, v.shape, v.dtype) for key, v in group.data_vars.items()},
            {key: v.values.tolist() for key, v in group.coords.items()},
            sorted(group.attrs),
        )
        for name, group in trace.children.items()
    }


def assert_like_pymc(model):
    settings = SHORT | dict(discard_tuned_samples=False, idata_kwargs=dict(log_likelihood=True))
    ours = theano.pymc.sample(model, random_seed=1, **settings)
    with model, pytest.warns(FutureWarning, match="log_likelihood"):
        theirs = pm.sample(random_seed=1, nuts_sampler="nutpie", **settings)
    assert described(ours) == described(theirs)
    for group in ("observed_data", "constant_data"):
        assert ours[group].to_dataset().equals(theirs[group].to_dataset())


def test_results_are_arranged_as_those_of_pymc():
    assert_like_pymc(schools())


@pytest.mark.heavy
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", [name for name in MODELS if name != "schools"])
def test_results_of_other_models_are_arranged_as_those_of_pymc(name):
    assert_like_pymc(MODELS[name]())


def sampler_of(trace):
    return trace.posterior.attrs["inference_library"]


def test_what_pymc_takes_is_taken(monkeypatch):
    model = schools()
    seen = {}
    sample = nutpie.sample

    def record(compiled, **settings):
        seen.update(settings, starts=compiled.starts)
        return sample(compiled, **settings)

    monkeypatch.setattr(nutpie, "sample", record)
    with model:
        trace = theano.pymc.sample(
            **SHORT,
            random_seed=3,
            target_accept=0.9,
            nuts={"max_treedepth": 5},
            initvals={model["mean"]: 2.0, "scale": 3.0},
            var_names=["mean", "effect"],
        )
    assert (seen["target_accept"], seen["maxdepth"]) == (0.9, 5)
    assert all(abs(start["mean"] - 2) <= 1 for start in seen["starts"])
    assert {"mean", "effect"} <= set(trace.posterior.data_vars)
    again = theano.pymc.sample(30, model=model, **{**SHORT, "draws": 30}, random_seed=4)
    assert again.posterior.sizes["draw"] == 30 and seen["seed"] != 3


def test_the_same_seed_gives_the_same_draws():
    model = schools()
    first, second, other = (
        theano.pymc.sample(model, random_seed=seed, **SHORT).posterior["mean"].values
        for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


# arguments that choose PyMC's samplers -> what the message says
BY_PYMC = {
    "step": (lambda model: dict(step=pm.Metropolis(model=model)), "nutpie does not take step"),
    "initvals": (lambda model: dict(initvals=[{}, {}]), "starts all chains at the same initvals"),
    "asked": (lambda model: dict(nuts_sampler="pymc"), "nuts_sampler='pymc' asks for it"),
    "callback": (lambda model: dict(callback=lambda **_: None), "nutpie does not take callback"),
}


@pytest.mark.parametrize("case", BY_PYMC)
def test_what_nutpie_has_not_is_sampled_by_pymc_with_the_reason(case, caplog):
    model = schools()
    settings, reason = BY_PYMC[case]
    with caplog.at_level(logging.INFO, "pymc"):
        trace = theano.pymc.sample(model, **{**SHORT, "quiet": False}, **settings(model))
    assert sampler_of(trace) == "pymc"
    assert [r.message for r in caplog.records if reason in r.message]


def test_discrete_models_are_sampled_by_pymc(caplog):
    with caplog.at_level(logging.INFO, "pymc"):
        trace = theano.pymc.sample(counts(), **{**SHORT, "quiet": False})
    assert sampler_of(trace) == "pymc" and trace.posterior["number"].dtype.kind == "i"
    assert any("number cannot be differentiated" in r.message for r in caplog.records)


def test_nutpie_that_is_asked_for_and_cannot_be_is_an_error():
    with pytest.raises(NotNativeError, match="number cannot be differentiated"):
        theano.pymc.sample(counts(), nuts_sampler="nutpie", **SHORT)


def test_a_model_without_free_variables_is_refused_as_pymc_does():
    with pm.Model() as model:
        pm.Normal("x", observed=1.0)
    with pytest.raises(SamplingError, match="does not contain any free variables"):
        theano.pymc.sample(model, **SHORT)


@pytest.mark.parametrize(
    "name, wrong, error",
    [
        ("draws", -1, ValueError),
        ("draws", 1.5, TypeError),
        ("tune", -1, ValueError),
        ("chains", 0, ValueError),
        # nutpie would wait for ever
        ("cores", 0, ValueError),
        ("cores", True, TypeError),
    ],
)
def test_counts_that_no_sampler_takes_are_refused(name, wrong, error):
    with pytest.raises(error, match=f"sample: {name} must be .*, but is {wrong}"):
        theano.pymc.sample(schools(), **{**SHORT, name: wrong})


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"save_warmup": True}, "save_warmup=True of nutpie.sample; give discard_tuned_samples"),
        ({"blocking": False}, "blocking=False of nutpie.sample; call nutpie.sample"),
        ({"nuts_sampler_kwargs": {"foo": 1}}, "got foo=1"),
    ],
)
def test_options_that_mean_something_else_are_refused(wrong, message):
    with pytest.raises(TypeError, match=message):
        theano.pymc.sample(schools(), **SHORT, **wrong)


def test_initial_values_of_no_variable_are_refused():
    for starts in ({"efect": 1.0}, [{"mean": 1.0}, {"efect": 1.0}]):
        with pytest.raises(KeyError, match="initvals: no 'efect' in the model, which has "):
            theano.pymc.sample(schools(), initvals=starts, **SHORT)


def test_the_older_name_of_nuts_is_taken():
    trace = theano.pymc.sample(schools(), nuts_sampler_kwargs={"adaptation": "low_rank"}, **SHORT)
    assert sampler_of(trace) == "nutpie"


def test_names_of_observations_and_data_are_taken_as_pymc_takes_them():
    trace = theano.pymc.sample(schools(), var_names=["mean", "effect", "score", "errors"], **SHORT)
    assert {"mean", "effect"} <= set(trace.posterior.data_vars)
    assert not {"score", "errors"} & set(trace.posterior.data_vars)


def test_names_that_are_none_are_refused():
    with pytest.raises(KeyError, match="var_names: no 'efect' in the model, which has "):
        theano.pymc.sample(schools(), var_names=["efect"], **SHORT)


def test_discrete_variables_are_refused_before_anything_else():
    with pytest.raises(ValueError, match=r"discrete: number\. theano\.pymc\.sample samples"):
        theano.pymc.compile_model(counts())


# ---- starting points ----


def test_a_model_that_is_finite_at_its_starting_values_only_is_taken():
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        pm.Potential("near", pt.switch(pt.all(abs(x - 100) < 1e-6), 0.0, -np.inf))
    with pytest.raises(SamplingError):
        theano.pymc.compile_model(model)
    for key in ("x", model["x"]):
        compiled = theano.pymc.compile_model(model, initial_points={key: [100.0, 100.0]})
        np.testing.assert_array_equal(compiled.initial_point_func(7), [100, 100])


# ---- freezing ----


def of_data(length):
    """A model with a part that follows from its data."""
    with pm.Model() as model:
        x = pm.Data("x", np.arange(float(length)))
        centred = (x - x.mean()) / x.std()
        pm.Normal("y", pm.Normal("slope") * centred, observed=np.arange(length) ** 3)
    return model


def test_data_are_constants_of_what_is_frozen():
    model = of_data(5)
    free, frozen = (theano.pymc.logp_dlogp(model, freeze_model=asked) for asked in (None, True))
    for slope in (0.0, 1.5):
        for a, b in zip(free([slope]), frozen([slope]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)
    before = frozen([1.5])[0]
    with model:
        pm.set_data({"x": np.array([1.0, 5, 2, 2, 0])})
    assert free([1.5])[0] != before == frozen([1.5])[0]
    assert free.function.get_shared() and not frozen.function.get_shared()


def test_a_frozen_model_says_how_to_change_its_data():
    model = of_data(5)
    assert theano.pymc.compile_model(model).with_data(x=np.arange(5.0) ** 2)
    frozen = theano.pymc.compile_model(model, freeze_model=True)
    with pytest.raises(KeyError, match="freeze_model=False"):
        frozen.with_data(x=np.arange(5.0))


@pytest.mark.parametrize("freeze_model", [None, False])
def test_a_model_without_data_says_what_makes_them(freeze_model):
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("x"), observed=np.ones(3))
    compiled = theano.pymc.compile_model(model, freeze_model=freeze_model)
    with pytest.raises(KeyError, match=r"which has none: pm.Data\('y', ...\) makes"):
        compiled.with_data(y=np.zeros(3))


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_data_that_are_not_finite_are_named(odd):
    compiled = theano.pymc.compile_model(of_data(5))
    with pytest.raises(SamplingError, match=rf"Of the data given, x is {odd} at \[2\]\.$"):
        compiled.with_data(x=np.array([0.0, 1.0, odd, odd, 2.0]))


def test_coordinates_alone_are_frozen():
    with pm.Model(coords={"place": range(3)}) as model:
        pm.Normal("x", dims="place")
    compiled = theano.pymc.compile_model(model)
    assert compiled.frozen and not compiled.shared_data
    assert not theano.pymc.compile_model(model, freeze_model=False).frozen


def test_what_has_no_gradient_is_sampled_by_pymc(caplog):
    class Square(Op):
        itypes, otypes = [pt.dscalar], [pt.dscalar]

        def perform(self, node, inputs, outputs):
            outputs[0][0] = np.asarray(inputs[0] ** 2)

    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Normal("y", Square()(x), 1, observed=1.0)
    with caplog.at_level(logging.INFO, "pymc"):
        trace = theano.pymc.sample(model, **{**SHORT, "quiet": False})
    assert "has no gradient" in caplog.text
    assert np.isfinite(trace["posterior"]["x"].values).all()
    with pytest.raises(NotImplementedError, match="has no gradient"):
        theano.pymc.compile_model(model)


def test_a_model_that_cannot_be_copied_is_not_frozen(monkeypatch):
    from theano.pymc import freezing

    def fail(model):
        raise ValueError("no copy")

    monkeypatch.setattr(freezing, "freeze_dims_and_data", fail)
    model = of_data(3)
    trace = theano.pymc.sample(model, **SHORT)
    assert sampler_of(trace) == "nutpie"
    with pytest.raises(NotImplementedError, match="no copy"):
        theano.pymc.compile_model(model, freeze_model=True)


@pytest.mark.parametrize(
    ("settings", "nearest"),
    [
        ({"drows": 10}, "got drows=10; did you mean 'draws'?"),
        ({"target_acept": 0.9}, "got target_acept=0.9; did you mean 'target_accept'?"),
        ({"nuts": {"max_treedpth": 5}}, "got max_treedpth=5; did you mean 'max_treedepth'?"),
    ],
)
def test_a_misspelt_keyword_is_refused_before_the_model_is_compiled(settings, nearest, monkeypatch):
    with pm.Model() as model:
        pm.Normal("x")
    compiled = []
    monkeypatch.setattr("theano.pymc.compiled_model.compile_model", compiled.append)
    with pytest.raises(TypeError, match=re.escape(nearest)):
        theano.pymc.sample(model=model, **settings)
    assert not compiled
