"""Values of a model for all draws of a posterior at once, where a loop computes them."""

from __future__ import annotations

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
pytest.importorskip("nutpie", reason="needs the extra [pymc]")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

import theano  # noqa: E402
import theano.pymc  # noqa: E402
from theano.link.native import report  # noqa: E402


def test_paths_of_all_draws_are_one_loop():
    with pm.Model() as model:
        memory = pm.Normal("memory", 0, 0.3)
        noise = pm.Normal("noise", shape=20)
        path = pytensor.scan(
            lambda e, before, memory: pt.tanh(memory * before + e),
            sequences=[noise],
            outputs_info=[pt.constant(np.float64(0))],
            non_sequences=[memory],
            return_updates=False,
        )
        path = pm.Deterministic("path", path)
        pm.Normal("y", path, 1, observed=np.zeros(20))
    trace = theano.pymc.sample(
        model, draws=20, tune=30, chains=2, cores=1, progressbar=False, quiet=True
    )
    with model:
        paths = pm.vectorize_over_posterior(
            outputs=[model["path"]],
            posterior=trace.posterior,
            input_rvs=[model["memory"], model["noise"]],
        )
    f = theano.function([], paths)
    np.testing.assert_allclose(f()[0], trace.posterior["path"].values, rtol=1e-12)
    assert [loop.reason for loop in report(f).loops] == [None] and not report(f).calls
