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
        For ``pymc.sample``.

    Returns
    -------
    What ``pymc.sample`` returns.
    """
    import pymc

    compile_kwargs = {"mode": mode, **(kwargs.pop("compile_kwargs", None) or {})}
    model = model_of(model, "sample")
    refuse_captured(model)
    with model:
        return pymc.sample(nuts_sampler="pymc", compile_kwargs=compile_kwargs, **kwargs)
