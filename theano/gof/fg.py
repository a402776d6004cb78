"""The graph that is rewritten, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.graph.fg import FunctionGraph
from pytensor.graph.utils import InconsistencyError, MissingInputError
