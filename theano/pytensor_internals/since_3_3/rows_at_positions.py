"""Reading and changing the rows of a tensor at given positions: x[positions]."""

from __future__ import annotations

import numpy as np
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.subtensor import AdvancedIncSubtensor
from pytensor.tensor.type import TensorType, integer_dtypes


def _checked_positions(operator: Op, x, positions):
    """Return the tensor and the positions as variables."""
    x, positions = as_tensor_variable(x), as_tensor_variable(positions)
    if positions.type.dtype not in integer_dtypes:
        raise TypeError(f"{operator}: index must be integers, got {positions.type}")
    if positions.type.ndim != 1:
        raise TypeError(f"{operator}: index must be vector, got {positions.type}")
    if x.type.ndim == 0:
        raise TypeError(f"{operator}: cannot index into a scalar")
    return x, positions


class AdvancedSubtensor1(Op):
    """The rows ``x[positions]`` of a tensor, for a vector of integers.

    Parameters
    ----------
    sparse_grad : bool
        Whether the gradient of a matrix is a sparse matrix.
    """

    __props__ = ()
    idx_list = (0,)

    def __init__(self, sparse_grad: bool = False):
        self.sparse_grad = sparse_grad

    def make_node(self, x, positions):
        x, positions = _checked_positions(self, x, positions)
        shape = (positions.type.shape[0], *x.type.shape[1:])
        return Apply(self, [x, positions], [TensorType(x.dtype, shape=shape)()])

    def perform(self, node, inputs, output_storage):
        x, positions = inputs
        output_storage[0][0] = x.take(positions, axis=0)

    def infer_shape(self, node, input_shapes):
        x, positions = input_shapes
        return [(positions[0], *x[1:])]

    def connection_pattern(self, node):
        return [[True], [False]]

    def pullback(self, inputs, outputs, cotangents):
        x, positions = inputs
        (rows,) = cotangents
        if self.sparse_grad:
            if x.type.ndim != 2:
                raise TypeError(
                    "AdvancedSubtensor1: the sparse gradient is one of a matrix, "
                    f"not of {x.type.ndim} dimensions"
                )
            from pytensor.sparse.basic import construct_sparse_from_list

            return [construct_sparse_from_list(x, rows, positions), disconnected_type()]
        return [
            AdvancedIncSubtensor1()(x.zeros_like(dtype=rows.dtype), rows, positions),
            disconnected_type(),
        ]

    def pushforward(self, inputs, outputs, tangents):
        if isinstance(tangents[0].type, DisconnectedType):
            return [disconnected_type()]
        return self.make_node(tangents[0], inputs[1]).outputs


class RowsRepeated(AdvancedIncSubtensor):
    """PyTensor's operator, by which one row may be set at, or added to, several positions.

    PyTensor refuses it where the type does not say that it is one row.
    """

    def _check_runtime_broadcast_of_vector_index(self, node, x, y, positions) -> None:
        """NumPy repeats the row."""


def with_rows_repeated(changed):
    """Return an array of which elements were set or increased, by an operator that repeats a row."""
    op = getattr(changed.owner, "op", None)
    if type(op) is not AdvancedIncSubtensor:
        return changed
    return RowsRepeated(**{name: getattr(op, name) for name in op.__props__})(*changed.owner.inputs)


class AdvancedIncSubtensor1(Op):
    """A tensor of which rows at given positions are set, or increased once for each mention.

    Parameters
    ----------
    inplace : bool
        Whether the tensor is overwritten.
    set_instead_of_inc : bool
        Whether the rows are set.
    """

    __props__ = ("inplace", "set_instead_of_inc")
    idx_list = (0,)

    def __init__(self, inplace: bool = False, set_instead_of_inc: bool = False):
        self.inplace = bool(inplace)
        self.set_instead_of_inc = bool(set_instead_of_inc)
        if inplace:
            self.destroy_map = {0: [0]}

    def make_node(self, x, y, positions):
        x, positions = _checked_positions(self, x, positions)
        y = as_tensor_variable(y)
        if y.type.ndim > x.type.ndim:
            raise TypeError(f"{self}: {y.type} has more dimensions than {x.type}")
        return Apply(self, [x, y, positions], [x.type()])

    def _check_runtime_broadcasting(self, node, x, y, positions) -> None:
        changed = (len(positions), *x.shape[1:])
        known = node.inputs[1].type.broadcastable
        lengths = zip(known[::-1], y.shape[::-1], changed[::-1], strict=False)
        if any(not one and length == 1 != wanted for one, length, wanted in lengths):
            raise ValueError(
                f"{self}: Runtime broadcasting not allowed: rows of shape {y.shape} for those of "
                f"shape {changed}, and {node.inputs[1].type} does not say that a length is 1"
            )

    def perform(self, node, inputs, output_storage):
        x, y, positions = inputs
        self._check_runtime_broadcasting(node, x, y, positions)
        if not self.inplace:
            x = x.copy()
        if self.set_instead_of_inc:
            x[positions] = y
        else:
            np.add.at(x, positions, y)
        output_storage[0][0] = x

    def infer_shape(self, node, input_shapes):
        return [input_shapes[0]]

    def connection_pattern(self, node):
        return [[True], [True], [False]]

    def pullback(self, inputs, outputs, cotangents):
        _x, y, positions = inputs
        (whole,) = cotangents
        rows = AdvancedSubtensor1()(whole, positions)
        if self.set_instead_of_inc:
            whole = AdvancedIncSubtensor1(set_instead_of_inc=True)(
                whole, y.zeros_like(dtype=whole.dtype), positions
            )
        return [whole, _summed_to(rows, y), disconnected_type()]

    def pushforward(self, inputs, outputs, tangents):
        if any(isinstance(tangent.type, DisconnectedType) for tangent in tangents[:2]):
            return [disconnected_type()]
        return self.make_node(*tangents[:2], inputs[2]).outputs


def _summed_to(rows, y):
    """Rows summed over the dimensions along which `y` was repeated."""
    more = rows.type.ndim - y.type.ndim
    repeated = [d for d in range(y.type.ndim) if y.type.broadcastable[d]]
    rows = rows.sum(axis=tuple(range(more))) if more else rows
    return rows.sum(axis=tuple(repeated), keepdims=True) if repeated else rows
