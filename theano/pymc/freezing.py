"""Models whose data and lengths are constants, so that what follows from them is computed once."""

from __future__ import annotations

from typing import Any

from pymc.model.transform.optimization import freeze_dims_and_data


class CannotFreezeError(NotImplementedError):
    """PyMC cannot copy a model, as freezing needs it."""


def frozen(model: Any, asked: bool | None) -> Any:
    """Return a model with constant data and lengths.

    Parameters
    ----------
    model
        Stays as it is.
    asked
        What the user asks for; None: freeze if the model has no data that may be changed later,
        and PyMC can copy it.

    Returns
    -------
    pymc.Model
        The same model where it is not frozen.

    Raises
    ------
    CannotFreezeError
        If the user asks for it, and the model is one that PyMC cannot copy.
    """
    if asked is False or (asked is None and model.data_vars):
        return model
    try:
        made = freeze_dims_and_data(model)
    except Exception as error:
        # a copy is asked of graphs of any kind, and fails in many ways
        if asked:
            reason = f"{type(error).__name__}: {error}"
            raise CannotFreezeError(f"PyMC cannot freeze the model ({reason})") from error
        return model
    made.check_bounds = model.check_bounds
    # the copy is in the order of its graph; points are vectors in the order of the model
    order = {variable.name: k for k, variable in enumerate(model.unobserved_RVs)}
    for copied in (made.free_RVs, made.deterministics):
        copied.sort(key=lambda variable: order[variable.name])
    return made
