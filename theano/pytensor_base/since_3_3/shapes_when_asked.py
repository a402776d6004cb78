"""PyTensor's shapes of a graph, which it works out when they are asked for."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar, tensor_from_scalar
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.rewriting.shape import ShapeFeature
from pytensor.tensor.shape import Shape
from pytensor.tensor.subtensor import Subtensor, get_idx_list
from pytensor.tensor.type import TensorType


class ShapesWhenAsked(ShapeFeature):
    """PyTensor's shapes of a graph, without comparing the lengths of element-wise operands.

    They have one shape, or computing fails and says so. PyTensor compares their lengths once more
    where only the shape is asked for. A length that is read from a shape, as in a loop's buffer,
    is the length that is known of it.
    """

    def lengths_of(self, variable: Variable) -> tuple[Variable, ...] | None:
        """The lengths of a variable along its axes; None where it is no array."""
        return self.shape_tuple(variable)

    def _compute_node_shapes(self, node: Apply, recursive: bool) -> Any:
        # the one place where an operator is asked
        shapes = super()._compute_node_shapes(node, recursive)
        if isinstance(node.op, Elemwise):
            shapes = tuple(tuple(map(_without_check, shape)) for shape in shapes)
        if not recursive:
            return shapes
        return tuple(
            None if shape is None else tuple(self._known(length, node) for length in shape)
            for shape in shapes
        )

    def _known(self, length: Variable, node: Apply) -> Variable:
        read = _read_from_shape(length)
        if read is None or read[0].owner is node:
            return length
        return self.get_shape(*read)


def _without_check(length: Variable) -> Variable:
    inside = length
    while inside.owner is not None and isinstance(
        inside.owner.op, CheckAndRaise | ScalarFromTensor | TensorFromScalar
    ):
        inside = inside.owner.inputs[0]
    return inside if isinstance(inside.type, TensorType) else tensor_from_scalar(inside)


def _read_from_shape(length: Variable) -> tuple[Variable, int] | None:
    """Whose length it is, and along which axis, where it is written ``x.shape[i]``."""
    node = length.owner
    if node is None or not isinstance(node.op, Subtensor):
        return None
    shape = node.inputs[0].owner
    if shape is None or not isinstance(shape.op, Shape):
        return None
    (axis,) = get_idx_list(node.inputs, node.op.idx_list)
    if not isinstance(axis, Constant):
        return None
    [array] = shape.inputs
    return array, int(axis.data) % array.type.ndim
