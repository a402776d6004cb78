"""Operators of Theano 1.0 whose results PyTensor computes in another way."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import AllocDiag as _PyTensorAllocDiag
from pytensor.tensor.math import Argmax
from pytensor.tensor.variable import TensorVariable

from theano.gof.op import Op
from theano.gof.stand_in import StandIn
from theano.tensor.old.shaping import tile

__all__ = [
    "AllocDiag",
    "Default",
    "DiffOp",
    "MaxAndArgmax",
    "Mean",
    "Tile",
    "Tri",
    "default",
    "setdefault",
]

# The largest element and its position are two operators here; this is the one for the position.
MaxAndArgmax = Argmax


class AllocDiag(metaclass=StandIn, made=_PyTensorAllocDiag):
    """Zeros but for a diagonal, which is the last dimension of the input.

    Parameters
    ----------
    offset : int
        How far above the main diagonal; below it, if negative.
    axis1, axis2 : int
        The dimensions of the result that the diagonal lies in.
    """

    @staticmethod
    def make(offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        if min(axis1, axis2) < 0 or axis1 == axis2:
            raise ValueError(
                f"AllocDiag: expected two dimensions that are not negative, got {axis1} and {axis2}"
            )
        first, second = sorted((axis1, axis2))
        return _PyTensorAllocDiag(axis1=first, axis2=second, offset=offset)


class Tri(Op):
    """The matrix of ones at and below a diagonal, and zeros above it.

    Parameters
    ----------
    dtype : str, optional
        The dtype of the matrix; ``theano.config.floatX`` if it is not given.
    """

    __props__ = ("dtype",)

    def __init__(self, dtype: str | None = None):
        self.dtype = dtype or pt.zeros(()).dtype

    def make_node(self, N, M, k):
        sizes = [pt.as_tensor_variable(size) for size in (N, M, k)]
        for size in sizes:
            if size.type.ndim or not str(size.dtype).startswith(("int", "uint")):
                raise TypeError(f"Tri: expected integer scalars, got {size.type}")
        return Apply(self, sizes, [pt.TensorType(self.dtype, shape=(None, None))()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.tri(*(int(size) for size in inputs), dtype=self.dtype)

    def infer_shape(self, node, input_shapes):
        return [tuple(node.inputs[:2])]

    def connection_pattern(self, node):
        return [[False], [False], [False]]

    def grad(self, inputs, output_grads):
        zeros = [size.zeros_like(dtype="float64") for size in inputs]
        return [zero.astype(output_grads[0].dtype) for zero in zeros]


class Tile:
    """Repeats a tensor along each dimension: ``Tile(ndim)(x, reps)`` is ``tile(x, reps, ndim)``."""

    def __init__(self, ndim: int):
        self.ndim = ndim

    def __call__(self, x: TensorLike, reps: object) -> TensorVariable:
        return tile(x, reps, self.ndim)


class Mean(Op):
    """The mean along one axis or of all elements, always in float64.

    Parameters
    ----------
    axis : int or sequence of one int, optional
        The axis; all elements if it is not given.
    """

    __props__ = ("axis",)

    def __init__(self, axis: int | Sequence[int] | None = None):
        axes = () if axis is None else np.atleast_1d(axis).tolist()
        if len(axes) > 1:
            raise ValueError(f"Mean: expected one axis or none, got {axis}")
        self.axis = tuple(axes) or None

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        shape = () if self.axis is None else _without(x.type.shape, self.axis[0] % x.type.ndim)
        return Apply(self, [x], [pt.TensorType("float64", shape=shape)()])

    def perform(self, node, inputs, output_storage):
        axis = None if self.axis is None else self.axis[0]
        output_storage[0][0] = np.asarray(np.mean(inputs[0], axis=axis, dtype="float64"))

    def infer_shape(self, node, input_shapes):
        (shape,) = input_shapes
        return [() if self.axis is None else _without(shape, self.axis[0] % len(shape))]

    def grad(self, inputs, output_grads):
        (x,), (output_grad,) = inputs, output_grads
        axes = tuple(range(x.ndim)) if self.axis is None else self.axis
        share = output_grad / pt.prod([x.shape[axis] for axis in axes], dtype="int64")
        dtype = x.dtype if x.dtype in pt.type.continuous_dtypes else share.dtype
        return [pt.second(x, pt.expand_dims(share, axes)).astype(dtype)]


def _without(items: Sequence, index: int) -> tuple:
    return (*items[:index], *items[index + 1 :])


class DiffOp(Op):
    """The differences of neighbours along an axis, taken `n` times."""

    __props__ = ("n", "axis")

    def __init__(self, n: int = 1, axis: int = -1):
        self.n, self.axis = n, axis
        if n == 0:
            self.view_map = {0: [0]}

    def make_node(self, x):
        x = pt.as_tensor_variable(x)
        shape = list(x.type.shape)
        if self.n:
            shape[self.axis] = None
        return Apply(self, [x], [x.type.clone(shape=shape)()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.diff(inputs[0], n=self.n, axis=self.axis)

    def infer_shape(self, node, input_shapes):
        shape = list(input_shapes[0])
        shape[self.axis] = pt.maximum(shape[self.axis] - self.n, 0)
        return [tuple(shape)]

    def grad(self, inputs, output_grads):
        (x,) = inputs
        return [pt.grad(None, x, known_grads={pt.diff(x, self.n, self.axis): output_grads[0]})]


class Default(Op):
    """Its first input, or where that is None a copy of the second.

    Both must have the same type.
    """

    __props__ = ()
    view_map = {0: [0]}
    # Which inputs may be None although their type says otherwise.
    may_be_none = (0, 1)

    def make_node(self, x, default):
        x, default = pt.as_tensor_variable(x), pt.as_tensor_variable(default)
        if x.type != default.type:
            raise TypeError(
                f"default: expected two values of one type, got {x.type}, {default.type}"
            )
        return Apply(self, [x, default], [default.type()])

    def perform(self, node, inputs, output_storage):
        x, default = inputs
        if x is None and default is None:
            raise TypeError("default: expected an array where there is no value, got None twice")
        # Of two inputs only one may be viewed, so the other is copied.
        output_storage[0][0] = default.copy() if x is None else x


default = Default()
setdefault = default
