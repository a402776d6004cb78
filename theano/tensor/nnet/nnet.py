"""Activations and losses of neural networks, with Theano 1.0's conventions."""
# ruff: noqa: F401 -- operators are here, too, in Theano

from typing import Any

import pytensor.tensor as pt
from pytensor.tensor import TensorLike, special
from pytensor.tensor.variable import TensorVariable

from theano.tensor.linear_algebra.batched import batched_dot
from theano.tensor.nnet.rows.crossentropy_operators import (
    CrossentropyCategorical1Hot,
    CrossentropyCategorical1HotGrad,
    CrossentropySoftmax1HotWithBiasDx,
    CrossentropySoftmaxArgmax1HotWithBias,
    crossentropy_categorical_1hot,
    crossentropy_categorical_1hot_grad,
    crossentropy_softmax_1hot_with_bias_dx,
    crossentropy_softmax_argmax_1hot_with_bias,
)
from theano.tensor.nnet.rows.prepended_columns import (
    Prepend_scalar_constant_to_each_row,
    Prepend_scalar_to_each_row,
    prepend_0_to_each_row,
    prepend_1_to_each_row,
    prepend_scalar_to_each_row,
)
from theano.tensor.nnet.rows.row_operator import as_matrix_of_floats
from theano.tensor.nnet.rows.softmax_operators import (
    LogSoftmax,
    Softmax,
    SoftmaxGrad,
    SoftmaxWithBias,
    logsoftmax_op,
    softmax_grad,
    softmax_op,
    softmax_with_bias,
)
from theano.tensor.nnet.sigm import as_float, sigmoid, softplus

__all__ = [
    "binary_crossentropy",
    "categorical_crossentropy",
    "confusion_matrix",
    "crossentropy_softmax_1hot",
    "crossentropy_softmax_1hot_with_bias",
    "crossentropy_softmax_max_and_argmax_1hot",
    "crossentropy_softmax_max_and_argmax_1hot_with_bias",
    "elu",
    "h_softmax",
    "logsoftmax",
    "relu",
    "selu",
    "sigmoid",
    "sigmoid_binary_crossentropy",
    "softmax",
    "softmax_graph",
    "softplus",
    "softsign",
]


def softmax(c: TensorLike) -> TensorVariable:
    """Normalise the exponentials of each row to a sum of 1.

    Parameters
    ----------
    c : float matrix of shape (N, K), or float vector of shape (K,)

    Returns
    -------
    matrix of shape (N, K)
        Of shape (1, K) for a vector, as Theano has it.

    Raises
    ------
    ValueError
        `c` is neither a matrix nor a vector, or its dtype is not a float.

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.nnet.softmax(T.constant([0.0, 0.0])).eval().tolist()
    [[0.5, 0.5]]
    """
    return softmax_op(c)


def logsoftmax(c: TensorLike) -> TensorVariable:
    """Return the logarithm of `softmax`, computed without overflow: the same arguments."""
    return special.log_softmax(as_matrix_of_floats(c, "logsoftmax"), axis=-1)


def softmax_graph(c: TensorLike) -> TensorVariable:
    """Return `softmax` of a matrix: in Theano, the same from simpler operators."""
    return softmax(c)


def relu(x: Any, alpha: Any = 0) -> TensorVariable:
    """Return `x` where it is positive, and `alpha` times it elsewhere.

    Parameters
    ----------
    x : tensor
    alpha : scalar or tensor
        The slope for negative values.

    Returns
    -------
    TensorVariable
        Its derivative at 0 is the mean of the two slopes, as in Theano. Of an array, with a slope of
        0, an array.
    """
    if isinstance(alpha, int | float) and alpha == 0:
        return 0.5 * (x + abs(x))
    x, alpha = pt.as_tensor_variable(x), pt.as_tensor_variable(alpha)
    return 0.5 * (1 + alpha) * x + 0.5 * (1 - alpha) * abs(x)


def elu(x: TensorLike, alpha: TensorLike = 1) -> TensorVariable:
    """Return `x` where it is positive, and ``alpha * (exp(x) - 1)`` elsewhere."""
    x = pt.as_tensor_variable(x)
    # The minimum keeps the branch that is not taken, and its derivative, finite.
    return pt.switch(x > 0, x, alpha * pt.expm1(pt.minimum(x, 0)))


def selu(x: TensorLike) -> TensorVariable:
    """Return the scaled `elu` that keeps the mean at 0 and the variance at 1."""
    x = as_float(x)
    scale, alpha = (pt.constant(n, dtype=x.dtype) for n in (1.0507009873554805, 1.6732632423543772))
    return scale * elu(x, alpha)


def softsign(x: TensorLike) -> TensorVariable:
    """Return ``x / (1 + abs(x))``."""
    x = pt.as_tensor_variable(x)
    return x / (1 + abs(x))


def binary_crossentropy(output: Any, target: Any) -> TensorVariable:
    """Return the cross-entropy of each predicted probability with its target.

    Parameters
    ----------
    output : tensor
        Probabilities, between 0 and 1.
    target : tensor
        What they should be, of the same shape.

    Returns
    -------
    TensorVariable
        ``-(target * log(output) + (1 - target) * log(1 - output))``.
    """
    output = pt.as_tensor_variable(output)
    return -(target * pt.log(output) + (1.0 - target) * pt.log(1.0 - output))


def sigmoid_binary_crossentropy(output: Any, target: Any) -> TensorVariable:
    """Return `binary_crossentropy` of ``sigmoid(output)``, accurate for large values too."""
    output = pt.as_tensor_variable(output)
    return target * softplus(-output) + (1 - target) * softplus(output)


def categorical_crossentropy(coding_dist: Any, true_dist: Any) -> TensorVariable:
    """Return the cross-entropy of each predicted distribution with the true one.

    Parameters
    ----------
    coding_dist : tensor of shape (..., K)
        Predicted probabilities, along the last dimension.
    true_dist : tensor of shape (..., K), or integer tensor of shape (...)
        The true probabilities, or the number of the true class.

    Returns
    -------
    tensor of shape (...)

    Raises
    ------
    TypeError
        `true_dist` has neither as many dimensions as `coding_dist` nor one less, or is not
        made of integers in the second case.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> p = T.constant([[0.5, 0.5], [0.25, 0.75]])
    >>> cost = T.nnet.categorical_crossentropy(p, T.constant([0, 0])).eval()
    >>> bool(numpy.allclose(cost, [numpy.log(2), numpy.log(4)]))
    True
    """
    coding_dist = pt.as_tensor_variable(coding_dist)
    true_dist = pt.as_tensor_variable(true_dist)
    if true_dist.ndim == coding_dist.ndim:
        return -pt.sum(true_dist * pt.log(coding_dist), axis=coding_dist.ndim - 1)
    if true_dist.ndim == coding_dist.ndim - 1:
        return crossentropy_categorical_1hot(coding_dist, true_dist)
    raise TypeError(
        "categorical_crossentropy: expected true_dist to have as many dimensions as "
        f"coding_dist or one less, got {true_dist.type} for {coding_dist.type}"
    )


def crossentropy_softmax_1hot_with_bias(
    x: TensorLike, b: TensorLike, y_idx: object, **kwargs: object
):
    """Return ``(cost, probabilities)`` for the scores ``x + b`` and the classes `y_idx`.

    Parameters
    ----------
    x : float matrix of shape (N, K)
    b : float vector of shape (K,)
    y_idx : integer vector of shape (N,)

    Returns
    -------
    tuple of a vector of shape (N,) and a matrix of shape (N, K)
    """
    return crossentropy_softmax_argmax_1hot_with_bias(x, b, y_idx, **kwargs)[:2]


def crossentropy_softmax_1hot(x: TensorLike, y_idx: object):
    """Return ``(cost, probabilities)`` for the scores `x` and the classes `y_idx`."""
    scores = as_matrix_of_floats(x, "crossentropy_softmax_1hot")
    return crossentropy_softmax_1hot_with_bias(scores, pt.zeros_like(scores[0]), y_idx)


def crossentropy_softmax_max_and_argmax_1hot_with_bias(x: TensorLike, b: TensorLike, y_idx: object):
    """Return ``(cost, probabilities, greatest one, its class)`` for the scores ``x + b``."""
    cost, probabilities = crossentropy_softmax_1hot_with_bias(x, b, y_idx)
    return cost, probabilities, pt.max(probabilities, axis=-1), pt.argmax(probabilities, axis=-1)


def crossentropy_softmax_max_and_argmax_1hot(x: TensorLike, y_idx: object):
    """Return ``(cost, probabilities, greatest one, its class)`` for the scores `x`."""
    cost, probabilities = crossentropy_softmax_1hot(x, y_idx)
    return cost, probabilities, pt.max(probabilities, axis=-1), pt.argmax(probabilities, axis=-1)


def confusion_matrix(actual: Any, pred: Any) -> list[TensorVariable]:
    """Count how often each class was predicted as each class.

    Parameters
    ----------
    actual, pred : integer vectors of one length

    Returns
    -------
    list of a matrix of shape (C, C) and a vector of shape (C,)
        The counts, a row for each true class, and the classes in the order of both.

    Raises
    ------
    ValueError
        An argument is not a vector.
    """
    actual, pred = pt.as_tensor_variable(actual), pt.as_tensor_variable(pred)
    for name, classes in (("actual", actual), ("pred", pred)):
        if classes.ndim != 1:
            raise ValueError(f"confusion_matrix: expected a vector {name}, got {classes.type}")
    order = pt.unique(pt.concatenate([actual, pred]))
    is_actual = pt.eq(pt.shape_padright(actual), order).astype("int64")
    is_predicted = pt.eq(pt.shape_padright(pred), order).astype("int64")
    return [pt.dot(is_actual.T, is_predicted), order]


def h_softmax(
    x: TensorLike,
    batch_size: int,
    n_outputs: int,
    n_classes: int,
    n_outputs_per_class: int,
    W1: TensorLike,
    b1: Any,
    W2: Any,
    b2: Any,
    target: Any = None,
) -> TensorVariable:
    """Return the probabilities of a softmax in two levels: the class, then the output in it.

    Parameters
    ----------
    x : matrix of shape (batch_size, D)
    batch_size, n_outputs, n_classes, n_outputs_per_class : int
        ``n_classes * n_outputs_per_class`` is at least `n_outputs`.
    W1 : matrix of shape (D, n_classes)
    b1 : vector of shape (n_classes,)
    W2 : tensor of shape (n_classes, D, n_outputs_per_class)
    b2 : matrix of shape (n_classes, n_outputs_per_class)
    target : integer vector of shape (batch_size,), optional
        The output whose probability is wanted, for each row.

    Returns
    -------
    matrix of shape (batch_size, n_outputs), or vector of shape (batch_size,) with a target
    """
    x, W2, b2 = pt.as_tensor_variable(x), pt.as_tensor_variable(W2), pt.as_tensor_variable(b2)
    class_probability = softmax(pt.dot(x, W1) + b1)
    if target is None:
        scores = pt.tensordot(x, W2, axes=[[1], [1]]) + b2
        within = special.softmax(scores, axis=-1)
        joint = pt.shape_padright(class_probability) * within
        return joint.reshape((batch_size, n_classes * n_outputs_per_class))[:, :n_outputs]
    target = pt.as_tensor_variable(target).flatten()
    its_class = target // n_outputs_per_class
    within = softmax(batched_dot(x, W2[its_class]) + b2[its_class])
    rows = pt.arange(batch_size)
    return class_probability[rows, its_class] * within[rows, target % n_outputs_per_class]
