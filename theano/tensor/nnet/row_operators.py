"""Theano's operators on the rows of a matrix: softmax, its costs, and their gradients.

Each is PyTensor's operator, or the graph of one: the engines see through it.
"""

from typing import Any

import pytensor.tensor as pt
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor import special
from pytensor.tensor.symbolic import TensorSymbolicOp
from pytensor.tensor.variable import TensorVariable

__all__ = [
    "CrossentropyCategorical1Hot",
    "CrossentropyCategorical1HotGrad",
    "CrossentropySoftmax1HotWithBiasDx",
    "CrossentropySoftmaxArgmax1HotWithBias",
    "LogSoftmax",
    "Prepend_scalar_constant_to_each_row",
    "Prepend_scalar_to_each_row",
    "Softmax",
    "SoftmaxGrad",
    "SoftmaxWithBias",
    "crossentropy_categorical_1hot_grad",
    "crossentropy_softmax_1hot_with_bias_dx",
    "logsoftmax_op",
    "prepend_0_to_each_row",
    "prepend_1_to_each_row",
    "prepend_scalar_to_each_row",
    "softmax_grad",
    "softmax_op",
]


def as_matrix_of_floats(c: Any, function: str) -> TensorVariable:
    """Make `c` a matrix, of one row if it is a vector; ValueError for anything else."""
    c = pt.as_tensor_variable(c)
    if c.ndim not in (1, 2) or not c.dtype.startswith("float"):
        raise ValueError(f"{function}: expected a vector or a matrix of floats, got {c.type}")
    return pt.shape_padleft(c) if c.ndim == 1 else c


class _PyTensorsOperator(type(special.Softmax)):  # type: ignore[misc]
    """Has `isinstance` recognise PyTensor's operators, of which graphs are made."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.__mro__[1])


class Softmax(special.Softmax, metaclass=_PyTensorsOperator):
    """Normalise the exponentials of each row to a sum of 1; a vector is one row.

    It equals the operator that it applies, PyTensor's softmax over the second dimension.
    """

    def __init__(self):
        super().__init__(axis=(1,))

    def __call__(self, c):
        return special.softmax(as_matrix_of_floats(c, "softmax"), axis=1)

    def __eq__(self, other):
        return isinstance(other, special.Softmax) and other.axis == self.axis

    def __hash__(self):
        return hash((special.Softmax, self.axis))


class LogSoftmax(special.LogSoftmax, metaclass=_PyTensorsOperator):
    """The logarithm of `Softmax`, without overflow."""

    def __init__(self):
        super().__init__(axis=(1,))

    def __call__(self, c):
        return special.log_softmax(as_matrix_of_floats(c, "logsoftmax"), axis=1)

    def __eq__(self, other):
        return isinstance(other, special.LogSoftmax) and other.axis == self.axis

    def __hash__(self):
        return hash((special.LogSoftmax, self.axis))


class SoftmaxGrad(TensorSymbolicOp):
    """The gradient of a softmax from that of a cost with respect to it, and its value."""

    __props__ = ()

    def build_inner_graph(self, dy, sm):
        return [(dy - (dy * sm).sum(axis=1, keepdims=True)) * sm]


class SoftmaxWithBias(TensorSymbolicOp):
    """The softmax of the rows of a matrix, with a vector added to each."""

    __props__ = ()

    def build_inner_graph(self, x, b):
        return [special.softmax(x + b, axis=1)]


def _elements(matrix: TensorVariable, columns: TensorVariable) -> tuple:
    """Index one element of each row."""
    not_negative = CheckAndRaise(ValueError, "expected the number of a column, got a negative one")
    return pt.arange(matrix.shape[0]), not_negative(columns, pt.ge(columns, 0).all())


class CrossentropySoftmax1HotWithBiasDx(TensorSymbolicOp):
    """The gradient of a cross-entropy from that of the cost, the softmax, and the classes."""

    __props__ = ()

    def build_inner_graph(self, dy, sm, y_idx):
        if dy.ndim > 1 or not dy.dtype.startswith("float"):
            raise TypeError(f"{self}: expected dy to be a vector of floats, got {dy.type}")
        scaled = sm * pt.shape_padright(dy) if dy.ndim else sm * dy
        return [pt.inc_subtensor(scaled[_elements(sm, y_idx)], -dy)]


class CrossentropySoftmaxArgmax1HotWithBias(TensorSymbolicOp):
    """The cross-entropies of scores with classes, the softmax, and the best classes."""

    __props__ = ()

    def build_inner_graph(self, x, b, y_idx):
        scores = x + b
        chosen = special.log_softmax(scores, axis=1)[_elements(scores, y_idx)]
        best = pt.argmax(scores, axis=1).astype(y_idx.dtype)
        return [-chosen, special.softmax(scores, axis=1), best]


class CrossentropyCategorical1Hot(TensorSymbolicOp):
    """The cross-entropy of each row of probabilities with a class number."""

    __props__ = ()

    def build_inner_graph(self, coding_dist, true_one_of_n):
        return [-pt.log(coding_dist[_elements(coding_dist, true_one_of_n)])]


class CrossentropyCategorical1HotGrad(TensorSymbolicOp):
    """The gradient of `CrossentropyCategorical1Hot` from that of a cost with respect to it."""

    __props__ = ()

    def build_inner_graph(self, g_y, coding_dist, true_one_of_n):
        chosen = _elements(coding_dist, true_one_of_n)
        return [pt.set_subtensor(pt.zeros_like(coding_dist)[chosen], -g_y / coding_dist[chosen])]


class Prepend_scalar_to_each_row(TensorSymbolicOp):  # noqa: N801 -- Theano's name
    """A matrix with a column in front of it that holds one number."""

    __props__ = ()

    def build_inner_graph(self, val, mat):
        column = pt.full((mat.shape[0], 1), val, dtype=mat.dtype)
        return [pt.concatenate([column, mat], axis=1)]


class Prepend_scalar_constant_to_each_row(TensorSymbolicOp):  # noqa: N801 -- Theano's name
    """A matrix with a column in front of it that holds a number known beforehand.

    Parameters
    ----------
    val : float
    """

    __props__ = ("val",)

    def __init__(self, val: float = 0, **kwargs: Any):
        super().__init__(val=float(val), **kwargs)

    def build_inner_graph(self, mat):
        return Prepend_scalar_to_each_row().build_inner_graph(self.val, mat)


softmax_op = Softmax()
logsoftmax_op = LogSoftmax()
softmax_grad = SoftmaxGrad()
crossentropy_softmax_1hot_with_bias_dx = CrossentropySoftmax1HotWithBiasDx()
crossentropy_categorical_1hot_grad = CrossentropyCategorical1HotGrad()
prepend_scalar_to_each_row = Prepend_scalar_to_each_row()
prepend_0_to_each_row = Prepend_scalar_constant_to_each_row(0.0)
prepend_1_to_each_row = Prepend_scalar_constant_to_each_row(1.0)
