"""The makers of d3viz's pictures of graphs: PyTensor's, and whether it can run."""

from typing import Any

from pytensor.d3viz.formatting import PyDotFormatter

from theano.printing.pictures import why_no_pydot

__all__ = ["PyDotFormatter"]


def __getattr__(name: str) -> Any:
    # Tested only when needed: the test runs graphviz.
    if name == "pydot_imported":
        return not why_no_pydot()
    if name == "pydot_imported_msg":
        return why_no_pydot()
    raise AttributeError(f"module 'theano.d3viz.formatting' has no attribute {name!r}")
