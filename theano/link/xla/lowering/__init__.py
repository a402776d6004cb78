"""One file for each family of operators; importing this fills the table."""

from theano.link.xla.lowering import shapes
from theano.link.xla.lowering.table import lowers, runs_on_host

__all__ = ["lowers", "runs_on_host", "shapes"]
