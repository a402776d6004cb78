"""Base classes and traces of where variables were made, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.graph.utils import (
    MetaObject,
    MethodNotDefined,
    Scratchpad,
    add_tag_trace,
    get_variable_trace_string,
    simple_extract_stack,
)
from pytensor.utils import difference, flatten, hash_from_code

scratchpad = Scratchpad


def hashtype(self: object) -> int:
    """Return a hash of the class of `self`, for classes whose instances are all equal."""
    cls = type(self)
    return hash((cls.__module__, cls.__qualname__))
