"""PyMC's own samplers with functions of this package."""

from __future__ import annotations

from typing import Any

from theano.pymc.captured_variables import refuse_captured
from theano.pymc.models import model_of
from theano.pymc.modes import mode


def sample(model: Any = None, **kwargs: Any) -> Any:
    """Sample a model with PyMC's own sampler and step methods, whatever it consists of.

    Parameters
    ----------
    model : pymc.Model, optional
        Inside of a model's ``with`` block it is that one; discrete variables and operations without
        native code are no hindrance.
    **kwargs
        For ``pymc.sample``, such as ``draws``, ``tune``, ``chains`` and ``random_seed``.

    Returns
    -------
    arviz.InferenceData or DataTree
        What ``pymc.sample`` returns: the posterior, of shape ``(chains, draws, ...)``, and the
        statistics of the sampler.

    Raises
    ------
    TypeError
        If there is no model, or it is none of PyMC's.

    Examples
    --------
    >>> import pymc as pm, theano.pymc  # doctest: +SKIP
    >>> with pm.Model() as model:  # doctest: +SKIP
    ...     x = pm.Normal("x", shape=2)
    >>> theano.pymc.sample(model, draws=1000, chains=4)  # doctest: +SKIP
    """
    import pymc

    compile_kwargs = {"mode": mode, **(kwargs.pop("compile_kwargs", None) or {})}
    model = model_of(model, "sample")
    refuse_captured(model)
    with model:
        return pymc.sample(nuts_sampler="pymc", compile_kwargs=compile_kwargs, **kwargs)
