"""The operation that solves a system of equations: where there is no solution it is NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.tensor import TensorLike
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.linalg import Solve, solve
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.graph import properties_of


class SolveOrNaN(Solve):
    """The solution of a system, or NaN in its shape.

    PyTensor's operation gives NaN in the shape of the matrix, which fails where a vector is read,
    and may do so before anybody asks whether there is a solution.
    """

    def perform(self, node, inputs, outputs):
        shape = inputs[1].shape
        super().perform(node, inputs, outputs)
        if outputs[0][0].shape != shape:
            outputs[0][0] = np.full(shape, np.nan, dtype=node.outputs[0].type.dtype)


def solution_or_nan(a: TensorLike, b: TensorLike, **options: Any) -> TensorVariable:
    """Return what PyTensor's ``solve`` gives, by the operation of this module."""
    solution: TensorVariable = solve(a, b, **options)
    node = solution.owner
    if node is None or not isinstance(node.op, Blockwise) or type(node.op.core_op) is not Solve:
        # of a triangular or diagonal matrix
        return solution
    return known_tensor(Blockwise(SolveOrNaN(**properties_of(node.op.core_op)))(*node.inputs))
