"""Checks of the arrays that a loop is given, with errors before the loop is built."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Variable
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import only_result
from theano.raise_op import Check
from theano.scan_module.call.arguments_by_role import listed, taps_of
from theano.scan_module.call.step_results import loop_name
from theano.scan_module.step.sparse_matrices import check_not_sparse
from theano.support.formatting.nearest_name import did_you_mean

# The keys under which a dictionary holds its array, by the argument of `scan`
_ARRAYS_OF_DICTIONARIES = dict(sequences="input", outputs_info="initial")
_MAY_BE_MISSING = ("outputs_info", "n_steps")


def check_sequences(sequences: object, name: str | None) -> None:
    """Check that sequences can be iterated over.

    Parameters
    ----------
    sequences, name
        As given to ``scan``.

    Raises
    ------
    IndexError
        If a sequence has no dimension.
    TypeError
        If a sequence is a sparse matrix, or taps are not integers.
    KeyError
        If a dictionary has no ``input``, or other keys than that and ``taps``.
    """
    for position, entry in enumerate(listed(sequences)):
        if isinstance(entry, dict):
            _check_keys_of_sequence(entry, f"{loop_name(name)}: sequence {position}")
            _taps(entry, f"{loop_name(name)}: sequence {position}")
        array = entry.get("input") if isinstance(entry, dict) else entry
        check_not_sparse(array, f"{loop_name(name)}: sequence {position}")
        variable = _tensor(array)
        if variable is not None and variable.type.ndim == 0:
            raise IndexError(
                f"{loop_name(name)}: sequence {position} ({variable}) is a number, and has nothing"
                " to iterate over; what is the same in every step belongs in non_sequences"
            )


def _check_keys_of_sequence(entry: dict, title: str) -> None:
    known = ("input", "taps")
    others = [str(key) for key in entry if key not in known]
    if others or entry.get("input") is None:
        raise KeyError(
            f"{title} is a dictionary with the keys {list(entry)}; its array belongs under 'input',"
            " and what is read around each element under 'taps'"
            f"{did_you_mean(others[0], known) if others else ''}"
        )


def with_rows_checked(outputs_info: object, name: str | None) -> Any:
    """States with the check that each initial value has as many rows as are read back.

    Parameters
    ----------
    outputs_info, name
        As given to ``scan``.

    Raises
    ------
    IndexError
        If an initial value that is read further back than one step has no dimension.
    TypeError
        If an initial value is a sparse matrix, or taps are not integers.
    ValueError
        If taps are not below 0, are given twice, or without an initial value; if an entry has keys
        that are not known; if an initial value is known to have too few rows. If that is not known, the function
        raises the error when it is called.
    """
    if not isinstance(outputs_info, list | tuple):
        return _with_rows_checked(outputs_info, 0, name)
    return [_with_rows_checked(entry, place, name) for place, entry in enumerate(outputs_info)]


def _check_entry(entry: dict, position: int, name: str | None) -> None:
    title = f"{loop_name(name)}: output {position}"
    known = ("initial", "taps")
    for key in entry:
        if key not in (*known, "inplace"):
            raise ValueError(
                f"{title} has the key {key!r} in outputs_info; expected 'initial' and 'taps'"
                f"{did_you_mean(str(key), known)}"
            )
    taps = _taps(entry, title)
    if taps and entry.get("initial") is None:
        raise ValueError(f"{title} is read at the taps {taps}, and needs an initial state")
    if any(tap >= 0 for tap in taps):
        raise ValueError(
            f"{title} has the taps {taps}: all tap values must be smaller than 0, since a step reads"
            " what steps before it wrote"
        )
    if len(set(taps)) < len(taps):
        raise ValueError(f"{title} has the taps {taps}: all of them must be different")


def _with_rows_checked(entry: Any, position: int, name: str | None) -> Any:
    if isinstance(entry, dict):
        _check_entry(entry, position, name)
    first = entry.get("initial") if isinstance(entry, dict) else entry
    check_not_sparse(first, f"{loop_name(name)}: the initial value of output {position}")
    rows = _rows_read_back(entry)
    initial = _tensor(entry.get("initial")) if rows > 1 else None
    if initial is None:
        return entry
    error = (
        f"{loop_name(name)}: output {position} is read {rows} steps back, so that its initial"
        f" value needs {rows} rows"
    )
    if initial.type.ndim == 0:
        raise IndexError(f"{error}, but is a number")
    length = initial.type.shape[0]
    if length is None:
        checked = only_result(Check(ValueError, error)(initial, initial.shape[0] >= rows))
        checked.name = initial.name
        # Theano's graphs have no such check
        checked.tag.printed_as_given = True
        return {**entry, "initial": checked}
    if length < rows:
        raise ValueError(f"{error}, but has {length}")
    return entry


def _taps(entry: dict, title: str) -> list[int]:
    try:
        return list(taps_of(entry))
    except TypeError as error:
        raise TypeError(f"{title}: {error}") from None


def _rows_read_back(entry: object) -> int:
    """Return how many steps back an output is read, if it says so by taps that it may have."""
    taps = taps_of(entry) if isinstance(entry, dict) else ()
    return -min(taps) if taps and all(tap < 0 for tap in taps) else 0


def check_arrays(given: dict[str, Any], name: str | None) -> None:
    """Check that what a loop is given can be arrays.

    Parameters
    ----------
    given
        Arguments of ``scan``, by their names.
    name
        As given to ``scan``.

    Raises
    ------
    TypeError
        If something is neither a variable nor an array.
    """
    for argument, entries in given.items():
        for entry in listed(entries):
            key = _ARRAYS_OF_DICTIONARIES.get(argument) if isinstance(entry, dict) else None
            value = entry.get(key) if key else entry
            try:
                if value is None and not key and argument not in _MAY_BE_MISSING:
                    raise NotImplementedError
                _tensor(value)
            except (NotImplementedError, TypeError):
                raise TypeError(
                    f"{loop_name(name)}: expected variables or arrays in {argument}, got {entry!r}"
                    f"{_instead_of(value)}"
                ) from None


def _instead_of(value: object) -> str:
    """Return what to say of a value that is written otherwise."""
    return f"; T.constant({value}) is a boolean" if isinstance(value, bool) else ""


def _tensor(given: Any) -> TensorVariable | None:
    """Return what is given as a tensor, if it is one."""
    if given is None or (isinstance(given, Variable) and not isinstance(given.type, TensorType)):
        return None
    return as_tensor_variable(given)
