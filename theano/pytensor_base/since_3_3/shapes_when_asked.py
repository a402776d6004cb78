"""PyTensor's shapes of a graph, which it works out when they are asked for."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.rewriting.shape import ShapeFeature


class ShapesWhenAsked(ShapeFeature):
    """PyTensor's shapes of a graph, without comparing the lengths of element-wise operands.

    They have one shape, or computing fails and says so. PyTensor compares their lengths once more
    where only the shape is asked for.
    """

    def lengths_of(self, variable: Variable) -> tuple[Variable, ...] | None:
        """The lengths of a variable along its axes; None where it is no array."""
        return self.shape_tuple(variable)

    def _compute_node_shapes(self, node: Apply, recursive: bool) -> Any:
        # the one place where an operator is asked
        shapes = super()._compute_node_shapes(node, recursive)
        if not isinstance(node.op, Elemwise):
            return shapes
        return tuple(tuple(map(_without_check, shape)) for shape in shapes)


def _without_check(length: Variable) -> Variable:
    checked = length.owner is not None and isinstance(length.owner.op, CheckAndRaise)
    return length.owner.inputs[0] if checked else length
