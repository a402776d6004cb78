"""Models of counts, choices, masks and censored data have PyMC's densities and gradients."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
pytest.importorskip("nutpie", reason="needs the extra [pymc]")

from pytensor.compile.mode import Mode  # noqa: E402

import theano.pymc  # noqa: E402
from tests_scan_grad.pymc import models_of_choices, models_of_counts  # noqa: E402
from theano.link.native import source  # noqa: E402

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


def test_a_mixture_is_one_pass_over_its_points():
    """Its terms are no matrix, and its gradient goes not through the largest of them."""
    points = np.random.default_rng(2).normal(size=211)
    with pm.Model() as model:
        weights, sd = pm.Dirichlet("weights", np.ones(3)), pm.HalfNormal("sd", shape=3)
        pm.NormalMixture("y", weights, pm.Normal("means", shape=3), sigma=sd, observed=points)
    text = source(theano.pymc.logp_dlogp(model).function)
    assert not re.search(r"\bi0 \* 3\b", text)
    (terms,) = re.findall(r"<= 211; i \+= TN_WIDTH_F64.*?^ *}$", text, re.M | re.S)[:1]
    # of each point's terms and of their shares
    assert terms.count("tn_v_exp_f64(") == 6 and terms.count("tn_v_log_f64(") == 1
