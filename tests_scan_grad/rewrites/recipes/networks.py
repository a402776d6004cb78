"""Softmaxes and costs of networks."""

import pytensor.tensor as pt
from pytensor.tensor import special

from tests_scan_grad.rewrites.making import Maker, recipe
from theano.tensor import nnet

FAMILY = "costs of networks"
TYPES = ("float64", "float32")


@recipe(
    FAMILY,
    "local_softmax_with_bias",
    "local_softmax_without_bias",
    "local_softmax_stabilize",
    "local_logsoftmax",
    "local_exp_log_softmax",
    "local_log_softmax_from_logsumexp",
    "operators_as_graphs",
)
def softmaxes(m: Maker):
    n, k = m.lengths(2, (1, 2, 3))
    x = m.array((n, k), (*TYPES, "float16"))
    b = m.array((k,), TYPES)
    column = m.array((n, 1), TYPES, known=[m.chance(), True])
    axis = m.one_of(-1, 0, 1, None)
    return m.one_of(
        lambda: nnet.softmax(x + b),
        lambda: special.softmax(x + b, axis=axis),
        lambda: pt.log(special.softmax(x, axis=axis)),
        lambda: pt.exp(x) / pt.exp(x).sum(axis=1, keepdims=True),
        lambda: nnet.softmax(x + b + x),
        lambda: pt.exp(special.log_softmax(x, axis=axis)),
        lambda: x - pt.logsumexp(x, axis=axis, keepdims=True),
        lambda: [special.softmax(x, axis=axis), special.log_softmax(x, axis=axis) * 2],
        lambda: special.softmax(x * 2, axis=axis) + special.xlogy(x, x) + special.xlog1py(x, x),
        lambda: nnet.softmax(x + column),
        lambda: nnet.softmax(b + b),
        lambda: nnet.softmax_with_bias(x, b),
        lambda: pt.log(nnet.softmax(x + b)),
        lambda: nnet.softmax(x + b.dimshuffle("x", 0) + x * 2),
        lambda: nnet.softmax_with_bias(x, pt.zeros((k,))),
    )()


@recipe(
    FAMILY,
    "crossentropy_to_crossentropy_with_softmax",
    "graph_merge_softmax_with_crossentropy_softmax",
    "local_advanced_indexing_crossentropy_onehot",
    "local_advanced_indexing_crossentropy_onehot_grad",
    "local_softmax_grad_to_crossentropy_with_softmax_grad",
    "local_logsoftmax_grad",
    "local_useless_crossentropy_softmax_1hot_with_bias_dx_alloc",
)
def cross_entropies(m: Maker):
    n, k = m.one_of(1, 3), 3
    x, b = m.array((n, k), TYPES), m.array((k,), TYPES)
    y = m.array((n,), ("int64", "int8", "uint8"), among=lambda s: m.rng.integers(0, k, s))
    z = m.one_of(x, x + b)
    probabilities = m.one_of(nnet.softmax, lambda z: special.softmax(z, axis=-1))(z)
    rows = pt.arange(m.one_of(y.shape[0], n, x.shape[0]))
    cost = m.one_of(
        lambda: -pt.log(probabilities)[rows, y],
        lambda: -pt.log(probabilities[rows, y]),
        lambda: nnet.categorical_crossentropy(probabilities, y),
        lambda: pt.log(special.softmax(z, axis=1))[rows, y] * 2,
        lambda: special.log_softmax(z, axis=-1)[rows, y],
        lambda: nnet.crossentropy_categorical_1hot(nnet.softmax(z), y),
    )()
    total = m.one_of(cost.sum(), cost.mean(), (cost * 3).sum(), -cost.mean())
    return m.one_of(
        [cost],
        [total, pt.grad(total, x)],
        [pt.grad(total, [x, b], disconnected_inputs="ignore")[1]],
        [probabilities, cost],
        [pt.argmax(probabilities, axis=1), total],
    )


@recipe(FAMILY, "local_logsoftmax_grad", "local_logsoftmax")
def gradients_of_softmaxes(m: Maker):
    x = m.array(m.lengths(2, (1, 2, 3)), TYPES)
    axis = m.one_of(-1, 0, None)
    y = m.one_of(
        pt.log(special.softmax(x, axis=axis)),
        special.log_softmax(x, axis=axis),
        special.softmax(x, axis=axis),
    )
    return pt.grad((y * m.one_of(x, 2, y)).sum(), x)


@recipe(FAMILY, "_add_in_place")
def products_of_blocks(m: Maker):
    from pytensor.tensor import ftensor3  # noqa: F401

    from theano.tensor.nnet.blocksparse import sparse_block_dot

    w = m.array((2, 2, 3, 2), ("float32",), known=False)
    h = m.array((1, 2, 3), ("float32",), known=False)
    inputs = m.array((1, 2), ("int64",), known=False, among=lambda s: [[0, 1]])
    b = m.array((2, 2), ("float32",), known=False)
    outputs = m.array((1, 1), ("int64",), known=False, among=lambda s: [[1]])
    y = sparse_block_dot(w, h, inputs, b, outputs)
    return [y, pt.grad(y.sum(), w)]
