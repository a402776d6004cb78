"""Models of PyMC on the native engine: loops with this package's gradient, sampled at C's speed.

Needs the extra ``[pymc]``: PyMC 6 and nutpie, on Python 3.12 or later.

Examples
--------
>>> import numpy as np, pymc as pm, theano.pymc  # doctest: +SKIP
>>> with pm.Model() as model:  # doctest: +SKIP
...     pm.Normal("mean", observed=np.ones(5), mu=pm.Normal("mu"))
>>> nutpie.sample(theano.pymc.compile_model(model))  # doctest: +SKIP
"""

from theano.pymc.compiled_model import compile_model
from theano.pymc.density import LogDensity, logp_dlogp
from theano.pymc.modes import mode
from theano.pymc.prediction import draw, sample_posterior_predictive, sample_prior_predictive
from theano.pymc.sampling import sample

__all__ = [
    "LogDensity",
    "compile_model",
    "draw",
    "logp_dlogp",
    "mode",
    "sample",
    "sample_posterior_predictive",
    "sample_prior_predictive",
]
