"""The axis of Join, Split and the sorts, which is an input of theirs in PyTensor 3.0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Apply
from pytensor.tensor.basic import Join, Split, join, split  # noqa: F401 -- for axes.py
from pytensor.tensor.sort import ArgSortOp, SortOp

POSITION: dict[type, int] = {Join: 0, Split: 1, SortOp: 1, ArgSortOp: 1}


def axis_apart(node: Apply, values: Sequence) -> tuple[Any, list]:
    """Return the axis of a node, and of its inputs' values those that are no axis."""
    others = list(values)
    axis = others.pop(POSITION[type(node.op)])
    return axis, others


def axis_among(node: Apply, axis: object, values: Sequence) -> list:
    """Return the values of all inputs, of an axis and those that are no axis."""
    every = list(values)
    every.insert(POSITION[type(node.op)], axis)
    return every


def positions_with_axis(op_type: type, others: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Positions of inputs: that of the axis, and some that are counted without it."""
    own = POSITION[op_type]
    return (own, *(k + (k >= own) for k in others))


def sorting(op_class: type, kind: str) -> Any:
    """Return the operator that sorts an array along an axis."""
    return op_class(kind)
