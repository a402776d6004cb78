"""Theano 1.0's `theano.d3viz`: graphs as interactive web pages (needs pydot and graphviz)."""

from pathlib import Path
from typing import Any

from pytensor import d3viz as pytensor_d3viz
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import explicit_graph_inputs

__all__ = ["d3viz", "d3write"]


def d3viz(fct: object, outfile: Path | str, copy_deps: bool = True, **options: object) -> None:
    """Write a web page that shows a graph; loops and other nested graphs open by double click.

    Parameters
    ----------
    fct : function, variable, application, or list of variables
    outfile
        The page, an HTML file.
    copy_deps
        Whether to copy the scripts that the page uses next to it.
    **options
        Those of PyTensor's ``PyDotFormatter``.
    """
    pytensor_d3viz.d3viz(_with_inputs(fct), outfile, copy_deps, **options)


def d3write(fct: object, path: Path | str, **options: object) -> None:
    """Write a graph as a file of graphviz; the arguments are those of `d3viz`."""
    pytensor_d3viz.d3write(_with_inputs(fct), path, **options)


def _with_inputs(fct: object) -> Any:
    """Variables as a graph that knows its inputs, which PyTensor does not find."""
    if isinstance(fct, Apply):
        fct = fct.outputs
    outputs = [fct] if isinstance(fct, Variable) else fct
    if not isinstance(outputs, list | tuple):
        return fct
    return FunctionGraph(list(explicit_graph_inputs(outputs)), list(outputs), clone=True)
