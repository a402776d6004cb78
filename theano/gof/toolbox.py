"""Features of a graph that is rewritten, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.graph.features import (
    AlreadyThere,
    BadOptimization,
    Bookkeeper,
    Feature,
    History,
    NoOutputFromInplace,
    PreserveVariableAttributes,
    ReplaceValidate,
    Validator,
)
from pytensor.graph.features import ReplacementDidNotRemoveError as ReplacementDidntRemovedError
