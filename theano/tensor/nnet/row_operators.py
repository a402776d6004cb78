"""Theano's operators on the rows of a matrix: softmax, its costs, and their gradients.

Each is PyTensor's operator, or a graph of them: the engines see through it.
"""

import inspect
from typing import Any

import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor import special
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_base.tensor import TensorSymbolicOp

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
    "crossentropy_categorical_1hot",
    "crossentropy_categorical_1hot_grad",
    "crossentropy_softmax_1hot_with_bias_dx",
    "crossentropy_softmax_argmax_1hot_with_bias",
    "logsoftmax_op",
    "prepend_0_to_each_row",
    "prepend_1_to_each_row",
    "prepend_scalar_to_each_row",
    "softmax_grad",
    "softmax_op",
    "softmax_with_bias",
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


# What an operator computes on its own runs node by node, without a compiler.
_NODE_BY_NODE = Mode(linker="py", optimizer=None)


class RowOperator(TensorSymbolicOp):
    """An operator on the rows of matrices, defined by a graph.

    Two of the same class and properties are equal, for whatever types they are applied to.
    """

    # No row of a result depends on another row of an operand.
    each_row_alone = True
    # for each result the operand that has its shape, and how many dimensions of it; where it
    # is not given, PyTensor works out shapes from the graph
    shapes_like: tuple[tuple[int, int], ...] = ()

    def __init__(self, input_types: Any = None, **kwargs: Any):
        kwargs.setdefault("mode", _NODE_BY_NODE)
        super().__init__(input_types, **kwargs)

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        names = list(inspect.signature(self.build_inner_graph).parameters)[len(inputs) :]
        by_name = [kwargs.pop(name) for name in names if name in kwargs]
        return super().__call__(*inputs, *by_name, **kwargs)

    def _identity(self) -> tuple:
        return type(self), *(getattr(self, name) for name in getattr(self, "__props__", ()))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # PyTensor gives a class with properties a comparison of the graphs.
        for method in ("__eq__", "__hash__", "__str__"):
            setattr(cls, method, getattr(RowOperator, method))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowOperator) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __str__(self) -> str:
        return type(self).__name__

    def infer_shape(self, fgraph, node, shapes):
        """Return the shapes of the results, from those of the operands."""
        if not self.shapes_like:
            return super().infer_shape(fgraph, node, shapes)
        return [shapes[operand][:ndim] for operand, ndim in self.shapes_like]


class SoftmaxGrad(RowOperator):
    """The gradient of a softmax from that of a cost with respect to it, and its value.

    Parameters
    ----------
    axis : tuple of int
        The dimensions over which the softmax is normalised.
    """

    __props__ = ("axis",)

    def __init__(self, input_types: Any = None, axis: tuple[int, ...] = (1,), **kwargs: Any):
        super().__init__(input_types, axis=tuple(axis), **kwargs)

    def build_inner_graph(self, dy, sm):
        return [(dy - (dy * sm).sum(axis=self.axis, keepdims=True)) * sm]


class Softmax(special.Softmax, metaclass=_PyTensorsOperator):
    """Normalise the exponentials of each row to a sum of 1; a vector is one row.

    It equals PyTensor's softmax over the same dimensions.

    Parameters
    ----------
    axis : tuple of int
    """

    def __init__(self, *, axis: tuple[int, ...] = (1,), **kwargs: Any):
        super().__init__(axis=axis, **kwargs)

    def __call__(self, c, **kwargs):
        if self.axis == (1,):
            c = as_matrix_of_floats(c, "softmax")
        return super().__call__(c, **kwargs)

    def pullback(self, inputs, outputs, output_grads):
        """Return the gradient as one operator, which rewrites recognise."""
        return [SoftmaxGrad(axis=self.axis)(output_grads[0], outputs[0])]

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


class SoftmaxWithBias(RowOperator):
    """The softmax of the rows of a matrix, with a vector added to each."""

    shapes_like = ((0, 2),)

    def build_inner_graph(self, x, b):
        return [special.softmax(x + b, axis=1)]

    def pullback(self, inputs, outputs, output_grads):
        """Return the gradients of the matrix and of the vector."""
        slope = softmax_grad(output_grads[0], outputs[0])
        return [slope, slope.sum(axis=0)]


def _elements(matrix: TensorVariable, columns: TensorVariable) -> tuple:
    """Index one element of each row."""
    not_negative = CheckAndRaise(ValueError, "expected the number of a column, got a negative one")
    as_many = CheckAndRaise(ValueError, "expected the number of a column for each row")
    length = matrix.shape[0] if matrix.type.shape[0] is None else matrix.type.shape[0]
    columns = as_many(columns, pt.eq(columns.shape[0], length))
    return pt.arange(length), not_negative(columns, pt.ge(columns, 0).all())


class CrossentropySoftmax1HotWithBiasDx(RowOperator):
    """The gradient of a cross-entropy from that of the cost, the softmax, and the classes."""

    shapes_like = ((1, 2),)

    def build_inner_graph(self, dy, sm, y_idx):
        if dy.ndim > 1 or not dy.dtype.startswith("float"):
            raise TypeError(f"{self}: expected dy to be a vector of floats, got {dy.type}")
        scaled = sm * pt.shape_padright(dy) if dy.ndim else sm * dy
        return [pt.inc_subtensor(scaled[_elements(sm, y_idx)], -dy)]


class CrossentropySoftmaxArgmax1HotWithBias(RowOperator):
    """The cross-entropies of scores with classes, the softmax, and the best classes."""

    shapes_like = ((0, 1), (0, 2), (0, 1))

    def build_inner_graph(self, x, b, y_idx):
        scores = x + b
        centred = scores - scores.max(axis=1, keepdims=True)
        weights = pt.exp(centred)
        total = weights.sum(axis=1, keepdims=True)
        # The logarithm is of one number for each row.
        cost = pt.log(total[:, 0]) - centred[_elements(centred, y_idx)]
        best = pt.argmax(scores, axis=1).astype(y_idx.dtype)
        return [cost, weights / total, best]

    def pullback(self, inputs, outputs, output_grads):
        """Return the gradients of the scores and the bias; classes have none."""
        of_cost, of_softmax, _ = output_grads
        softmax = outputs[1]
        slope = pt.zeros_like(softmax)
        if not isinstance(of_cost.type, DisconnectedType):
            slope += crossentropy_softmax_1hot_with_bias_dx(of_cost, softmax, inputs[2])
        if not isinstance(of_softmax.type, DisconnectedType):
            slope += softmax_grad(of_softmax, softmax)
        return [slope, slope.sum(axis=0), disconnected_type()]


class CrossentropyCategorical1Hot(RowOperator):
    """The cross-entropy of each row of probabilities with a class number."""

    shapes_like = ((0, 1),)

    @staticmethod
    def filter_inputs(coding_dist, true_one_of_n):
        """Make both variables; TypeError for all but a matrix and a vector of integers."""
        coding_dist = pt.as_tensor_variable(coding_dist)
        classes = pt.as_tensor_variable(true_one_of_n)
        if coding_dist.ndim != 2 or classes.ndim != 1 or "int" not in classes.dtype:
            raise TypeError(
                "crossentropy_categorical_1hot: expected a matrix of probabilities and a vector "
                f"of integers, got {coding_dist.type} and {classes.type}"
            )
        return coding_dist, classes

    def build_inner_graph(self, coding_dist, true_one_of_n):
        # The choice comes before the logarithm: probabilities of 0 elsewhere do not matter.
        return [-pt.log(coding_dist[_elements(coding_dist, true_one_of_n)])]

    def pullback(self, inputs, outputs, output_grads):
        """Return the gradient of the probabilities; classes have none."""
        coding_dist, classes = inputs
        slope = crossentropy_categorical_1hot_grad(output_grads[0], coding_dist, classes)
        return [slope, disconnected_type()]


class CrossentropyCategorical1HotGrad(RowOperator):
    """The gradient of `CrossentropyCategorical1Hot` from that of a cost with respect to it."""

    shapes_like = ((1, 2),)

    def build_inner_graph(self, g_y, coding_dist, true_one_of_n):
        chosen = _elements(coding_dist, true_one_of_n)
        return [pt.set_subtensor(pt.zeros_like(coding_dist)[chosen], -g_y / coding_dist[chosen])]


class Prepend_scalar_to_each_row(RowOperator):  # noqa: N801 -- Theano's name
    """A matrix with a column in front of it that holds one number."""

    def build_inner_graph(self, val, mat):
        column = pt.full((mat.shape[0], 1), val, dtype=mat.dtype)
        return [pt.concatenate([column, mat], axis=1)]


class Prepend_scalar_constant_to_each_row(RowOperator):  # noqa: N801 -- Theano's name
    """A matrix with a column in front of it that holds a number known beforehand.

    Parameters
    ----------
    val : float
    """

    __props__ = ("val",)

    def __init__(self, val: float = 0, input_types: Any = None, **kwargs: Any):
        super().__init__(input_types, val=float(val), **kwargs)

    def build_inner_graph(self, mat):
        return Prepend_scalar_to_each_row().build_inner_graph(self.val, mat)


softmax_op = Softmax()
logsoftmax_op = LogSoftmax()
softmax_grad = SoftmaxGrad()
softmax_with_bias = SoftmaxWithBias()
crossentropy_softmax_argmax_1hot_with_bias = CrossentropySoftmaxArgmax1HotWithBias()
crossentropy_categorical_1hot = CrossentropyCategorical1Hot()
crossentropy_softmax_1hot_with_bias_dx = CrossentropySoftmax1HotWithBiasDx()
crossentropy_categorical_1hot_grad = CrossentropyCategorical1HotGrad()
prepend_scalar_to_each_row = Prepend_scalar_to_each_row()
prepend_0_to_each_row = Prepend_scalar_constant_to_each_row(0.0)
prepend_1_to_each_row = Prepend_scalar_constant_to_each_row(1.0)
