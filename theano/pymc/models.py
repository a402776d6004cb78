"""The model that a call means, and the variables of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def model_of(given: object, function: str) -> Any:
    """Return the model that is given to a function, or else the one whose ``with`` block it is called in.

    Raises
    ------
    TypeError
        If what is given is no model, or none is given outside of such a block.
    """
    import pymc

    if given is None:
        given = pymc.Model.get_context(error_if_none=False)
    if not isinstance(given, pymc.Model):
        found = "none, outside of its with block" if given is None else repr(given)
        raise TypeError(f"{function}: expected a pymc.Model, got {found}")
    return given


def check_names(model: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is given to a function, with lists of names, all of which the model has.

    Raises
    ------
    KeyError
        If the model has no variable of a name.
    """
    names = {
        argument: [names] if isinstance(names, str) else list(names)
        for argument, names in given.items()
        if argument in ("var_names", "sample_vars", "freeze_vars") and names is not None
    }
    for argument, several in names.items():
        refuse_unknown(argument, [name for name in several if name not in model], model.named_vars)
    return {**given, **names}


def refuse_unknown(argument: str, unknown: Iterable[str], known: Iterable[str]) -> None:
    """Raise an error for names that are not known, which says those that are."""
    if wrong := ", ".join(map(repr, unknown)):
        raise KeyError(f"{argument}: no {wrong} in the model, which has {', '.join(known)}")
