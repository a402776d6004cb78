"""Models and data with which no sampler can start are refused, with the variable and the value."""

from __future__ import annotations

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
nutpie = pytest.importorskip("nutpie", reason="needs the extra [pymc]")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pymc.exceptions import SamplingError  # noqa: E402

import theano  # noqa: E402
import theano.pymc  # noqa: E402
from theano.source_locations.lines import users_line  # noqa: E402


def test_a_gradient_that_is_not_finite_is_named():
    with pm.Model() as model:
        pm.Normal("fine")
        steep = pm.Normal("steep", shape=(2, 3))
        pm.Potential("root", pt.sqrt(pt.maximum(steep[1, 2] - 100, 0)))
    with pytest.raises(SamplingError, match=r"gradient is not: nan by steep\[1, 2\], nor at 10 ot"):
        theano.pymc.compile_model(model)


def test_data_with_which_the_gradient_is_not_finite_are_named():
    with pm.Model() as model:
        data = pm.Data("data", np.ones(3))
        pm.Potential("root", pt.sqrt(data * pm.HalfNormal("x")).sum() - pm.HalfNormal("y"))
    compiled = theano.pymc.compile_model(model)
    with pytest.raises(SamplingError, match="gradient is not: nan by x_log__, nor at 9 others"):
        compiled.with_data(data=[1.0, 0.0, 2.0])


def powers(steps):
    base = pm.Normal("base")
    return theano.scan(
        lambda h, base: h * base, outputs_info=pt.ones(()), non_sequences=base, n_steps=steps
    )[0]


def test_data_that_do_not_fit_a_loop_are_named_with_their_lengths():
    with pm.Model() as model:
        pm.Normal("seen", powers(pm.Data("steps", np.int64(3))), 1, observed=np.ones(4))
    with pytest.raises(ValueError, match=r"shapes \(4,\) \(3,\)(.|\n)*Sub\(seen"):
        theano.pymc.compile_model(model)


def test_observations_of_another_length_than_the_mean_are_named():
    with pm.Model() as model:
        mean = pm.Normal("level") + np.zeros(20)
        pm.Normal("seen", mean, observed=pm.Data("data", np.ones(20)))
        pm.set_data({"data": np.ones(7)})
    message = r"density of seen at values of shape \[7\]: .*\[\(7,\), \(20,\)\]"
    with pytest.raises(ValueError, match=message):
        theano.pymc.compile_model(model, freeze_model=True)


def test_a_value_of_another_length_than_its_dimension_is_refused():
    with pm.Model(coords={"time": range(5)}) as model:
        pm.Deterministic("path", powers(4), dims="time")
    message = r"path has shape \(4,\) .* axis 0 .* 'time', which has 5 coordinates and not 4"
    with pytest.raises(ValueError, match=message):
        theano.pymc.sample(model=model, draws=5)


def counts(values):
    with pm.Model() as model:
        data = pm.Data("data", np.array(values))
        pm.Poisson("seen", pm.math.exp(pm.Normal("x")), observed=data)
    return theano.pymc.compile_model(model)


BAD_COUNTS = {
    "nan": ([1.0, np.nan, 2.0], r"data 'data': expected int\d+, got nan at \[1\]"),
    "fraction": ([1.0, 2.0, 2.5], r"data 'data': expected int\d+, got 2.5 at \[2\]"),
    "infinity": ([np.inf, 2.0], r"data 'data': expected int\d+, got inf at \[0\]"),
    "too large": ([1, 2**70], r"data 'data': expected int\d+: Python int too large"),
    "too large a float": ([1, 2.0**70], r"expected int\d+, got 1.1805916207174113e\+21 at \[1\]"),
    "masked": (np.ma.array([1, 2], mask=[0, 1]), r"a value for every entry, got none at \[1\]"),
}


@pytest.mark.parametrize("case", BAD_COUNTS)
def test_what_integer_data_does_not_hold_is_refused(case, recwarn):
    values, message = BAD_COUNTS[case]
    with pytest.raises(ValueError, match=message):
        counts([1, 2, 3]).with_data(data=values)
    assert not recwarn


def test_integers_as_floats_are_taken():
    compiled = counts([1, 2, 3]).with_data(data=[4.0, 5.0, 0.0])
    (value,) = compiled.shared_data.values()
    assert value.tolist() == [4, 5, 0] and value.dtype.kind == "i"
    # a value that is missing may be in what is no integer
    with pm.Model() as model:
        data = pm.Data("data", np.ones(2))
        pm.Potential("p", pt.switch(pt.isnan(data), 0, data).sum() - pm.Normal("x") ** 2)
    theano.pymc.compile_model(model).with_data(data=[1.0, np.nan])


START = np.float64(0)
CAPTURED = {
    "a free variable": lambda x, h: x,
    "a positive one": lambda x, h: h,
    "what is computed of it": lambda x, h: h * 2 + 1,
}
ENDS = {
    "observed": lambda rows: pm.Normal("seen", rows, 1, observed=np.ones(4)),
    "potential": lambda rows: pm.Potential("seen", rows.sum()),
    "deterministic": lambda rows: pm.Deterministic("seen", rows),
}


def with_captured(scan, what, end):
    with pm.Model() as model:
        x = pm.Normal("x")
        h = pm.HalfNormal("h", pt.exp(x))
        inside = CAPTURED[what](x, h)
        rows = scan(lambda row: row / 2 + inside, outputs_info=[pt.constant(START)], n_steps=4)
        ENDS[end](rows[0])
    return model


@pytest.mark.filterwarnings("ignore:Scan return signature:DeprecationWarning")
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("scan", [pytensor.scan, theano.scan], ids=["pytensor", "theano"])
@pytest.mark.parametrize("what", CAPTURED)
def test_a_random_variable_that_a_step_captures_is_named(what, scan, end):
    """PyMC puts no value in its place there: the density would be of a draw, its gradient zero."""
    name = "x" if what == "a free variable" else "h"
    message = rf"test_refused_models.py:\d+\) uses {name} of the model .*non_sequences=\[{name}\]"
    model = with_captured(scan, what, end)
    for function in (theano.pymc.logp_dlogp, theano.pymc.compile_model, theano.pymc.sample):
        with pytest.raises(ValueError, match=message):
            function(model)


def test_a_step_that_is_given_its_random_variables_is_no_error():
    """Of loops of PyMC's own distributions, too, whose steps draw."""
    with pm.Model() as model:
        x = pm.Normal("x")
        rows = theano.scan(
            lambda row, x: row / 2 + x,
            outputs_info=[pt.constant(START)],
            non_sequences=[x],
            n_steps=4,
        )[0]
        pm.Normal("seen", rows, 1, observed=np.ones(4))
        pm.AR("ar", [x, 0.5], sigma=1.0, init_dist=pm.Normal.dist(), steps=3)
        pm.GARCH11("r", 1.0, 0.3, 0.2, 1.0, observed=np.ones(4))
    assert np.isfinite(theano.pymc.logp_dlogp(model)(model.initial_point())[0])


def test_lines_are_those_of_the_model_and_not_of_pymc():
    with pm.Model() as model:
        scale = pm.HalfNormal("scale")
        pm.Normal("seen", 0, scale, observed=pm.Data("data", np.ones(3)))
        pm.Potential("bound", pt.log1p(scale))
    density = theano.pymc.logp_dlogp(model)
    first = test_lines_are_those_of_the_model_and_not_of_pymc.__code__.co_firstlineno
    lines = {users_line(node) for node in density.function.maker.fgraph.apply_nodes}
    assert lines - {""} == {f"{__file__}:{first + k}" for k in (2, 3, 4, 5)}
    assert density.function.name == f"{__file__}:{first + 5}"


@pytest.mark.parametrize("taps", [[-3, -1], [-12, -1], [-4, -3, -2], [-3, -2]])
def test_traces_with_taps_of_which_pymc_pairs_other_rows_are_refused(taps):
    message = rf"wrong density for y, .* with the taps \[{', '.join(map(str, taps))}\]. Read all"
    with pytest.raises(ValueError, match=message):
        theano.pymc.compile_model(autoregression(taps)[0])


@pytest.mark.parametrize("taps", [[-2, -1], [-3, -2, -1], [-4, -2], [-4, -3, -1]])
def test_densities_of_traces_with_other_taps_are_right(taps):
    model, expected = autoregression(taps)
    density = theano.pymc.logp_dlogp(model)
    point = np.array([0.3])
    prior = -0.5 * 0.3**2 - 0.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(density(point)[0], expected(0.3) + prior, rtol=1e-10)


def autoregression(taps):
    """Return a model of a series whose steps read some rows before, and its density given ``phi``."""
    random = np.random.default_rng(0)
    start, series = random.normal(size=-min(taps)), random.normal(size=6)
    weights = np.array([0.5, 0.3, 0.1, 0.2][: len(taps)])

    def simulate(phi, start, size):
        generator = pytensor.shared(np.random.default_rng())

        def step(rng, *read):
            rows, factor = read[: len(taps)], read[len(taps)]
            mean = factor * sum(w * row for w, row in zip(weights, rows, strict=True))
            return pt.random.normal(mean, 1.0, rng=rng, return_next_rng=True)

        states = [generator, {"initial": start, "taps": taps}]
        return pytensor.scan(
            step, outputs_info=states, non_sequences=[phi], n_steps=6, return_updates=False
        )[1]

    with pm.Model() as model:
        phi = pm.Normal("phi")
        pm.CustomDist(
            "y", phi, pt.as_tensor(start), dist=simulate, signature="(),(s)->(t)", observed=series
        )

    def expected(factor):
        rows = np.concatenate([start, series])
        means = [
            factor * sum(w * rows[t + tap] for w, tap in zip(weights, taps, strict=True))
            for t in range(len(start), len(rows))
        ]
        return np.sum(-0.5 * (series - means) ** 2 - 0.5 * np.log(2 * np.pi))

    return model, expected
