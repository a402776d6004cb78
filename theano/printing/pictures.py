"""Graphs as pictures: PyTensor's `pydotprint`, and whether it can run."""

from functools import cache
from typing import Any

from pytensor import printing as pytensor_printing

__all__ = ["pydotprint", "why_no_pydot"]

INSTALL = (
    "pydotprint needs the Python package pydot and the program graphviz (for example: "
    "pip install pydot, apt-get install graphviz); debugprint works without them"
)


@cache
def why_no_pydot() -> str:
    """Return what keeps pydot from drawing, or nothing if it can."""
    try:
        pytensor_printing._try_pydot_import()
    except ImportError as error:
        return f"{error}. {INSTALL}"
    return ""


def pydotprint(fct: Any, outfile: Any = None, **options: Any) -> Any:
    """Draw a graph to a picture file.

    Parameters
    ----------
    fct : function, variable, application, or list of variables
    outfile : path, optional
        The picture; its name is chosen from the format if it is not given.
    **options
        Those of PyTensor's `pydotprint`: `format`, `compact`, `with_ids`, `scan_graphs`,
        `var_with_name_simple`, `return_image` and others.

    Returns
    -------
    None, or the picture where `return_image` is true

    Raises
    ------
    RuntimeError
        pydot or graphviz is not installed; the message says which to install.
    """
    try:
        return pytensor_printing.pydotprint(fct, outfile, **options)
    except ImportError as error:
        raise RuntimeError(INSTALL) from error
