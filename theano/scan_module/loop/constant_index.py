"""Indices of basic reads and writes, where they are numbers."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar

from theano.pytensor_internals.operations.tensor import get_idx_list

_CONVERSIONS = (ScalarFromTensor, TensorFromScalar)
# takes the place of what is no number
_VARIABLE = "variable"


def constant_index(idx_list: tuple, inputs: list[Variable]) -> int | slice | None:
    """Return the index of a basic read or write of the first axis; None if it is another or no constant.

    Parameters
    ----------
    idx_list
        The op's ``idx_list``.
    inputs
        The array that is indexed, followed by the variables of the index.
    """
    indices = get_idx_list(inputs, idx_list)
    return constant_of(indices[0]) if len(indices) == 1 else None


def constant_of(index: Any) -> int | slice | None:
    """One entry of an index as numbers; None if it has a variable."""
    if isinstance(index, slice):
        parts = [_constant(part) for part in (index.start, index.stop, index.step)]
        return None if _VARIABLE in parts else slice(*parts)
    value = _constant(index)
    return None if isinstance(value, str) else value


def _constant(value: Variable | int | None) -> int | str | None:
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, Constant):
        return int(value.data)
    # indices are scalars, which a graph may hold as tensors
    if getattr(value, "owner", None) is not None and isinstance(value.owner.op, _CONVERSIONS):
        return _constant(value.owner.inputs[0])
    return _VARIABLE
