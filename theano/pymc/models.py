"""The model that a call means."""

from __future__ import annotations

from typing import Any


def model_of(given: Any, function: str) -> Any:
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
