"""Models of counts, choices, masks and censored data have PyMC's densities and gradients."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
pytest.importorskip("nutpie", reason="needs the extra [pymc]")

from pytensor.compile.mode import Mode  # noqa: E402

import theano.pymc  # noqa: E402
from tests_scan_grad.pymc import models_of_choices, models_of_counts  # noqa: E402

MODELS = models_of_counts.MODELS | models_of_choices.MODELS
# PyTensor's rewrites, and Python, which needs no compiler
THEIRS = Mode("py", "fast_run").excluding("fusion", "BlasOpt")
DRAWS = 4


def assert_same(name):
    """Compare at the start, close to it, and farther away, where exponentials are large."""
    with pm.Model() as model, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        MODELS[name]()
    density = theano.pymc.logp_dlogp(model)
    theirs = model.compile_fn([model.logp(), model.dlogp()], mode=THEIRS)
    start = density.points.flat(model.initial_point())
    random = np.random.default_rng(1)
    near = [start + scale * random.normal(size=start.shape) for scale in [0.1] * 2 + [1.0, 3.0]]
    finite = 0
    for point in [start, *near]:
        with np.errstate(all="ignore"):
            expected = theirs(density.points.by_name(point))
        value, gradient = density(point)
        if not all(np.isfinite(one).all() for one in expected):
            continue
        finite += 1
        np.testing.assert_allclose(value, expected[0], rtol=1e-7)
        scale = np.abs(expected[1]).max()
        np.testing.assert_allclose(gradient, expected[1], rtol=1e-7, atol=1e-9 * scale)
    assert finite


@pytest.mark.parametrize("name", [*MODELS][::3])
def test_densities_and_gradients(name):
    assert_same(name)


@pytest.mark.parametrize("name", [name for k, name in enumerate(MODELS) if k % 3])
def test_densities_and_gradients_of_more_models(name):
    assert_same(name)
