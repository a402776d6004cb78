"""Every product that the engine has code for agrees with its own ``perform``."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
import pytest

import theano
from tests_scan_grad.native.lowering.evaluations import (
    native_loop,
)
from tests_scan_grad.native.lowering.lowering_checks import LAYOUTS, check, numbers, of
from theano.pytensor_internals.operations.tensor import (
    BatchedDot,
    Dot22,
    Dot22Scalar,
    Gemm,
    Gemv,
    Ger,
)

PRODUCTS = {
    "matrices": (lambda a, b: [a @ b, (b.T @ a.T).T, a @ b + 1], (3, 4), (4, 2)),
    "dot": (lambda a, b: [pt.dot(a, b), pt.dot(a, b[:, 0]), pt.dot(a[0], b)], (3, 4), (4, 2)),
    "inner": (lambda a, b: [pt.dot(a[0], b[:, 1]), pt.outer(a[0], b[0])], (3, 4), (4, 2)),
    "stacks": (lambda a, b: [a @ b], (2, 3, 4), (2, 4, 2)),
    "a stack and a matrix": (lambda a, b: [a @ b, b.T @ a.swapaxes(1, 2)], (2, 3, 4), (4, 2)),
    "stacks of stacks": (lambda a, b: [a @ b[None]], (2, 1, 3, 4), (2, 4, 2)),
    "tensordot": (lambda a, b: [pt.tensordot(a, b, axes=[[2, 1], [0, 1]])], (2, 3, 4), (4, 3, 2)),
    "einsum": (lambda a, b: [pt.einsum("tbi,tbj->ij", a, b)], (2, 3, 4), (2, 3, 2)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint32"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name, dtype):
    build, first, second = PRODUCTS[name]
    a, b = of(*first, dtype=dtype), of(*second, dtype=dtype)
    if name == "stacks of stacks":
        a = pt.tensor(dtype=dtype, shape=(None, 1, None, None))
    values = [numbers(*first, dtype=dtype), numbers(*second, dtype=dtype)]
    check([a, b], build(a, b), values, [LAYOUTS["transposed in memory"](v) for v in values])


@pytest.mark.parametrize("shapes", [((0, 4), (4, 2)), ((3, 0), (0, 2)), ((3, 4), (4, 0))])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_products_without_elements(shapes, dtype):
    a, b = of(None, None, dtype=dtype), of(None, None, dtype=dtype)
    outputs = [a @ b, a.dot(b.dot(pt.ones((b.shape[1], 2), dtype)))]
    outputs += [a[None] @ b[None], a @ b.sum(axis=1), a.sum(axis=0) @ b]
    check([a, b], outputs, [numbers(*shape, dtype=dtype) for shape in shapes])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_the_linear_algebra_library(dtype):
    a, b, c = (of(None, None, dtype=dtype) for _ in range(3))
    x, y = of(None, dtype=dtype), of(None, dtype=dtype)
    s = pt.scalar(dtype=dtype)
    stacks = pt.stack([a, 2 * a]), pt.stack([b, b])
    outputs = [
        Dot22()(a, b),
        Dot22Scalar()(a, b, s),
        Gemm(inplace=False)(c, s, a, b, s),
        Gemv(inplace=False)(x, s, a, y, s),
        Gemv(inplace=False)(x, s, a, y, pt.constant(0.0, dtype=dtype)),
        Ger(destructive=False)(a, s, x, y),
        BatchedDot()(*stacks),
    ]
    shapes = [(3, 4), (4, 2), (3, 2), (3,), (4,), ()]
    check([a, b, c, x, y, s], outputs, [numbers(*shape, dtype=dtype) for shape in shapes])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_addend_that_is_multiplied_by_zero_is_not_read(dtype):
    a, b, c = (of(None, None, dtype=dtype) for _ in range(3))
    x, y = of(None, dtype=dtype), of(None, dtype=dtype)
    s, t = (pt.scalar(dtype=dtype) for _ in range(2))
    outputs = [Gemm(inplace=False)(c, s, a, b, t), Gemv(inplace=False)(x, s, a, y, t)]
    shapes = [(3, 4), (4, 2), (3, 2), (3,), (4,)]
    a_, b_, c_, x_, y_ = (numbers(*shape, dtype=dtype) for shape in shapes)
    c_[0, 0] = x_[1] = np.nan
    native = native_loop([a, b, c, x, y, s, t], outputs)
    whole, vector = native(a_, b_, c_, x_, y_, np.dtype(dtype).type(2), np.dtype(dtype).type(0))
    np.testing.assert_allclose(whole, 2 * a_ @ b_, rtol=1e-5)
    np.testing.assert_allclose(vector, 2 * a_ @ y_, rtol=1e-5)
    whole, vector = native(a_, b_, c_, x_, y_, np.dtype(dtype).type(2), np.dtype(dtype).type(1))
    assert np.isnan(whole[0, 0]) and np.isnan(vector[1])


def test_long_products_of_few_columns_keep_their_digits():
    x = pt.fmatrix()
    f = theano.function([x], pt.dot(x.T, x))
    rows = 2_000_000
    result = f(np.full((rows, 2), 0.1, "float32"))
    np.testing.assert_allclose(result, np.full((2, 2), rows * 0.01), rtol=1e-3)
