"""The rank-one update of a matrix: A + alpha * outer(x, y)."""

from __future__ import annotations

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.type import DenseTensorType

DTYPES = ("float32", "float64", "complex64", "complex128")


class Ger(Op):
    """A matrix plus a multiple of the outer product of two vectors.

    Parameters
    ----------
    destructive : bool
        Whether the matrix is overwritten.
    """

    __props__ = ("destructive",)

    def __init__(self, destructive: bool):
        self.destructive = destructive
        if destructive:
            self.destroy_map = {0: [0]}

    def __str__(self):
        return f"Ger{{{'' if self.destructive else 'non-'}destructive}}"

    def make_node(self, A, alpha, x, y):
        """Check operands: a matrix, a number and two vectors of one dtype."""
        inputs = [as_tensor_variable(value) for value in (A, alpha, x, y)]
        dtypes = {value.dtype for value in inputs}
        if len(dtypes) > 1 or inputs[0].dtype not in DTYPES:
            raise TypeError(f"ger: expected one dtype of {', '.join(DTYPES)}, got {dtypes}")
        for name, value, ndim in zip("A alpha x y".split(), inputs, (2, 0, 1, 1), strict=True):
            if value.ndim != ndim:
                raise TypeError(f"ger: {name} must have {ndim} dimensions, got {value.type}")
            if not isinstance(value.type, DenseTensorType):
                raise NotImplementedError(f"ger: only dense tensors, got {value.type} for {name}")
        return Apply(self, inputs, [inputs[0].type()])

    def perform(self, node, inputs, output_storage):
        A, alpha, x, y = inputs
        if not self.destructive:
            A = A.copy()
        A += alpha * np.outer(x, y)
        output_storage[0][0] = A

    def infer_shape(self, node, input_shapes):
        return [input_shapes[0]]


ger = Ger(destructive=False)
ger_destructive = Ger(destructive=True)
