"""Both sides of the conditions of element-wise work and of reductions."""

from __future__ import annotations

import numpy as np

import theano.tensor as T
from tests_scan_grad.rewriting.refused.sides import Sides, given
from theano import scalar
from theano.pytensor_internals.operations.tensor_rewrites import (
    elemwise,
    local_careduce_of_alloc,
    local_log_sum_exp,
    math,
    summary,
    uncanonicalize,
)
from theano.tensor.elemwise import Elemwise

x, y = given([0.5, -2.0, 3.0], name="x"), given([4.0, 1e-3, -1.0], name="y")
single = given([0.1, 7.3, 1e-9], "float32", name="single")
other = given([3e-8, -1e-7, 0.7], "float32", name="other")
k = given([12, -128, 100], "int8", name="k")
large = given([0, 2, -1], "int64", name="large")
u = given([0, 3, 200], "uint8", name="u")
b = given([True, False, True], "bool", name="b")
z = given([1 + 1j, -2 + 0j, 3j], "complex128", name="z")
matrix = given([[1.0, -2.0, 0.5], [3.0, 4.0, 1e-3]], name="matrix")
row = given([[1.5, -2.0, 3.0]], shape=(1, None), name="row")
number = given(0.5, name="number")
n = given(2, "int64", name="n")
# constants that need no new axis
ONE, TWO = np.ones(1), np.full(1, 2.0)


def fused(*functions):
    """Return an operator that fuses functions of one scalar each."""
    scalars = [scalar.float64(f"s{i}") for i in range(len(functions))]
    results = [function(s) for function, s in zip(functions, scalars, strict=True)]
    return Elemwise(scalar.Composite(scalars, results))


SUMS_AND_PRODUCTS = {
    "sums that others read": Sides(
        math.local_greedy_distributor,
        lambda: (x / TWO + y) * TWO,
        lambda: [T.exp(total := x / TWO + y), total * TWO],
        # one more sum
        wrong=False,
    ),
    "sum of booleans": Sides(
        math.local_add_canonizer, lambda: x + (x + y), lambda: b + (b + b), wrong=False
    ),
    "constants with an infinite sum": Sides(
        math.local_add_canonizer,
        lambda: (x + 1e100) + 1e100,
        lambda: (given([-1e308]) + 1e308) + 1e308,
    ),
    "large integers in products": Sides(
        math.local_mul_canonizer,
        lambda: (large * 3) * 5,
        lambda: np.int64(2**63 - 4) * (large * 3),
    ),
    "large integers in sums": Sides(
        math.local_add_canonizer,
        lambda: (large + np.int64(2**62 + 1)) - np.int64(2**62),
        lambda: b + (b + b),
        wrong=False,
    ),
    "constants out of range": Sides(
        math.local_mul_canonizer,
        lambda: (x * 1e20) / (y / 1e20),
        lambda: (given([1e-200]) * 1e200) / (given([1e100]) / 1e200),
    ),
    "nested sums": Sides(
        elemwise.flatten_nested_add_mul, lambda: x + (x + y), lambda: large + (k + k)
    ),
    "nested sums of fewer digits": Sides(
        elemwise.flatten_nested_add_mul,
        # the sum of fewer digits is not one with the product
        lambda: x * (y * T.cast(single + other, "float64")),
        lambda: x + (single + other),
    ),
    "quotients by one": Sides(math.local_div_by_one, lambda: x / ONE, lambda: x // ONE),
    "negated integers": Sides(math.local_neg_to_mul, lambda: -x, lambda: -u),
}

SIGNS = {
    "absolute values": Sides(math.local_abs_lift, lambda: abs(x * y), lambda: abs(k * k)),
    "products of absolute values": Sides(
        math.local_abs_merge, lambda: abs(x) * abs(y), lambda: abs(k) * abs(k + k)
    ),
    "roots of squares": Sides(
        math.local_sqrt_sqr, lambda: T.sqrt(T.sqr(x)), lambda: T.sqrt(T.sqr(z))
    ),
    "negated maxima": Sides(
        uncanonicalize.local_max_to_min, lambda: -T.max(-x), lambda: -T.max(-k)
    ),
}

OF_ANOTHER_DTYPE = {
    "logarithms of quotients": Sides(
        math.local_log_div,
        lambda: T.log(T.reciprocal(abs(x))),
        lambda: T.log(T.constant(np.full(1, 2, "int8")) / given([1, 2, 4], "float16")),
        otherwise=True,
    ),
    "logarithms of the complementary error function": Sides(
        math.local_log_erfc,
        lambda: T.log(T.erfc(x)),
        lambda: T.log(T.erfc(single)),
        otherwise=True,
    ),
    "logarithms of sums of exponentials": Sides(
        local_log_sum_exp,
        lambda: T.log(T.exp(x).sum()),
        lambda: T.log(T.exp(given([1, 2, 4], "float16")).sum()),
        otherwise=True,
    ),
    "conjugates": Sides(
        math.local_useless_conj, lambda: T.conj(x), lambda: T.conj(b), otherwise=True
    ),
    "logarithms of products": Sides(
        summary.local_log_prod_to_sum_log,
        lambda: T.log(abs(x).prod()),
        lambda: T.log(abs(T.prod(single, dtype="float64"))),
        otherwise=True,
    ),
    "logarithms of products without a phase": Sides(
        summary.local_log_prod_to_sum_log,
        lambda: T.log(abs(x.prod())),
        lambda: T.log(abs(T.prod(T.cast(z, "complex64"), dtype="float64"))),
    ),
}

REDUCTIONS = {
    "logarithms of sums of exponentials of what is centred": Sides(
        local_log_sum_exp,
        lambda: T.log(T.exp(matrix - matrix.max(axis=0, keepdims=True)).sum(axis=1)),
        lambda: T.log(T.exp(matrix - matrix.max(axis=1, keepdims=True)).sum(axis=1)),
        wrong=False,
    ),
    "sums of negatives": Sides(
        math.local_sum_of_neg_to_neg_of_sum, lambda: (-x).sum(), lambda: (-k).sum()
    ),
    "factors of sums": Sides(
        math.local_sum_prod_of_mul_or_div,
        lambda: (x * TWO).sum(),
        lambda: (given([3e38, 3e38], "float32") * np.float32([0.01])).sum(),
    ),
    "sums of sums": Sides(
        math.local_reduce_chain,
        lambda: matrix.sum(axis=0).sum(),
        lambda: given([[100, 3], [100, 3]], "int8").sum(axis=0, dtype="int8").sum(),
    ),
    "sums over an axis of length one": Sides(
        math.local_reduce_broadcastable,
        lambda: row.sum(axis=(0, 1)),
        lambda: given([2**53 + 1], "int64", (1,)).sum(dtype="int64", acc_dtype="float64"),
    ),
    "sums of their own dtype over an axis of length one": Sides(
        math.local_reduce_broadcastable,
        lambda: row.sum(axis=0),
        lambda: given([[100, 100]], "int8", (1, None)).sum(axis=(0, 1), dtype="int8"),
        otherwise=True,
    ),
    "sums of a repeated value": Sides(
        local_careduce_of_alloc,
        lambda: T.alloc(1.0, n).sum(),
        lambda: T.alloc(given(np.inf), n - n).sum(),
    ),
    "truth of a repeated value": Sides(
        local_careduce_of_alloc,
        lambda: T.any(T.alloc(T.gt(number, 0), 2, 3)),
        lambda: T.any(T.alloc(T.gt(number, 0), n - n)),
    ),
    "sums with more digits of a repeated value": Sides(
        local_careduce_of_alloc,
        lambda: T.alloc(single[0], 2, 3).sum(),
        lambda: T.alloc(single[0], 7).sum(dtype="float64"),
    ),
    "largest of vectors that may not fit where they are repeated": Sides(
        local_careduce_of_alloc,
        lambda: T.alloc(x, 2, x.shape[0]).max(axis=0),
        lambda: T.alloc(x, 2, n).max(axis=1),
    ),
    "squares of a product of two new axes": Sides(
        math.local_sumsqr2dot,
        lambda: T.sqr(matrix.dimshuffle("x", 0, 1) * matrix.dimshuffle(0, "x", 1)).sum(axis=(1, 2)),
        lambda: T.sqr(given(np.ones((2, 3, 2))) * given(np.ones((3, 2)))).sum(axis=(1, 2)),
    ),
}

MAPS = {
    "new axes": Sides(
        elemwise.local_dimshuffle_lift,
        lambda: T.exp(x + y)[:, None] * matrix.T,
        lambda: T.dot(matrix, T.exp(x + y)[:, None]),
        wrong=False,
    ),
    "fused maps": Sides(
        elemwise.local_useless_composite_outputs,
        lambda: fused(scalar.exp, scalar.sin)(x, y)[0],
        lambda: fused(scalar.exp, scalar.sin)(x, y),
        wrong=False,
    ),
}

OF_ELEMENTS = {**SUMS_AND_PRODUCTS, **SIGNS, **OF_ANOTHER_DTYPE, **REDUCTIONS, **MAPS}
