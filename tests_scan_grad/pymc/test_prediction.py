"""Draws from priors, posteriors and single variables are those of PyMC for the same seed."""

from __future__ import annotations

import warnings

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
import xarray
from pytensor.graph.traversal import graph_inputs
from pytensor.tensor.random.type import RandomGeneratorType

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")

import theano.pymc  # noqa: E402
from theano.link.native import report  # noqa: E402
from theano.pymc import loop_over_draws  # noqa: E402

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
    "vectors": lambda: pm.MvNormal.dist(np.zeros(2), np.eye(2)),
    "drawn by Python": lambda: pm.TruncatedNormal.dist(0, 1, lower=np.zeros(2)),
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
    monkeypatch.setattr(
        loop_over_draws, "report", lambda f: reports.append(report(f)) or reports[-1]
    )
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


def states(model):
    """Of all generators that a model's variables draw from."""
    found = [
        variable.get_value().bit_generator.state
        for variable in graph_inputs(model.basic_RVs)
        if isinstance(variable.type, RandomGeneratorType)
    ]
    return found


def posterior_of(model, draws=6):
    with model, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The effect of Potentials")
        prior = pm.sample_prior_predictive(draws, random_seed=5, compile_kwargs=IN_PYTHON).prior
    return xarray.concat([prior.dataset, prior.dataset.roll(draw=1)], "chain")


WAYS = {
    "as they are": {},
    "named": {"var_names": ["r", "doubled", "scale"]},
    "one named": {"var_names": "r"},
    "sampled again": {"var_names": ["r", "shocks"], "sample_vars": ["shocks"]},
    "computed again": {"sample_vars": "doubled"},
    "kept": {"freeze_vars": ["doubled"], "var_names": ["doubled", "r"]},
    "predictions": {"predictions": True},
    "by names": {"return_inferencedata": False},
    "more coordinates": {"idata_kwargs": {"coords": {"day": range(5, DAYS + 5)}}},
}


@pytest.mark.parametrize("way", WAYS)
def test_predictions_in_one_loop_are_those_of_pymc(way, monkeypatch):
    results = []
    for one_loop in (True, False):
        model = garch()
        arguments = {**WAYS[way], "random_seed": 7, "progressbar": False}
        posterior = posterior_of(model)
        if one_loop:
            with monkeypatch.context() as patch:
                patch.setattr(pm.Model, "compile_fn", None)
                found = theano.pymc.sample_posterior_predictive(posterior, model, **arguments)
        else:
            arguments["compile_kwargs"] = IN_PYTHON
            with model:
                found = pm.sample_posterior_predictive(posterior, **arguments)
        results.append((found, states(model)))
    (ours, our_states), (theirs, their_states) = results
    if isinstance(theirs, dict):
        assert [*ours] == [*theirs]
        for name in theirs:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-12, strict=True)
    else:
        check_equal(ours, theirs)
        for group in theirs.children:
            for name, values in theirs[group].coords.items():
                np.testing.assert_array_equal(ours[group].coords[name], values)
    np.testing.assert_equal(our_states, their_states)


def test_other_dimensions_of_draws():
    model = counts()
    posterior = posterior_of(model).expand_dims(again=3)
    arguments = {"sample_dims": ["draw", "again", "chain"], "random_seed": 7, "progressbar": False}
    ours = theano.pymc.sample_posterior_predictive(posterior, model, **arguments)
    with model:
        theirs = pm.sample_posterior_predictive(posterior, compile_kwargs=IN_PYTHON, **arguments)
    check_equal(ours, theirs)
    assert ours.posterior_predictive.seen.dims[:3] == ("draw", "again", "chain")


@pytest.mark.filterwarnings("ignore:groups .* already exist")
@pytest.mark.parametrize("predictions", [False, True])
def test_predictions_are_added_to_the_trace(predictions):
    trees = []
    for predict in (theano.pymc.sample_posterior_predictive, pm.sample_posterior_predictive):
        model = counts()
        tree = xarray.DataTree(children={"posterior": xarray.DataTree(posterior_of(model))})
        arguments = {"predictions": predictions, "random_seed": 7, "progressbar": False}
        with model:
            for _ in range(2):
                found = predict(tree, extend_inferencedata=True, **arguments)
        assert found is tree
        trees.append(tree)
    check_equal(*trees)


def test_predictions_follow_data_that_change():
    results = []
    for predict in (theano.pymc.sample_posterior_predictive, pm.sample_posterior_predictive):
        with pm.Model() as model:
            x = pm.Data("x", np.arange(3.0))
            slope = pm.Normal("slope")
            pm.Deterministic("line", slope * x)
            pm.Normal("y", slope * x, 1, observed=np.zeros(3), shape=x.shape)
            with model:
                tree = pm.sample_prior_predictive(4, random_seed=1)
            tree = xarray.DataTree(
                children={
                    "posterior": xarray.DataTree(tree.prior.dataset),
                    "constant_data": xarray.DataTree(tree.constant_data.dataset),
                }
            )
            for count in (3, 5):
                pm.set_data({"x": np.arange(count) + 1.0})
                results.append(
                    predict(tree, var_names=["y", "line"], random_seed=7, progressbar=False)
                )
    for ours, theirs in zip(results[:2], results[2:], strict=True):
        for name in ("y", "line"):
            one, other = (each.posterior_predictive[name].values for each in (ours, theirs))
            np.testing.assert_allclose(one, other, rtol=1e-12, strict=True)


def test_predictions_that_python_draws():
    with pm.Model() as model:
        pm.TruncatedNormal("seen", 0, pm.HalfNormal("scale"), lower=0, observed=np.ones(2))
        pm.Potential("more", pt.as_tensor(1.0))
    posterior = posterior_of(model)
    posterior["scale"] = abs(posterior["scale"]) + 0.1
    arguments = {"random_seed": 7, "progressbar": False}
    with pytest.warns(UserWarning, match="effect of Potentials") as warned:
        ours = theano.pymc.sample_posterior_predictive(posterior, model, **arguments)
    assert len(warned) == 1
    with model, pytest.warns(UserWarning, match="effect of Potentials"):
        theirs = pm.sample_posterior_predictive(posterior, compile_kwargs=IN_PYTHON, **arguments)
    check_equal(ours, theirs)


@pytest.mark.parametrize("generator", [np.random.default_rng, np.random.RandomState])
def test_a_generator_is_asked_for_one_seed(generator):
    """Also where a loop is tried, and Python draws then."""
    with pm.Model() as model:
        pm.TruncatedNormal("seen", 0, pm.HalfNormal("scale"), lower=0, observed=np.ones(2))
    posterior = posterior_of(model)
    posterior["scale"] = abs(posterior["scale"]) + 0.1
    ours, theirs = generator(5), generator(5)
    found = (
        theano.pymc.sample_prior_predictive(2, model, random_seed=ours),
        theano.pymc.sample_posterior_predictive(
            posterior, model, random_seed=ours, progressbar=False
        ),
    )
    with model:
        expected = (
            pm.sample_prior_predictive(2, random_seed=theirs, compile_kwargs=IN_PYTHON),
            pm.sample_posterior_predictive(
                posterior, random_seed=theirs, progressbar=False, compile_kwargs=IN_PYTHON
            ),
        )
    for one, other in zip(found, expected, strict=True):
        check_equal(one, other)
    assert ours.uniform() == theirs.uniform()


def test_warnings_of_one_loop_are_the_users():
    with counts() as model:
        pm.Potential("again", pt.as_tensor(1.0))
    posterior = posterior_of(model)
    with pytest.warns(UserWarning, match="effect of Potentials") as warned:
        theano.pymc.sample_posterior_predictive(posterior, model, progressbar=False)
    with pytest.warns(UserWarning, match="effect of Potentials") as also:
        theano.pymc.sample_prior_predictive(2, model)
    assert [one.filename for one in (*warned, *also)] == [__file__] * 2


def test_a_list_of_points_is_taken():
    model = counts()
    points = [{"rate": np.ones(3) * k, "kind": 0, "more": 0.0} for k in (1, 2)]
    ours = theano.pymc.sample_posterior_predictive(points, model, random_seed=7, progressbar=False)
    with model:
        theirs = pm.sample_posterior_predictive(points, random_seed=7, progressbar=False)
    check_equal(ours, theirs)


def test_a_loop_is_compiled_once(monkeypatch):
    model, calls = counts(), []
    monkeypatch.setattr(loop_over_draws, "report", lambda f: calls.append(1) or report(f))
    for seed in (1, 2, 1):
        theano.pymc.sample_prior_predictive(2, model, random_seed=seed)
    assert len(calls) == 1


@pytest.mark.parametrize(
    "function",
    [
        lambda model, **names: theano.pymc.sample_prior_predictive(2, model, **names),
        lambda model, **names: theano.pymc.sample_posterior_predictive(
            posterior_of(model), model, **names
        ),
        lambda model, **names: theano.pymc.compile_model(model, **names),
    ],
    ids=["prior", "posterior", "compiled"],
)
def test_names_that_a_model_has_not_are_refused(function):
    with pm.Model() as model:
        pm.Normal("seen", pm.Normal("mean"), observed=1.0)
    for names in (["meen"], "meen", ["mean", "meen"]):
        with pytest.raises(KeyError, match="var_names: no 'meen' in the model, which has mean"):
            function(model, var_names=names)


def test_names_that_are_sampled_again_are_known():
    model = counts()
    for argument in ("sample_vars", "freeze_vars"):
        with pytest.raises(KeyError, match=f"{argument}: no 'rates' in the model, which has rate,"):
            theano.pymc.sample_posterior_predictive(
                posterior_of(model), model, **{argument: ["rates"]}
            )


def test_what_is_no_variable_is_not_drawn():
    for given in ("mu", [pm.Normal.dist(), "mu"]):
        with pytest.raises(TypeError, match="draw: expected a variable, got 'mu'"):
            theano.pymc.draw(given)


def test_traces_without_draws_are_refused():
    model = counts()
    with model:
        tree = pm.sample_prior_predictive(3, random_seed=1)
    predict = theano.pymc.sample_posterior_predictive
    with pytest.raises(ValueError, match="got one with the groups prior, .* such as trace.prior"):
        predict(tree, model)
    with pytest.raises(ValueError, match="got one with no variables"):
        predict(xarray.Dataset(), model)
    with pytest.raises(ValueError, match="got seen without chain, draw, of dimensions seen_dim_0"):
        predict(tree.observed_data, model)
    assert predict(tree.prior, model, progressbar=False).posterior_predictive.sizes["draw"] == 3
