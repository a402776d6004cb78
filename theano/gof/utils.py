"""Base classes and traces of where variables were made, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable
from pathlib import Path
from typing import Any

from pytensor.graph.basic import Variable

from theano.pytensor_internals.graphs.graph import (
    MetaObject,
    MethodNotDefined,
    Scratchpad,
    add_tag_trace,
    get_variable_trace_string,
    simple_extract_stack,
)
from theano.pytensor_internals.python_helpers import difference, flatten, hash_from_code

scratchpad = Scratchpad


def hashtype(self: object) -> int:
    """Return a hash of the class of `self`, for classes whose instances are all equal."""
    cls = type(self)
    return hash((cls.__module__, cls.__qualname__))


def uniq(seq: Iterable[Any]) -> list:
    """Return the elements of a sequence, each once, in the order of their first places."""
    found: list = []
    for element in seq:
        if element not in found:
            found.append(element)
    return found


def unique(x: Collection[Hashable]) -> bool:
    """Return whether no element is there twice."""
    return len(set(x)) == len(x)


def hist(coll: Iterable[Hashable]) -> dict[Hashable, int]:
    """Return how often each element is there."""
    return dict(Counter(coll))


def remove(predicate: Callable[[Any], object], coll: Iterable[Any]) -> list:
    """Return the elements for which `predicate` is not true."""
    return [element for element in coll if not predicate(element)]


def give_variables_names(variables: Collection[Variable]) -> Collection[Variable]:
    """Give its own name to each variable that has none or another one's.

    Parameters
    ----------
    variables : collection of variables
        Changed in place.

    Returns
    -------
    collection of variables
        The same ones.

    Raises
    ------
    ValueError
        When two of them are still printed alike.
    """
    count = hist(variable.name for variable in variables)
    unnamed = [v for v in variables if not v.name or count[v.name] > 1]
    for number, variable in enumerate(unnamed):
        variable.name = f"{variable.name or ''}_{number}"
    if not unique([str(variable) for variable in variables]):
        raise ValueError("give_variables_names expects names that differ, and some are still equal")
    return variables


def to_return_values(values: Any) -> Any:
    """Return the only element of a sequence of one, and other sequences as they are."""
    return values[0] if len(values) == 1 else values


def from_return_values(values: object) -> Any:
    """Return a list or tuple as it is, and anything else as a list of it."""
    return values if isinstance(values, list | tuple) else [values]


def hash_from_file(file_path: str) -> str:
    """Return a name that depends on the contents of a file."""
    return hash_from_code(Path(file_path).read_bytes())
