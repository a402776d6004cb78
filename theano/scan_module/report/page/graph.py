"""The whole graph as a separate page, next to a report's."""

from __future__ import annotations

from pathlib import Path

from pytensor.d3viz import d3viz
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.printing import import_pydot


def graph_page(graph: FunctionGraph | None, path: Path) -> str:
    """Write the page of a graph next to that of a report.

    Parameters
    ----------
    path
        The report's page.

    Returns
    -------
    str
        The name of the page; empty where there is no graph, or pydot and graphviz cannot draw it.
    """
    if graph is None or not _can_draw():
        return ""
    page = path.with_name(f"{path.stem}-graph.html")
    d3viz(graph, page)
    # PyTensor's links are lost when the folder is moved
    text = page.read_text(encoding="utf-8").replace(f'"{path.parent}/d3viz/', '"d3viz/')
    page.write_text(text, encoding="utf-8")
    return page.name


def _can_draw() -> bool:
    try:
        import_pydot()
    except ImportError:
        return False
    return True
