"""What arrays a loop can be given, and errors that say so before the loop is built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.type import TensorType

from theano.scan_module.step_results import loop_name


def check_arrays(sequences: Any, outputs_info: Any, name: str | None) -> None:
    """Check that sequences have steps, and initial values as many rows as are read back.

    Parameters
    ----------
    sequences, outputs_info, name
        As given to ``scan``.

    Raises
    ------
    IndexError
        If a sequence has no dimension, or an initial value that is read further back than one step.
    ValueError
        If an initial value is known to have too few rows.
    """
    for position, entry in enumerate(_entries(sequences)):
        variable = _tensor(entry.get("input") if isinstance(entry, dict) else entry)
        if variable is not None and variable.type.ndim == 0:
            raise IndexError(
                f"{loop_name(name)}: sequence {position} ({variable}) is a number, and has nothing"
                " to iterate over; what is the same in every step belongs in non_sequences"
            )
    for position, rows, variable in _rows_read_back(outputs_info):
        what = f"{loop_name(name)}: output {position} is read {rows} steps back, so that"
        if variable.type.ndim == 0:
            raise IndexError(f"{what} its initial value needs {rows} rows, but is a number")
        length = variable.type.shape[0]
        if length is not None and length < rows:
            raise ValueError(f"{what} its initial value needs {rows} rows, but has {length}")


def _rows_read_back(outputs_info: Any) -> Iterator[tuple[int, int, Variable]]:
    """The outputs whose initial value has a row for each step that is read back."""
    for position, entry in enumerate(_entries(outputs_info)):
        if isinstance(entry, dict) and entry.get("taps") is not None:
            taps = entry["taps"] if isinstance(entry["taps"], list | tuple) else [entry["taps"]]
            variable = _tensor(entry.get("initial"))
            if variable is not None and list(taps) != [-1] and all(tap < 0 for tap in taps):
                yield position, -min(taps), variable


def _entries(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _tensor(given: Any) -> Variable | None:
    """What is given as a tensor, if it is one."""
    if given is None or isinstance(given, Variable) and not isinstance(given.type, TensorType):
        return None
    return as_tensor_variable(given)
