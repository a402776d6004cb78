"""Posteriors that nutpie draws with this package's density and with Numba's are the same."""

from __future__ import annotations

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
nutpie = pytest.importorskip("nutpie", reason="needs the extra [pymc]")

import arviz_stats  # noqa: E402
import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from scipy.stats import norm  # noqa: E402

import theano.pymc  # noqa: E402
from tests_scan_grad.timing.programs import pymc_models  # noqa: E402

DAYS = 200
ERRORS = 3


def euler(susceptible, infected, spread, recovery):
    new, gone = spread * susceptible * infected / 1000, recovery * infected
    return susceptible - new, infected + new - gone


def epidemic():
    """The epidemic that is timed, with an outbreak for data: noise alone has two explanations."""
    course = [(990.0, 10.0)]
    for _ in range(60):
        course.append(euler(*course[-1], 0.4, 0.13))
    expected = np.array(course)[1:, 1] / 10
    cases = np.random.default_rng(2).negative_binomial(5, 5 / (5 + expected))
    with pm.Model() as model:
        spread = pm.LogNormal("spread", -1.0, 0.3)
        recovery = pm.LogNormal("recovery", -2.0, 0.3)
        _, infected = pytensor.scan(
            euler,
            outputs_info=[pt.constant(np.float64(990)), pt.constant(np.float64(10))],
            non_sequences=[spread, recovery],
            n_steps=len(cases),
            return_updates=False,
        )
        pm.NegativeBinomial("cases", mu=pt.maximum(infected / 10, 1e-3), alpha=5, observed=cases)
    return model


MODELS = {
    "garch": pymc_models.garch,
    "epidemic": epidemic,
    "hidden markov": pymc_models.MODELS["markov-3"],
    "eight schools": pymc_models.eight_schools,
    "recurrent network": pymc_models.recurrent,
}


def draws_of(compiled, seed):
    """Of each number of the posterior, draws of each chain."""
    trace = nutpie.sample(
        compiled, draws=1000, tune=600, chains=4, cores=2, seed=seed, progress_bar=False
    )
    return {
        (name, *place): values.values[(..., *place)]
        for name, values in trace.posterior.data_vars.items()
        for place in np.ndindex(values.shape[2:])
    }


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", MODELS)
def test_posteriors_are_those_of_numba(name, monkeypatch, record_property):
    """Means differ by no more than 3 Monte Carlo errors, or what that is for the largest of many.

    The largest of 104 normal numbers is beyond 3 in every fourth run: the bound is the one that the
    largest exceeds as rarely as a single number exceeds 3.
    """
    monkeypatch.setattr(pymc_models, "DAYS", DAYS)
    model = MODELS[name]()
    ours = draws_of(theano.pymc.compile_model(model), 1)
    theirs = draws_of(nutpie.compile_pymc_model(model, backend="numba"), 2)
    assert ours.keys() == theirs.keys()
    apart = {}
    for number in ours:
        drawn = ours[number], theirs[number]
        # an error is known of chains that have mixed only
        assert all(arviz_stats.rhat(draws) < 1.05 for draws in drawn), number
        error = np.hypot(*(arviz_stats.mcse(draws) for draws in drawn))
        apart[number] = abs(drawn[0].mean() - drawn[1].mean()) / error
    beyond = {number: errors for number, errors in apart.items() if errors > ERRORS}
    record_property("numbers", len(apart))
    record_property("the farthest", float(max(apart.values())))
    record_property("beyond 3", len(beyond))
    assert max(apart.values()) < norm.isf(norm.sf(ERRORS) / len(apart)), beyond
