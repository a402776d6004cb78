"""The axis of Join, Split and the sorts, which PyTensor 3.3 keeps in the operator."""
# ruff: noqa: F401 -- this file re-exports

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Apply

if sys.version_info >= (3, 12):
    from theano.pytensor_internals.since_3_3.joins import (
        Join,  # joins tensors, called with the axis and them
        Split,  # splits a tensor, called with it, the axis and the lengths of the parts
        join,  # (axis, *tensors) -> the tensors joined; the axis may be a variable
        split,  # (tensor, lengths, n_splits=, axis=) -> its parts; the axis may be a variable
    )
    from theano.pytensor_internals.since_3_3.sorting import (
        sorting,  # (class of a sort, kind) -> what is called with an array and an axis
    )

    def axis_apart(node: Apply, values: Sequence) -> tuple[Any, list]:
        """Return the axis of a node, and of its inputs' values those that are no axis."""
        return node.op.axis, list(values)  # type: ignore[attr-defined]

    def axis_among(node: Apply, axis: object, values: Sequence) -> list:
        """Return the values of all inputs, of an axis and those that are no axis."""
        return list(values)

    def positions_with_axis(op_type: type, others: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Positions of inputs: that of the axis, and some that are counted without it."""
        return others

else:
    from theano.pytensor_internals.before_3_3.axes import (
        Join,
        Split,
        axis_among,
        axis_apart,
        join,
        positions_with_axis,
        sorting,
        split,
    )
