"""Gradients through eigenvectors, which are undefined where eigenvalues are equal, are warned of."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
pytest.importorskip("nutpie", reason="needs the extra [pymc]")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

import theano.pymc  # noqa: E402

PLACES = np.linspace(0, 1, 4)[:, None]


def kronecker(length=None, noise=True):
    lengths = [pm.HalfNormal(f"length{k}") if length is None else length for k in range(2)]
    process = pm.gp.MarginalKron(cov_funcs=[pm.gp.cov.ExpQuad(1, ls) for ls in lengths])
    return process.marginal_likelihood(
        "seen", [PLACES, PLACES[:3]], np.arange(12.0), sigma=pm.HalfNormal("noise")
    )


def matrix():
    return pm.Normal("x", shape=3)[:, None] * np.ones(3) + np.eye(3)


def in_a_loop():
    vectors = pytensor.scan(
        lambda k, m: pt.linalg.eigh(m * (k + 1.0))[1][0],
        sequences=[pt.arange(3)],
        non_sequences=[matrix()],
        return_updates=False,
    )
    pm.Potential("rows", vectors.sum())


WARNED = {
    "a Kronecker product with noise": (kronecker, "seen by length0_log__, length1_log__ goes"),
    "eigenvectors": (
        lambda: pm.Potential("p", pt.linalg.eigh(matrix())[1][0].sum()),
        "of p by x goes",
    ),
    "singular vectors": (
        lambda: pm.Potential("p", pt.linalg.svd(matrix(), full_matrices=False)[2][0].sum()),
        "of p by x goes",
    ),
    "in a loop": (in_a_loop, "of rows by x goes"),
}
NOT_WARNED = {
    "a kernel without parameters": lambda: kronecker(0.5),
    "eigenvalues": lambda: pm.Potential("p", pt.linalg.eigh(matrix())[0].sum()),
    "a whole covariance": lambda: pm.MvNormal(
        "seen", 0, pt.exp(-(matrix() ** 2)), observed=np.ones(3)
    ),
}


def model_of(build):
    with pm.Model() as model:
        pm.Normal("other")
        build()
    return model


@pytest.mark.parametrize("name", WARNED)
def test_the_variable_is_named(name):
    build, message = WARNED[name]
    with pytest.warns(UserWarning, match=message) as caught:
        theano.pymc.logp_dlogp(model_of(build))
    assert [warning.filename for warning in caught if "eigenv" in str(warning.message)] == [
        __file__
    ]


def test_compiled_models_warn_too():
    with pytest.warns(UserWarning, match="seen by length0_log__") as caught:
        theano.pymc.compile_model(model_of(kronecker))
    assert [warning.filename for warning in caught if "eigenv" in str(warning.message)] == [
        __file__
    ]


@pytest.mark.parametrize("name", NOT_WARNED)
def test_other_models_do_not_warn(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        theano.pymc.logp_dlogp(model_of(NOT_WARNED[name]))
