"""Models of PyMC: density, gradient and draws as PyMC has them, sampled by nutpie through pointers."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
nutpie = pytest.importorskip("nutpie", reason="needs the extra [pymc]")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pymc.pytensorf import collect_default_updates  # noqa: E402
from pytensor.scan.op import Scan as PyTensorScan  # noqa: E402

import theano.pymc  # noqa: E402
from tests_scan_grad.fresh_process import ROOT, printed_by  # noqa: E402
from theano.link.native import report  # noqa: E402
from theano.scan_module.scan_op import Scan  # noqa: E402

STEPS = 40


def volatility():
    returns = np.random.default_rng(0).standard_normal(STEPS)
    with pm.Model(coords={"day": np.arange(STEPS)}) as model:
        data = pm.Data("returns", returns, dims="day")
        scale = pm.HalfNormal("scale")
        shocks, memory = (pm.Uniform(name, 0, 0.5) for name in ("shocks", "memory"))
        pm.Deterministic("persistence", shocks + memory)
        pm.GARCH11("r", omega=scale, alpha_1=shocks, beta_1=memory, initial_vol=1.0, observed=data)
    return model


def epidemic():
    cases = np.random.default_rng(1).poisson(20, STEPS)
    with pm.Model() as model:
        rates = pm.LogNormal("rates", [-1.0, -2.0], 0.3)

        def euler(s, i, rates):
            infected, recovered = rates[0] * s * i / 1000, rates[1] * i
            return s - infected, i + infected - recovered

        (_, sick), _ = pytensor.scan(
            euler,
            outputs_info=[pt.constant(np.float64(990)), pt.constant(np.float64(10))],
            non_sequences=[rates],
            n_steps=STEPS,
        )
        pm.Deterministic("sick", sick)
        pm.NegativeBinomial("cases", mu=pt.maximum(sick / 10, 1e-3), alpha=5, observed=cases)
    return model


def without_loops():
    x = np.random.default_rng(2).normal(size=(30, 3))
    with pm.Model(coords={"column": ["a", "b", "c"]}) as model:
        slopes = pm.Normal("slopes", dims="column")
        noise = pm.HalfCauchy("noise", 1)
        pm.StudentT("y", nu=4, mu=pm.math.dot(x, slopes), sigma=noise, observed=x @ [1, 2, 3])
    return model


MODELS = {f.__name__: f for f in (volatility, epidemic, without_loops)}


@pytest.fixture(params=MODELS, scope="module")
def model(request):
    return MODELS[request.param]()


def test_densities_and_gradients_are_those_of_pymc(model):
    ours = theano.pymc.logp_dlogp(model)
    theirs = model.compile_logp(mode="FAST_COMPILE"), model.compile_dlogp(mode="FAST_COMPILE")
    random = np.random.default_rng(3)
    start = ours.points.flat(model.initial_point())
    for _ in range(5):
        point = start + 0.1 * random.normal(size=start.shape)
        density, gradient = ours(point)
        named = ours.points.by_name(point)
        np.testing.assert_allclose(density, theirs[0](named), rtol=1e-10)
        np.testing.assert_allclose(gradient, theirs[1](named), rtol=1e-8, atol=1e-8)
        assert ours(named)[0] == density


def test_is_reached_by_its_package():
    assert printed_by("import theano; print(theano.pymc.compile_model.__name__)") == [
        "compile_model"
    ]


COMPILED_AGAIN = """
import theano.pymc
from tests_scan_grad.pymc.test_models import volatility
from theano.rewriting import equilibrium
from theano.rewriting.disk import cached_graphs

cached_graphs.SECONDS_WORTH_STORING = 0
rounds = []
until = equilibrium._Run.until_nothing_changes
equilibrium._Run.until_nothing_changes = lambda run: rounds.append(1) or until(run)
model = volatility()
density = theano.pymc.logp_dlogp(model)
rounds.clear()
value, slopes = density(density.points.flat(model.initial_point()))
print(value, *slopes)
"""


def test_the_next_process_reads_the_same_graph(tmp_path):
    """That PyMC's rewrites are there, once it is imported, is no reason to begin again."""
    flags = {"PYTENSOR_FLAGS": f"base_compiledir={tmp_path}"}
    assert printed_by(COMPILED_AGAIN, **flags) == printed_by(COMPILED_AGAIN, **flags)
    assert list(tmp_path.rglob("graph-*"))


def test_no_part_of_a_density_is_pythons(model):
    density = theano.pymc.logp_dlogp(model)
    found = report(density.function)
    assert not found.calls
    assert all(loop.reason is None for loop in found.loops)
    loops = [n for n in density.function.maker.fgraph.apply_nodes if isinstance(n.op, PyTensorScan)]
    assert all(isinstance(loop.op, Scan) for loop in loops)


def test_nutpie_keeps_what_it_keeps_of_its_own_models(model):
    ours = nutpie.sample(
        theano.pymc.compile_model(model), draws=20, tune=50, chains=2, seed=1, progress_bar=False
    )
    posterior = ours.posterior
    for variable in [*model.free_RVs, *model.deterministics]:
        assert posterior[variable.name].shape[:2] == (2, 20)
        shape = tuple(model[variable.name].shape.eval())
        assert posterior[variable.name].shape[2:] == shape
        assert np.isfinite(posterior[variable.name]).all()
    if "slopes" in posterior:
        assert posterior["slopes"].dims[-1] == "column"
        assert list(posterior["column"].values) == ["a", "b", "c"]
    if "persistence" in posterior:
        together = posterior["shocks"] + posterior["memory"]
        np.testing.assert_allclose(posterior["persistence"], together)


def test_other_data_is_bound_without_compiling():
    compiled = theano.pymc.compile_model(volatility())
    point = compiled.initial_point_func(0)
    first = compiled.logp_func(point)
    other = compiled.with_data(returns=np.zeros(STEPS))
    assert other.logp_func(point)[0] != first[0]
    np.testing.assert_array_equal(compiled.logp_func(point)[0], first[0])
    with pytest.raises(KeyError, match="'profits' in the model, which has returns"):
        compiled.with_data(profits=1)
    with pytest.raises(ValueError, match="expected 1 dimensions, got 2"):
        compiled.with_data(returns=np.zeros((2, STEPS)))


def test_some_variables_may_be_kept():
    compiled = theano.pymc.compile_model(volatility(), var_names=["persistence"])
    assert "persistence" in compiled.shapes and "scale" not in compiled.shapes


def test_densities_with_bessel_functions_are_native():
    """Of angles, of distances, of differences of counts, and of a periodic Gaussian process."""
    angles = np.random.default_rng(0).uniform(-3, 3, 20)
    with pm.Model() as model:
        wide = pm.HalfNormal("wide", 5)
        pm.VonMises("angles", pm.Normal("mean"), wide, observed=angles)
        pm.Rice("distances", nu=wide, sigma=1.5, observed=np.abs(angles))
        kernel = pm.gp.cov.Periodic(1, period=3.0, ls=wide)
        process = pm.gp.HSGPPeriodic(m=6, scale=1.0, cov_func=kernel)
        pm.Normal("seen", process.prior("f", X=angles[:, None]), observed=angles)
    density = theano.pymc.logp_dlogp(model)
    assert not report(density.function).calls
    theirs = model.compile_logp(mode="FAST_COMPILE"), model.compile_dlogp(mode="FAST_COMPILE")
    random = np.random.default_rng(1)
    for _ in range(4):
        point = random.normal(size=density.points.count)
        value, gradient = density(point)
        named = density.points.by_name(point)
        np.testing.assert_allclose(value, theirs[0](named), rtol=1e-10)
        np.testing.assert_allclose(gradient, theirs[1](named), rtol=1e-8, atol=1e-10)


def own_loop(noise=pt.exp, **kwargs):
    """A distribution that is a loop of the user's, whose conditions lie in the step."""

    def walk(scale, size):
        def step(before, scale):
            drawn = pm.Normal.dist(before / 2, scale)
            return drawn, collect_default_updates([drawn])

        start = [pt.zeros(())]
        given = {"outputs_info": start, "non_sequences": [scale], "n_steps": 5, "strict": True}
        return pytensor.scan(step, **given)[0]

    with pm.Model(**kwargs) as model:
        pm.CustomDist("walk", noise(pm.Normal("s")), dist=walk, observed=np.ones(5))
    return model


def test_conditions_in_steps_are_met_as_they_are_outside():
    """That a scale is zero is no error but a density of -inf."""
    model = own_loop()
    functions = [
        model.compile_logp(mode=theano.pymc.mode),
        lambda point: theano.pymc.logp_dlogp(model)(point)[0],
    ]
    expected = model.compile_logp(mode="FAST_COMPILE")
    for function in functions:
        for value in (0.0, -800.0):
            point = {"s": np.array(value)}
            np.testing.assert_allclose(function(point), expected(point))


def test_conditions_in_steps_that_are_not_asked():
    model = own_loop(noise=pt.neg, check_bounds=False)
    with model:
        function = model.compile_logp(mode=theano.pymc.mode)
        assert np.isnan(function({"s": np.array(1.0)}))
    assert np.isnan(theano.pymc.logp_dlogp(model)({"s": np.array(1.0)})[0])


def test_functions_of_pymc_run_on_the_engine_in_the_mode():
    model = epidemic()
    function = model.compile_fn(model.logp(), mode=theano.pymc.mode)
    expected = model.compile_fn(model.logp(), mode="FAST_COMPILE")
    point = model.initial_point()
    np.testing.assert_allclose(function(point), expected(point))
    found = report(function.f)
    assert found.segments and not found.calls


def test_pymc_samples_in_the_mode():
    with without_loops() as model:
        trace = theano.pymc.sample(
            model, draws=15, tune=20, chains=1, cores=1, random_seed=1, progressbar=False
        )
        assert trace.posterior["slopes"].shape == (1, 15, 3)
        prior = pm.sample_prior_predictive(
            5, random_seed=2, compile_kwargs={"mode": theano.pymc.mode}
        )
        assert prior.prior["slopes"].shape == (1, 5, 3)
        best = pm.find_MAP(progressbar=False, compile_kwargs={"mode": theano.pymc.mode})
        np.testing.assert_allclose(best["slopes"], [1, 2, 3], atol=0.1)


def test_the_mode_is_pickled():
    again = pickle.loads(pickle.dumps(theano.pymc.mode))
    x = pt.dvector("x")
    function = pm.compile([x], pt.exp(x).sum(), mode=again)
    assert report(function).segments
    np.testing.assert_allclose(function(np.zeros(2)), 2)


def test_discrete_variables_are_refused_by_name():
    with pm.Model() as model:
        pm.Poisson("events", 2)
    with pytest.raises(ValueError, match="discrete: events"):
        theano.pymc.logp_dlogp(model)


def test_a_point_of_another_length_is_refused():
    density = theano.pymc.logp_dlogp(without_loops())
    with pytest.raises(ValueError, match=r"vector of 4 numbers for slopes, noise_log__"):
        density(np.zeros(3))


def test_calls_at_the_same_time_have_numbers_of_their_own():
    density = theano.pymc.logp_dlogp(without_loops())
    points = np.random.default_rng(3).normal(size=(4, 4))
    alone = [density(point) for point in points]
    wrong = []

    def call(k):
        for _ in range(300):
            value, gradient = density(points[k])
            if value != alone[k][0] or (gradient != alone[k][1]).any():
                wrong.append(k)

    threads = [threading.Thread(target=call, args=[k]) for k in range(len(points))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    # what a later call computes is not written into an earlier call's gradient
    assert all((density(p)[1] == g).all() for p, (_, g) in zip(points, alone, strict=True))


def test_a_point_that_is_not_of_the_model_is_refused_by_name():
    density = theano.pymc.logp_dlogp(without_loops())
    point = {"slopes": np.zeros(3), "noise_log__": 0.0}
    assert np.isfinite(density(point)[0])
    with pytest.raises(KeyError, match="no value for 'noise_log__': .* slopes, noise_log__"):
        density({"slopes": np.zeros(3)})
    with pytest.raises(KeyError, match="no variable 'nose'"):
        density(point | {"nose": 1.0})
    with pytest.raises(ValueError, match=r"slopes: expected the shape \(3,\), got \(2,\)"):
        density(point | {"slopes": np.zeros(2)})


def test_a_model_that_cannot_start_is_refused_with_the_variable():
    with pm.Model() as model:
        pm.Normal("seen", pm.Normal("x"), 1, observed=[1.0, np.inf])
    with pytest.raises(pm.exceptions.SamplingError, match=r"'seen': np.float64\(-inf\)"):
        theano.pymc.compile_model(model)


def test_data_that_the_model_cannot_take_is_refused():
    with pm.Model() as model:
        data = pm.Data("data", np.ones(5))
        pm.Normal("seen", pm.Normal("x", shape=5), 1, observed=data)
    compiled = theano.pymc.compile_model(model)
    with pytest.raises(
        ValueError,
        match=(r"cannot take data of shape \(4,\): .* expected 5, got 4 along dimension 0 of data"),
    ):
        compiled.with_data(data=np.ones(4))
    with pytest.raises(pm.exceptions.SamplingError, match="not finite there, nor at 9 others"):
        compiled.with_data(data=np.full(5, np.inf))
    assert compiled.with_data(data=np.zeros(5)).n_dim == 5


SHORT = {"draws": 30, "tune": 30, "chains": 2, "cores": 2, "seed": 5, "progress_bar": False}
# more draws than are made before the test ends them
LONG = SHORT | {"draws": 10_000_000}

SAMPLED = """
import sys, nutpie, theano.pymc
from tests_scan_grad.pymc.test_models import LONG, SHORT, volatility
compiled = theano.pymc.compile_model(volatility())
print("compiled", flush=True)
trace = nutpie.sample(compiled, **(LONG if "long" in sys.argv else SHORT))
print(*trace.posterior["memory"].values.ravel().tolist())
"""


def kept(trace):
    return {name: values.values for name, values in trace.posterior.data_vars.items()}


def assert_same_draws(ours, expected):
    assert ours.keys() == expected.keys()
    for name, values in ours.items():
        np.testing.assert_array_equal(values, expected[name])


def test_an_interrupted_sampler_gives_what_it_has_and_the_model_samples_again():
    compiled = theano.pymc.compile_model(volatility())
    expected = kept(nutpie.sample(compiled, **SHORT))
    interrupt = threading.Timer(
        0.5, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT]
    )
    interrupt.start()
    drawn = kept(nutpie.sample(compiled, **LONG))
    interrupt.join()
    # the shorter chain is filled up
    made = [int(np.isfinite(values).sum()) for values in drawn["memory"]]
    assert 0 < max(made) == drawn["memory"].shape[1] < LONG["draws"]
    for chain, count in enumerate(made):
        whole = {name: values[chain, :count] for name, values in drawn.items()}
        assert all(np.isfinite(values).all() for values in whole.values())
        np.testing.assert_allclose(whole["persistence"], whole["shocks"] + whole["memory"])
    assert_same_draws(kept(nutpie.sample(compiled, **SHORT)), expected)


def test_a_sampler_that_paused_goes_on_as_if_it_had_not():
    compiled = theano.pymc.compile_model(volatility())
    settings = SHORT | {"draws": 3000}
    expected = kept(nutpie.sample(compiled, **settings))
    sampler = nutpie.sample(compiled, blocking=False, **settings)
    # the sampler holds the functions that its threads call
    del compiled
    gc.collect()
    sampler.pause()
    sampler.resume()
    assert_same_draws(kept(sampler.wait()), expected)


def test_a_sampler_that_is_given_up_leaves_its_model_whole():
    compiled = theano.pymc.compile_model(volatility())
    expected = kept(nutpie.sample(compiled, **SHORT))
    nutpie.sample(compiled, blocking=False, **LONG).cancel()
    assert_same_draws(kept(nutpie.sample(compiled, **SHORT)), expected)


def test_a_killed_sampler_leaves_its_caches_whole(tmp_path):
    flags = {
        "PYTENSOR_FLAGS": f"base_compiledir={tmp_path}",
        "THEANO_FLAGS": f"base_compiledir={tmp_path}",
    }
    command, environment = [sys.executable, "-c", SAMPLED, "long"], os.environ | flags
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as killed:
        assert killed.stdout.readline() == "compiled\n"
        time.sleep(0.5)
        killed.kill()
    assert killed.returncode == -signal.SIGKILL
    _, draws = printed_by(SAMPLED, **flags)
    expected = nutpie.sample(theano.pymc.compile_model(volatility()), **SHORT)
    assert draws == " ".join(map(str, expected.posterior["memory"].values.ravel().tolist()))
