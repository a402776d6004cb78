"""The options of nutpie's sampler among the keywords of a call, checked before a model is compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from inspect import signature
from typing import Any

from theano.support.formatting.nearest_name import did_you_mean

# nutpie's own names of strategies -> its classes' names of them
_ADAPTATIONS = {"low_rank": "LowRank", "flow": "Flow"}
_SAMPLERS = {"mclmc": "PyMclmcSettings"}
# arguments of nutpie.sample that `theano.pymc.sample` sets itself -> what to do
_SET_OTHERWISE = {
    "save_warmup": "give discard_tuned_samples=False to keep them",
    "progress_bar": "give progressbar",
    "progress_callback": "give progressbar",
    "seed": "give random_seed",
    "store_unconstrained": "give idata_kwargs={'include_transformed': True}",
    "blocking": "call nutpie.sample(theano.pymc.compile_model(model), blocking=False)",
    "return_raw_trace": "call nutpie.sample(theano.pymc.compile_model(model), return_raw_trace=True)",
}
# older names, which nutpie takes out before it fills in its settings
_OLDER = frozenset(
    {"low_rank_modified_mass_matrix", "transform_adapt", "use_grad_based_mass_matrix"}
)


def nutpie_options(
    nuts: Mapping[str, Any] | None, others: Mapping[str, Any], not_nutpies: Iterable[str]
) -> dict[str, Any]:
    """Return the keywords of a call and the entries of ``nuts``, by nutpie's names.

    Parameters
    ----------
    nuts, others
        What the call has as ``nuts``, and its other keywords.
    not_nutpies
        Those that nutpie does not take.
    """
    left_out = set(not_nutpies)
    options = dict(nuts or {}) | {name: v for name, v in others.items() if name not in left_out}
    if "max_treedepth" in options:
        options["maxdepth"] = options.pop("max_treedepth")
    return options


def refuse_unknown_options(options: Mapping[str, Any]) -> None:
    """Raise a TypeError for an option that neither ``pymc.sample`` nor nutpie has, with the nearest name."""
    import nutpie
    import pymc
    from nutpie import _lib

    called = signature(nutpie.sample).parameters
    kind = getattr(_lib, _SAMPLERS.get(options.get("sampler", ""), "PyNutsSettings"))
    filled = getattr(kind, _ADAPTATIONS.get(options.get("adaptation", ""), "Diag"))(0)
    for name, value in options.items():
        if name in _SET_OTHERWISE:
            raise TypeError(
                f"sample: expected arguments of pymc.sample, got {name}={value!r} of nutpie.sample;"
                f" {_SET_OTHERWISE[name]}"
            )
        if name in called or name in _OLDER:
            continue
        try:
            filled.update({name: value})
        except AttributeError:
            known = {*signature(pymc.sample).parameters, *called, *_names_in(filled.as_dict())}
            known.update(("freeze_model", "max_treedepth", "nuts"))
            nearest = did_you_mean(name, sorted(known - {"kwargs"}))
            raise TypeError(
                f"sample: expected arguments of pymc.sample or of nutpie.sample, got {name}={value!r}"
                f"{nearest}"
            ) from None


def _names_in(settings: Mapping[str, Any]) -> Iterator[str]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _names_in(value)
        else:
            yield name
