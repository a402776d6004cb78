"""Sample models: by nutpie from C functions where a model allows it, else by PyMC's own samplers."""

from __future__ import annotations

import logging
import time
from inspect import signature
from typing import Any

import numpy as np
from pymc.sampling.parallel import _cpu_count
from pymc.util import get_random_generator
from pytensor.gradient import NullTypeGradError

from theano.link.native import NotNativeError
from theano.pymc.freezing import CannotFreezeError
from theano.pymc.models import check_names, model_of, refuse_unknown
from theano.pymc.modes import mode
from theano.pymc.points import discrete_variables
from theano.pymc.refused_loops import refuse_loops
from theano.pymc.sampler_options import nutpie_options, refuse_unknown_options

# PyMC's own, whose messages are shown where its samplers' are
_log = logging.getLogger("pymc")

# arguments of `pymc.sample` that its own samplers take, with the values that ask for nothing
_ONLY_PYMC: dict[str, Any] = {
    "step": None,
    "trace": None,
    "callback": None,
    "init": "auto",
    "return_inferencedata": True,
    "keep_warning_stat": False,
    "mp_ctx": None,
}
# of those, what other samplers have no use for
_WITHOUT_MEANING = {
    "blas_cores", "compute_convergence_checks", "jitter_max_retries", "n_init", *_ONLY_PYMC,
}  # fmt: skip
# counts, and the least that each may be
_LEAST = {"draws": 0, "tune": 0, "chains": 1, "cores": 1}
_NOT_NUTPIES = {*_WITHOUT_MEANING, "nuts_sampler", "initvals", "var_names", "compile_kwargs"}


def sample(*given: object, model: object = None, draws: int = 1000, **settings: Any) -> Any:
    """Sample a model as ``pymc.sample`` does, with functions of this package.

    A model of continuous variables that is native, with its gradient, is sampled by nutpie, which
    calls functions of C from its own threads. Other models, discrete ones among them, are sampled
    by PyMC's own step methods; a message says why.

    Parameters
    ----------
    *given
        The model, or the number of draws as ``pymc.sample`` takes it, or both.
    model : pymc.Model, optional
        Inside of a model's ``with`` block it is that one.
    draws : int
        Of each chain, after tuning.
    **settings
        As for ``pymc.sample``, with its defaults: ``tune``, ``chains``, ``cores``,
        ``random_seed``, ``progressbar``, ``quiet``, ``var_names``, ``nuts_sampler``, ``initvals``,
        ``idata_kwargs``, ``discard_tuned_samples``, ``target_accept``, ``nuts`` and so on. What
        only PyMC's samplers take, such as ``step``, chooses them. In addition ``freeze_model``, by
        default True: data are constants of what is compiled.

    Returns
    -------
    arviz.InferenceData or DataTree
        What ``pymc.sample`` returns: the posterior, of shape ``(chains, draws, ...)``, statistics
        of the sampler, and the data.

    Raises
    ------
    TypeError
        If there is no model, or it is none of PyMC's, or a keyword is no sampler's.
    KeyError
        If the model has no variable of a name in ``var_names``.

    Examples
    --------
    >>> import pymc as pm, theano.pymc  # doctest: +SKIP
    >>> with pm.Model() as model:  # doctest: +SKIP
    ...     x = pm.Normal("x", shape=2)
    >>> theano.pymc.sample(model, draws=1000, chains=4)  # doctest: +SKIP
    """
    for argument in given:
        if isinstance(argument, int | np.integer):
            draws = int(argument)
        else:
            model = argument
    model = model_of(model, "sample")
    _check_counts({"draws": draws, **settings})
    refuse_loops(model)
    settings = check_names(model, settings)
    _check_starts(model, settings.get("initvals"))
    # PyMC's older name
    if older := settings.pop("nuts_sampler_kwargs", None):
        settings["nuts"] = {**older, **(settings.get("nuts") or {})}
    frozen = settings.pop("freeze_model", True)
    quiet = settings.get("quiet", False)
    reason = _reason_for_pymc(model, settings)
    if reason is None:
        of_call = {*_NOT_NUTPIES, *signature(_by_nutpie).parameters}
        refuse_unknown_options(nutpie_options(settings.get("nuts"), settings, of_call))
        try:
            compiled = _compiled(model, settings, frozen)
        except (NotNativeError, NotImplementedError, NullTypeGradError) as error:
            # that it is not native, or has no gradient: PyMC has samplers that need none
            reason = str(error)
        else:
            return _by_nutpie(model, compiled, draws, **settings)
    if settings.get("nuts_sampler") == "nutpie":
        raise NotNativeError(f"nuts_sampler='nutpie' cannot sample the model: {reason}")
    if not quiet and reason:
        _log.info("theano.pymc.sample: PyMC's own samplers, because %s", reason.split("\n")[0])
    return _by_pymc(model, draws, settings)


def _check_counts(settings: dict[str, Any]) -> None:
    """Raise an error for numbers that are no integers or too small: samplers may wait for ever with them."""
    for name, least in _LEAST.items():
        given = settings.get(name)
        if given is None:
            continue
        if isinstance(given, bool) or not isinstance(given, int | np.integer):
            raise TypeError(f"sample: {name} must be an int, but is {given!r}")
        if given < least:
            raise ValueError(f"sample: {name} must be {least} or more, but is {given}")


def _check_starts(model: Any, initvals: Any) -> None:
    """Raise a KeyError for initial values of variables that the model lacks."""
    known = [*model.named_vars, *(v.name for v in model.value_vars)]
    for starts in initvals if isinstance(initvals, list | tuple) else [initvals]:
        names = [getattr(variable, "name", variable) for variable in starts or ()]
        refuse_unknown("initvals", [name for name in names if name not in known], known)


def _reason_for_pymc(model: Any, settings: dict[str, Any]) -> str | None:
    """Return why PyMC's own samplers are used; None where nutpie may be."""
    asked = settings.get("nuts_sampler")
    if asked not in (None, "nutpie"):
        return f"nuts_sampler={asked!r} asks for it"
    if not model.free_RVs:
        return "the model has no free variables"
    discrete = discrete_variables(model)
    if discrete:
        return f"{', '.join(discrete)} cannot be differentiated"
    for name, nothing in _ONLY_PYMC.items():
        if name in settings and settings[name] is not nothing and settings[name] != nothing:
            return f"nutpie does not take {name}"
    if not isinstance(settings.get("initvals") or {}, dict):
        return "nutpie starts all chains at the same initvals"
    return None


def _compiled(model: Any, settings: dict[str, Any], frozen: bool | None) -> Any:
    """Return the model as nutpie samples it."""
    from theano.pymc.compiled_model import compile_model

    var_names = settings.get("var_names")
    if var_names is not None:
        # PyMC takes names of observations and data, too, of which there are no draws
        drawn = {v.name for v in model.unobserved_value_vars}
        var_names = [name for name in var_names if name in drawn]

    def compile_frozen(asked: bool | None) -> Any:
        return compile_model(
            model,
            initial_points=settings.get("initvals"),
            var_names=var_names,
            freeze_model=asked,
        )

    try:
        return compile_frozen(frozen)
    except CannotFreezeError:
        return compile_frozen(False)


def _by_nutpie(
    model: object,
    compiled: object,
    draws: int,
    *,
    tune: int | None = None,
    chains: int | None = None,
    cores: int | None = None,
    random_seed: object = None,
    progressbar: object = True,
    progressbar_theme: object = None,
    quiet: bool = False,
    discard_tuned_samples: bool = True,
    idata_kwargs: dict[str, Any] | None = None,
    nuts: dict[str, Any] | None = None,
    **others: object,
) -> Any:
    """Sample a compiled model, with chains, seeds and groups of results as PyMC has them."""
    import nutpie
    from pymc.backends.arviz import patch_nutpie_idata
    from pymc.progress_bar import NutpieProgressBarManager

    options = nutpie_options(nuts, others, _NOT_NUTPIES)
    kept = dict(idata_kwargs or {})
    cores = min(4, _cpu_count()) if cores is None else cores
    chains = max(2, cores) if chains is None else chains
    seeds = [g.integers(2**30) for g in get_random_generator(random_seed).spawn(chains)]
    progress = NutpieProgressBarManager(
        chains=chains,
        draws=draws,
        progressbar=progressbar and not quiet,
        progressbar_theme=progressbar_theme,
    )
    begun = time.time()
    with progress:
        found = nutpie.sample(
            compiled,
            draws=draws,
            # nutpie's own adaptation needs one step
            tune=1 if tune == 0 else tune,
            chains=chains,
            cores=cores,
            seed=int(seeds[0]),
            save_warmup=not discard_tuned_samples,
            store_unconstrained=kept.pop("include_transformed", False),
            progress_bar=False,
            progress_callback=progress.update,
            **options,
        )
    patch_nutpie_idata(found, model, sampling_time=time.time() - begun)
    return _with_log_likelihood(found, model, kept.pop("log_likelihood", False))


def _with_log_likelihood(found: object, model: Any, asked: bool | list[str]) -> Any:
    """Return results with the log likelihood of observations, if it is asked for."""
    if not asked:
        return found
    import pymc

    with model:
        return pymc.compute_log_likelihood(
            found,
            var_names=None if asked is True else asked,
            progressbar=False,
            compile_kwargs={"mode": mode},
        )


def _by_pymc(model: Any, draws: int, settings: dict[str, Any]) -> Any:
    """Sample a model by PyMC's own samplers, or another engine's that is asked for."""
    import pymc

    given = {"nuts_sampler": "pymc", **settings}
    given["nuts_sampler"] = given["nuts_sampler"] or "pymc"
    given["compile_kwargs"] = {"mode": mode, **(given.get("compile_kwargs") or {})}
    with model:
        return pymc.sample(draws, **given)
