"""The number of steps that a loop is asked to take, and errors where that is no such number."""

from __future__ import annotations

import operator
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.tensor.basic import as_tensor_variable, get_scalar_constant_value
from pytensor.tensor.exceptions import NotScalarConstantError
from pytensor.tensor.type import TensorType, integer_dtypes

from theano.scan_module.call.step_results import loop_name


def check_steps(n_steps: object, sequences: object, name: str | None) -> None:
    """Check that the number of steps is known, and an integer.

    Parameters
    ----------
    n_steps, sequences, name
        As given to ``scan``.

    Raises
    ------
    ValueError
        If neither a number of steps nor a sequence is given; if the number is of a dtype other than
        the integers', or has more than one element.
    IndexError
        If it is known to be negative.
    """
    if n_steps is None:
        if sequences is None or (isinstance(sequences, list | tuple) and not len(sequences)):
            raise ValueError(
                f"{loop_name(name)}: No information about the number of steps provided: expected"
                " n_steps or a sequence. A loop that ends by `until` needs n_steps as well, the"
                " most steps that it may take"
            )
        return
    _check_type(n_steps, name)
    if (steps := constant_steps(n_steps)) is not None and steps < 0:
        raise IndexError(
            f"{loop_name(name)}: n_steps must be 0 or more, but is {steps};"
            " use go_backwards=True to go through the sequences from their ends"
        )


def check_truncation(truncate_gradient: Any, name: str | None) -> None:
    """Check that the number of steps that a gradient goes back is a Python int.

    Raises
    ------
    TypeError
        If it is anything else, such as a float or a variable.
    """
    try:
        operator.index(truncate_gradient)
    except TypeError:
        raise TypeError(
            f"{loop_name(name)}: truncate_gradient must be an int, the number of steps that the"
            f" gradient goes back, or -1 for all; got {truncate_gradient}, of type"
            f" {type(truncate_gradient).__name__}"
        ) from None


def _check_type(n_steps: Any, name: str | None) -> None:
    """Check the dtype and the shape of a number of steps."""
    if isinstance(n_steps, Variable) and not isinstance(n_steps.type, TensorType):
        return
    given = as_tensor_variable(n_steps).type
    if given.dtype not in integer_dtypes:
        raise ValueError(
            f"{loop_name(name)}: n_steps must be an int, but {n_steps} has the dtype {given.dtype};"
            " T.iround rounds a variable to int64, and T.cast(..., 'int64') cuts its fraction off"
        )
    if any(length != 1 for length in given.shape):
        shape = ", ".join("?" if length is None else str(length) for length in given.shape)
        raise ValueError(
            f"{loop_name(name)}: n_steps must be one integer, but {n_steps} has the shape ({shape},)"
        )


def constant_steps(n_steps: object) -> int | None:
    """Return the number of steps, if it is known when the graph is built."""
    if n_steps is None:
        return None
    try:
        return int(get_scalar_constant_value(n_steps))
    except NotScalarConstantError:
        return None
