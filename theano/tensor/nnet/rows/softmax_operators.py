"""Softmax of rows, its logarithm, and their gradients, as Theano's operators."""

from pytensor.tensor import special

from theano.tensor.nnet.rows.row_operator import RowOperator, as_matrix_of_floats

__all__ = [
    "LogSoftmax",
    "Softmax",
    "SoftmaxGrad",
    "SoftmaxWithBias",
    "logsoftmax_op",
    "softmax_grad",
    "softmax_op",
    "softmax_with_bias",
]


class _PyTensorsOperator(type(special.Softmax)):  # type: ignore[misc]
    """Has `isinstance` recognise PyTensor's operators, of which graphs are made."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.__mro__[1])


class SoftmaxGrad(RowOperator):
    """The gradient of a softmax from that of a cost with respect to it, and its value.

    Parameters
    ----------
    axis : tuple of int
        The dimensions over which the softmax is normalised.
    """

    __props__ = ("axis",)
    works_along_axis = True

    def __init__(self, input_types: object = None, axis: tuple[int, ...] = (1,), **kwargs: object):
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

    def __init__(self, *, axis: tuple[int, ...] = (1,), **kwargs: object):
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


softmax_op = Softmax()
logsoftmax_op = LogSoftmax()
softmax_grad = SoftmaxGrad()
softmax_with_bias = SoftmaxWithBias()
