"""Draws of a model's prior and predictions in one loop, in the groups that PyMC puts them in.

PyMC's own functions decide what is drawn, and from which variables of the trace: they are called for
one draw of a model that compiles nothing; see `LoopsOfModel`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from xarray import Dataset, DataTree

from theano.pymc.loop_over_draws import LoopsOfModel, NotOneLoop


def prior_in_one_loop(
    draws: int,
    model: object,
    return_inferencedata: bool = True,
    idata_kwargs: dict[str, Any] | None = None,
    **kwargs: object,
) -> Any:
    """Return what ``pymc.sample_prior_predictive`` returns, or None where Python is needed for each draw."""
    import pymc

    loops = LoopsOfModel(model)
    names = _names_of_one_draw(
        lambda: pymc.sample_prior_predictive(1, loops, return_inferencedata=False, **kwargs)
    )
    if not names or draws < 1:
        return None
    drawn = loops.drawn(draws, {})
    prior = {name: drawn[name] for name in names}
    if not return_inferencedata:
        return prior
    return pymc.to_inference_data(prior=prior, model=model, **(idata_kwargs or {}))


def predicted_in_one_loop(
    trace: object,
    model: object,
    sample_dims: list[str] | None = None,
    return_inferencedata: bool = True,
    extend_inferencedata: bool = False,
    predictions: bool = False,
    idata_kwargs: dict[str, Any] | None = None,
    **kwargs: object,
) -> Any:
    """Return what ``pymc.sample_posterior_predictive`` returns, or None where Python is needed for each draw.

    Of traces that are not xarray's, too, it is None.
    """
    import pymc

    dims = sample_dims or ["chain", "draw"]
    of_trace = _posterior_of(trace, dims)
    # a bar of one step says nothing
    kwargs["progressbar"] = False
    if of_trace is None or not all(of_trace.sizes.get(dim) for dim in dims):
        return None
    lengths = [of_trace.sizes[dim] for dim in dims]
    loops, one = LoopsOfModel(model), _of_one_draw(trace, of_trace, dims)
    names = _names_of_one_draw(
        lambda: pymc.sample_posterior_predictive(
            one, loops, sample_dims=dims, return_inferencedata=False, **kwargs
        )
    )
    if not names:
        return None
    rows = {str(name): values.transpose(*dims, ...) for name, values in of_trace.items()}
    stacked = {name: v.values.reshape(-1, *v.shape[len(dims) :]) for name, v in rows.items()}
    drawn = loops.drawn(prod(lengths), stacked)
    found = {
        name: drawn[name].reshape(*lengths, *drawn[name].shape[1:])
        if name in drawn
        else np.array(rows[name].values)
        for name in names
    }
    if not return_inferencedata:
        return found
    given = {"sample_dims": dims, **(idata_kwargs or {}), "model": model}
    first = next(iter(of_trace.values()))
    given["coords"] = {**{dim: first[dim] for dim in dims}, **(given.get("coords") or {})}
    original = trace if extend_inferencedata and isinstance(trace, DataTree) else None
    return _groups(found, predictions, original, given)


def _names_of_one_draw(sample: Callable[[], dict[str, Any]]) -> list[str]:
    """Return the names of what PyMC would return, with its warnings; none where a loop is not native."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            names = [*sample()]
        except NotOneLoop:
            return []
    for warning in raised:
        # as if it were of the function that the user calls
        warnings.warn(warning.message, stacklevel=4)
    return names


def _posterior_of(trace: object, dims: Sequence[str]) -> Dataset | None:
    """Return the posterior in a trace of xarray's, as PyMC finds it; None for another trace.

    Raises
    ------
    ValueError
        If it has no variables, or one without a dimension of draws.
    """
    found = trace
    if isinstance(trace, DataTree):
        found = (trace["posterior"] if "posterior" in trace.children else trace).dataset
    if not isinstance(found, Dataset):
        return None
    if not found:
        groups = ", ".join(trace.children) if isinstance(trace, DataTree) else ""
        raise ValueError(
            "sample_posterior_predictive: expected a trace with a posterior, got one with"
            f" {f'the groups {groups}' if groups else 'no variables'}; pass the group that has the"
            " draws, such as trace.prior"
        )
    for name, values in found.items():
        if missing := [dim for dim in dims if dim not in values.dims]:
            raise ValueError(
                f"sample_posterior_predictive: expected the dimensions {', '.join(dims)}, got"
                f" {name} without {', '.join(missing)}, of dimensions"
                f" {', '.join(map(str, values.dims)) or 'none'}; sample_dims= names those of draws"
            )
    return found


def _of_one_draw(trace: object, posterior: Dataset, dims: Sequence[str]) -> Any:
    """Return a trace with the first draw, and what else belongs to it."""
    one = posterior.isel({dim: [0] for dim in dims})
    if not isinstance(trace, DataTree):
        return one
    others = {name: group for name, group in trace.children.items() if name != "posterior"}
    return DataTree(children={**others, "posterior": DataTree(one)})


def _groups(
    found: dict[str, np.ndarray],
    predictions: bool,
    original: DataTree | None,
    given: dict[str, Any],
) -> DataTree:
    """Return values as PyMC groups them, added to an original tree where there is one."""
    import pymc

    if predictions:
        if original is not None:
            given = {"idata_orig": original, "inplace": True, **given}
        return pymc.predictions_to_inference_data(found, **given)
    groups = pymc.to_inference_data(posterior_predictive=found, **given)
    if original is None:
        return groups
    both = set(original.children) & set(groups.children) - {"observed_data", "constant_data"}
    if both:
        warnings.warn(
            f"groups {both} already exist in the DataTree and will be overwritten. To avoid this,"
            " set extend_inferencedata=False.",
            UserWarning,
            stacklevel=4,
        )
    original.update(groups)
    return original
