"""Graphs as pictures: PyTensor's `pydotprint`, and whether it can run."""

from functools import cache
from pathlib import Path
from typing import Any

from pytensor import printing as pytensor_printing

from theano.configdefaults import config
from theano.pytensor_internals.printing import import_pydot

__all__ = ["pydotprint", "why_no_pydot"]

INSTALL = (
    "pydotprint needs the Python package pydot and the program graphviz (for example: "
    "pip install pydot, apt-get install graphviz); debugprint works without them"
)


@cache
def why_no_pydot() -> str:
    """Return what keeps pydot from drawing, or nothing if it can."""
    try:
        import_pydot()
    except ImportError:
        return INSTALL
    return ""


def pydotprint(fct: object, outfile: Any = None, **options: Any) -> Any:
    """Draw a graph to a picture file.

    Parameters
    ----------
    fct : function, variable, application, or list of variables
    outfile : path, optional
        The picture; by default ``theano.pydotprint.cpu.png`` in the folder of compiled code.
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
    if outfile is None:
        name = f"theano.pydotprint.{config.device}.{options.get('format', 'png')}"
        outfile = Path(config.compiledir) / name
    try:
        return pytensor_printing.pydotprint(fct, outfile, **options)
    except ImportError as error:
        raise RuntimeError(INSTALL) from error


def pydotprint_variables(*args: object, **kwargs: object) -> None:
    """Refuse: Theano removed this, and `pydotprint` takes variables too."""
    raise NotImplementedError(
        "pydotprint_variables: Theano 1.0 removed it. Write theano.printing.pydotprint(variables, "
        "outfile='graph.png'), which takes variables as it takes functions"
    )
