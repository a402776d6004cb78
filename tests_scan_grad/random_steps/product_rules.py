"""Products, images, sparse matrices, linear algebra."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse

import theano.sparse
import theano.tensor as T
from tests_scan_grad.random_steps.values import (
    Applied,
    Chooser,
    Rule,
    Value,
    alike,
    array,
    counted,
    floating,
    matrix,
    of_row,
    shape_of,
)
from theano.tensor.signal.pool import pool_2d


def _factor(value: Value) -> bool:
    return floating(value) and len(value.shape) in (1, 2)


def _product(choose: Chooser) -> Applied | None:
    """A product as a vector or matrix takes part in it: transposed, scaled, added to another."""
    pair = choose.pair(_factor, lambda x, y: _factor(y))
    if pair is None:
        return None
    turned = [len(value.shape) == 2 and choose.chance(0.35) for value in pair]

    def factors(x, y):
        return x.T if turned[0] else x, y.T if turned[1] else y

    try:
        shape = shape_of(lambda x, y: np.matmul(*factors(x, y)), *pair)
    except ValueError:
        return None
    scale = choose.one((None, None, 0.5, -1, 2))
    addend = choose.value(lambda z: z.shape == shape and z.dtype == pair[0].dtype)

    def build(x, y, *addends):
        result = T.dot(*factors(x, y))
        result = result if scale is None else result * np.asarray(scale, result.dtype)
        for z in addends:
            result = z - result if scale == 2 else np.asarray(0.5, result.dtype) * z + result
        return result

    addends = () if addend is None or not addend.is_floating or choose.chance(0.6) else (addend,)
    return Applied((*pair, *addends), shape, build)


def _stack_of_products(choose: Chooser) -> Applied | None:
    pair = choose.pair(
        lambda x: array(x) and len(x.shape) == 3,
        lambda x, y: array(y) and len(y.shape) == 3 and x.shape[0] == y.shape[0],
    )
    if pair is None:
        return None
    x, y = pair
    for order in ((0, 1, 2), (0, 2, 1)):
        inner, columns = (y.shape[axis] for axis in order[1:])
        if inner == x.shape[2]:
            return Applied(
                pair,
                (*x.shape[:2], columns),
                lambda x, y, order=order: T.batched_dot(x, y.dimshuffle(*order)),
            )
    return None


def _sum_of_outer_products(choose: Chooser) -> Applied | None:
    pair = choose.pair(matrix, lambda x, y: matrix(y) and x.shape[0] == y.shape[0])

    def build(x, y):
        return (x.dimshuffle(0, 1, "x") * y.dimshuffle(0, "x", 1)).sum(axis=0)

    return None if pair is None else Applied(pair, (pair[0].shape[1], pair[1].shape[1]), build)


def _picture(value: Value) -> bool:
    return array(value) and len(value.shape) in (2, 3) and min(value.shape) >= 2


def _convolution(choose: Chooser) -> Applied | None:
    pair = choose.pair(_picture, lambda x, k: matrix(k) and k.dtype == x.dtype)
    if pair is None:
        return None
    border, flipped = choose.one(("full", "half", "valid")), choose.chance(0.5)
    strides = choose.one(((1, 1), (1, 1), (2, 1)))
    lengths = []
    for length, width, stride in zip(pair[0].shape[-2:], pair[1].shape, strides, strict=True):
        if (border == "valid" and width > length) or (border == "half" and width % 2 == 0):
            return None
        places = {"full": length + width - 1, "half": length, "valid": length - width + 1}
        lengths.append((places[border] - 1) // stride + 1)

    def build(x, k):
        pictures = x.dimshuffle("x", "x", 0, 1) if x.ndim == 2 else x.dimshuffle(0, "x", 1, 2)
        result = T.nnet.conv2d(
            pictures,
            k.dimshuffle("x", "x", 0, 1),
            border_mode=border,
            subsample=strides,
            filter_flip=flipped,
        )
        return result[0, 0] if x.ndim == 2 else result[:, 0]

    return Applied(pair, (*pair[0].shape[:-2], *lengths), build)


def _pooled(choose: Chooser) -> Applied | None:
    x = choose.value(_picture)
    if x is None:
        return None
    whole_only = choose.chance(0.5)
    mode = choose.one(("max", "sum", "average_inc_pad", "average_exc_pad" if whole_only else "max"))
    lengths = tuple(n // 2 if whole_only else (n + 1) // 2 for n in x.shape[-2:])
    return Applied(
        (x,),
        (*x.shape[:-2], *lengths),
        lambda x: pool_2d(x, (2, 2), ignore_border=whole_only, mode=mode),
    )


def _times_sparse_constant(choose: Chooser) -> Applied | None:
    x = choose.value(matrix)
    if x is None:
        return None
    entries = np.random.RandomState(choose.random.randrange(99))
    rows = entries.uniform(-1, 1, (3, x.shape[0])) * entries.binomial(1, 0.5, (3, x.shape[0]))
    made = choose.one((scipy.sparse.csr_matrix, scipy.sparse.csc_matrix))(rows.astype(x.dtype))
    return Applied((x,), (3, x.shape[1]), lambda x: theano.sparse.structured_dot(made, x))


def _times_sparse(choose: Chooser) -> Applied | None:
    pair = choose.pair(matrix, lambda x, y: matrix(y) and y.dtype == x.dtype)
    if pair is None or pair[0].shape[1] != pair[1].shape[0]:
        return None
    return Applied(
        pair,
        (pair[0].shape[0], pair[1].shape[1]),
        lambda x, y: theano.sparse.dot(theano.sparse.csr_from_dense(x), y),
    )


def _definite(x):
    return T.dot(x, x.T) + 3 * T.eye(x.shape[0])


LINEAR_ALGEBRA: tuple[Callable, ...] = (
    lambda x: T.slinalg.cholesky(_definite(x)),
    lambda x: T.nlinalg.matrix_inverse(_definite(x)),
    lambda x: T.slinalg.solve(_definite(x), x),
    lambda x: x * T.nlinalg.det(0.1 * _definite(x)),
)


def _linear_algebra(choose: Chooser) -> Applied | None:
    x = choose.value(
        lambda value: matrix(value) and value.dtype == "float64" and len({*value.shape}) == 1
    )
    return None if x is None else Applied((x,), x.shape, choose.one(LINEAR_ALGEBRA))


def _normalized_batch(choose: Chooser) -> Applied | None:
    pair = choose.pair(lambda x: matrix(x) and x.dtype == "float64" and min(x.shape) > 1, of_row)

    def build(x, gain):
        return T.nnet.bn.batch_normalization_train(x, 1 + gain, 2 * gain)[0]

    return None if pair is None else Applied(pair, pair[0].shape, build)


def _cross_entropy(choose: Chooser) -> Applied | None:
    pair = choose.pair(matrix, lambda x, k: counted(k) and k.shape == x.shape[:1])
    if pair is None:
        return None
    classes = pair[0].shape[1]

    def build(x, k):
        return T.nnet.categorical_crossentropy(T.nnet.softmax(x), T.cast(k, "int64") % classes)

    return Applied(pair, pair[1].shape, build)


def _inner_products(choose: Chooser) -> Applied | None:
    pair = choose.pair(matrix, alike)
    if pair is None:
        return None
    return Applied(pair, pair[0].shape[:1], lambda x, y: (x * y).sum(axis=1))


RULES = (
    Rule("product", _product, 3),
    Rule("stack of products", _stack_of_products, 0.8),
    Rule("sum of outer products", _sum_of_outer_products, 0.6),
    Rule("inner products", _inner_products, 0.3),
    Rule("convolution", _convolution, 0.6),
    Rule("pooled", _pooled, 0.5),
    Rule("times a sparse constant", _times_sparse_constant, 0.5),
    Rule("times a sparse matrix", _times_sparse, 0.5),
    Rule("linear algebra", _linear_algebra, 0.4),
    Rule("batch normalization", _normalized_batch, 0.3),
    Rule("cross-entropy", _cross_entropy, 0.3),
)
