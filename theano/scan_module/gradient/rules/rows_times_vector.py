"""The gradient of rows of more than two dimensions, each multiplied by the same vector."""

from __future__ import annotations

from collections.abc import Sequence

import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import Op
from pytensor.tensor.basic import MakeVector
from pytensor.tensor.shape import Reshape, Shape
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.annotations import only_result


class RowsTimesVector(Op):
    """A product of a tensor, as a matrix of its rows, and a vector: to be differentiated only.

    PyTensor makes the matrix by a reshape, and so the gradient by the tensor is an outer product
    that is reshaped. Nobody can see through a reshape to lengths that the step is given, so the
    outer product is stored. Here it is one number a row times the vector, broadcast, and thus a
    part of the element-wise work that reads it.
    """

    __props__ = ("type",)

    def __init__(self, type: TensorType):
        self.type = type

    def make_node(self, tensor, vector, lengths):
        """Make a node; the vector may be a column; `lengths` are those of the matrix."""
        return Apply(self, [tensor, vector, lengths], [self.type()])

    def perform(self, node, inputs, output_storage):
        raise AssertionError("it stands for a product while its gradient is taken")

    def connection_pattern(self, node):
        return [[True], [True], [False]]

    def pullback(self, inputs, outputs, cotangents):
        tensor, vector, lengths = inputs
        (cotangent,) = cotangents
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type() for _ in inputs]
        one_a_row = cotangent.reshape(tensor.shape[:-1], ndim=tensor.ndim - 1)
        matrix = pt.reshape(tensor, lengths, ndim=2)
        numbers = vector if vector.ndim == 1 else vector.dimshuffle(0)
        return [
            pt.shape_padright(one_a_row) * numbers,
            pt.dot(matrix.T, cotangent),
            disconnected_type(),
        ]


def rows_times_vector(product: Apply, operands: Sequence[Variable]) -> Variable | None:
    """Return what a product with a vector is to be differentiated as; None if it is no such product."""
    matrix, vector = operands
    [result] = product.outputs
    if vector.type.ndim == 2 and vector.type.shape[1] != 1:
        return None
    if matrix.owner is None or not isinstance(matrix.owner.op, Reshape):
        return None
    tensor, lengths = matrix.owner.inputs
    if len({tensor.type.dtype, vector.type.dtype, result.type.dtype}) > 1:
        return None
    if tensor.type.ndim < 3 or not _keeps_rows(tensor, lengths):
        return None
    return only_result(RowsTimesVector(result.type)(tensor, vector, lengths))


def _keeps_rows(tensor: Variable, lengths: Variable) -> bool:
    """Return whether the last of the lengths that a tensor is reshaped to is that of its rows."""
    if lengths.owner is None or not isinstance(lengths.owner.op, MakeVector):
        return False
    last, known = lengths.owner.inputs[-1], tensor.type.shape[-1]
    if isinstance(last, Constant):
        return known is not None and int(last.data) == known
    if last.owner is None or not isinstance(last.owner.op, Subtensor):
        return False
    shape, *index = last.owner.inputs
    of_tensor = shape.owner is not None and isinstance(shape.owner.op, Shape)
    if not of_tensor or shape.owner.inputs[0] is not tensor or len(index) != 1:
        return False
    axis = index[0].data if isinstance(index[0], Constant) else None
    return axis is not None and int(axis) in (tensor.type.ndim - 1, -1)
