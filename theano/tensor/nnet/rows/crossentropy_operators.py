"""Cross-entropies of rows with classes, and their gradients, as Theano's operators."""

import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.tensor.nnet.rows.row_operator import RowOperator
from theano.tensor.nnet.rows.softmax_operators import softmax_grad

__all__ = [
    "CrossentropyCategorical1Hot",
    "CrossentropyCategorical1HotGrad",
    "CrossentropySoftmax1HotWithBiasDx",
    "CrossentropySoftmaxArgmax1HotWithBias",
    "crossentropy_categorical_1hot",
    "crossentropy_categorical_1hot_grad",
    "crossentropy_softmax_1hot_with_bias_dx",
    "crossentropy_softmax_argmax_1hot_with_bias",
]


def _elements(matrix: TensorVariable, columns: TensorVariable) -> tuple:
    """Index one element of each row."""
    not_negative = CheckAndRaise(
        ValueError, "expected class numbers of 0 or more, got a negative one"
    )
    as_many = CheckAndRaise(ValueError, "expected as many class numbers as rows of scores")
    length = matrix.shape[0] if matrix.type.shape[0] is None else matrix.type.shape[0]
    columns = known_tensor(as_many(columns, pt.eq(columns.shape[0], length)))
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
        highest = scores.max(axis=1, keepdims=True)
        weights = pt.exp(scores - highest)
        total = weights.sum(axis=1, keepdims=True)
        # The logarithm, and what it is compared with, are one number for each row.
        chosen = _elements(x, y_idx)
        cost = pt.log(total[:, 0]) - (x[chosen] + b[chosen[1]] - highest[:, 0])
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


crossentropy_softmax_argmax_1hot_with_bias = CrossentropySoftmaxArgmax1HotWithBias()
crossentropy_categorical_1hot = CrossentropyCategorical1Hot()
crossentropy_softmax_1hot_with_bias_dx = CrossentropySoftmax1HotWithBiasDx()
crossentropy_categorical_1hot_grad = CrossentropyCategorical1HotGrad()
