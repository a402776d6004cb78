"""Lengths of arrays along their axes, as numbers where they are known."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Constant, Variable
from pytensor.tensor.basic import constant
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.shapes import length_along


def static_length(length: Any) -> int | None:
    """Return a length as a number, where it is one."""
    if isinstance(length, Variable):
        return int(length.data) if isinstance(length, Constant) else None
    return int(length)


def lengths_of(array: Variable) -> list[TensorVariable]:
    """Return the lengths of an array along its axes.

    Each is asked for by itself, which is what all ways to ask become when a graph is rewritten.
    """
    return [
        length_along(array, axis) if length is None else constant(length, dtype="int64")
        for axis, length in enumerate(array.type.shape)
    ]
