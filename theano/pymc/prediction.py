"""Draws from a model by the native engine: prior, predictive and of single variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable

from theano.pymc.draws_in_one_loop import predicted_in_one_loop, prior_in_one_loop
from theano.pymc.loop_over_draws import NotOneLoop, loop_over_draws
from theano.pymc.models import check_names, model_of
from theano.pymc.modes import mode


def draw(vars: Any, draws: int = 1, random_seed: object = None, **kwargs: Any) -> Any:
    """Draw from random variables, and from what is computed of them.

    One compiled function makes all draws, in a loop of C, where what is drawn is wholly native.

    Parameters
    ----------
    vars : variable or sequence of variables
    draws : int
        How many draws of each.
    random_seed : int, numpy.random.RandomState or numpy.random.Generator, optional
        The same seed gives the draws that ``pymc.draw`` gives.
    **kwargs
        For ``pymc.draw``.

    Returns
    -------
    numpy.ndarray or list of numpy.ndarray
        As ``pymc.draw`` returns them: more than one draw of a variable are stacked along the first
        dimension.

    Examples
    --------
    >>> import pymc as pm, theano.pymc  # doctest: +SKIP
    >>> theano.pymc.draw(pm.Normal.dist(), draws=3, random_seed=1).shape  # doctest: +SKIP
    (3,)
    """
    import pymc

    several = isinstance(vars, list | tuple)
    for one in vars if several else [vars]:
        if not isinstance(one, Variable):
            raise TypeError(f"draw: expected a variable, got {one!r}")
    if draws > 1 and not kwargs:
        stacked = _stacked_draws(list(vars) if several else [vars], draws, random_seed)
        if stacked is not None:
            return stacked if several else stacked[0]
    return pymc.draw(vars, draws=draws, random_seed=random_seed, **_in_our_mode(kwargs))


def sample_prior_predictive(draws: int = 500, model: object = None, **kwargs: Any) -> Any:
    """Draw from a model's prior, and what it predicts before data are seen.

    Parameters
    ----------
    draws : int
    model : pymc.Model, optional
        Inside of a model's ``with`` block it is that one.
    **kwargs
        For ``pymc.sample_prior_predictive``.

    Returns
    -------
    What ``pymc.sample_prior_predictive`` returns, with the same values for the same ``random_seed``.

    Raises
    ------
    KeyError
        If the model has no variable of a name in ``var_names``.

    Notes
    -----
    A loop of C makes all draws, where they are wholly native.
    """
    import pymc

    model = model_of(model, "sample_prior_predictive")
    kwargs = _with_a_number(check_names(model, kwargs))
    drawn = None if _asks_for_a_mode(kwargs) else prior_in_one_loop(draws, model, **kwargs)
    if drawn is not None:
        return drawn
    return pymc.sample_prior_predictive(draws, model=model, **_with_our_mode(kwargs))


def sample_posterior_predictive(trace: object, model: object = None, **kwargs: Any) -> Any:
    """Draw what a model predicts, given draws from its posterior.

    Parameters
    ----------
    trace : xarray.DataTree, xarray.Dataset, or what else PyMC takes
    model : pymc.Model, optional
        Inside of a model's ``with`` block it is that one.
    **kwargs
        For ``pymc.sample_posterior_predictive``.

    Returns
    -------
    What ``pymc.sample_posterior_predictive`` returns, with the same values for the same ``random_seed``.

    Raises
    ------
    KeyError
        If the model has no variable of a name in ``var_names``, ``sample_vars`` or ``freeze_vars``.
    ValueError
        If the trace has no posterior, or is without a dimension of ``sample_dims``.

    Notes
    -----
    A loop of C makes all draws, where they are wholly native and the trace is one of xarray; the
    progress bar shows nothing then.
    """
    import pymc

    model = model_of(model, "sample_posterior_predictive")
    kwargs = _with_a_number(check_names(model, kwargs))
    drawn = None if _asks_for_a_mode(kwargs) else predicted_in_one_loop(trace, model, **kwargs)
    if drawn is not None:
        return drawn
    return pymc.sample_posterior_predictive(trace, model=model, **_with_our_mode(kwargs))


def _asks_for_a_mode(kwargs: dict[str, Any]) -> bool:
    return kwargs.get("backend") is not None or bool(kwargs.get("compile_kwargs"))


def _in_our_mode(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return what a PyMC function is given besides, with our mode where it names none."""
    return kwargs if "backend" in kwargs else {"mode": mode, **kwargs}


def _with_our_mode(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the same where what is given to the compilation has its own name."""
    if kwargs.get("backend") is not None:
        return kwargs
    return {**kwargs, "compile_kwargs": _in_our_mode(kwargs.get("compile_kwargs") or {})}


def _with_a_number(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return what a PyMC function is given, with a seed that it may be given twice."""
    return {**kwargs, "random_seed": _number_of(kwargs.get("random_seed"))}


def _number_of(random_seed: object) -> Any:
    """Return the number that PyMC seeds a function with, for which it asks a generator; None for none."""
    from pymc.util import _get_seeds_per_chain

    return None if random_seed is None else _get_seeds_per_chain(random_seed, 1)[0]


def _stacked_draws(
    outputs: Sequence[Any], draws: int, random_seed: object
) -> list[np.ndarray] | None:
    """Draws by one loop over all of them; none where the loop is not native."""
    try:
        loop = loop_over_draws(outputs)
    except NotOneLoop:
        return None
    if not loop.generators:
        return None
    return loop(draws, [], _number_of(random_seed))
