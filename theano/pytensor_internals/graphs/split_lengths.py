"""Lengths of the parts that an array is split into, as those of the array but for one.

PyTensor writes the array's lengths into a vector, another length over one of them, and reads all of
them from there, which no comparison sees through. The gradient of what was joined is split.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.tensor.basic import cast

from theano.pytensor_internals.graphs.reshaped_lengths import entry_of_list
from theano.pytensor_internals.operations.axes import axis_apart

LengthOf = Callable[[Variable, int], Variable]


def shapes_of_split(
    node: Apply, length_of: LengthOf, known: Callable[[Variable], Variable]
) -> list[tuple[Variable, ...]] | None:
    """Return the shape of each part; None where the axis is no number.

    Parameters
    ----------
    node
        A node of ``Split``.
    length_of
        The length of an array along an axis.
    known
        What is known of a length that may be read from a shape.
    """
    array: Any
    sizes: Any
    axis, (array, sizes) = axis_apart(node, node.inputs)
    if isinstance(axis, Variable):
        if not isinstance(axis, Constant):
            return None
        axis = int(axis.data)
    lengths = [length_of(array, axis) for axis in range(array.type.ndim)]
    shapes = []
    for k in range(len(node.outputs)):
        size = known(entry_of_list(sizes[k]))
        lengths[axis] = cast(size, "int64")
        shapes.append(tuple(lengths))
    return shapes
