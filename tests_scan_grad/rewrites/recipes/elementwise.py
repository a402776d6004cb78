"""Comparisons, choices, fills and other element-wise work."""

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.tensor.math import isinf, isnan

from tests_scan_grad.rewrites.making import ANY, FLOATS, INTEGERS, REAL, Maker, recipe

FAMILY = "element-wise work"

COMPARISONS = (pt.lt, pt.gt, pt.le, pt.ge, pt.eq, pt.neq)


@recipe(FAMILY, "local_useless_elemwise")
def work_that_may_be_nothing(m: Maker):
    x = m.array(2, REAL)
    i = m.array(2, (*INTEGERS, "bool"))
    y = m.beside(x, REAL)

    def of_its_kind(number: int) -> Any:
        # a bool goes with bools only
        return np.array(number != 0) if i.type.dtype == "bool" else number

    return m.one_of(
        lambda: pt.eq(x, x),
        lambda: pt.neq(x, x),
        lambda: pt.add(x),
        lambda: pt.mul(x),
        lambda: pt.and_(i, of_its_kind(0)),
        lambda: pt.and_(i, of_its_kind(1)),
        lambda: pt.and_(i, of_its_kind(-1)),
        lambda: pt.or_(i, of_its_kind(0)),
        lambda: pt.or_(i, of_its_kind(1)),
        lambda: pt.or_(i, i),
        lambda: pt.and_(i, i),
        lambda: pt.xor(i, i),
        lambda: pt.eq(x, y) * pt.eq(y, y),
        lambda: pt.and_(pt.gt(x, 0), np.array(True)),
        lambda: pt.or_(pt.gt(x, 0), np.array([[True]])),
        lambda: pt.xor(i, of_its_kind(0)),
    )()


@recipe(FAMILY, "local_useless_elemwise_comparison")
def comparisons_that_may_be_known(m: Maker):
    x = m.array(m.one_of(1, 2), REAL)
    compare = m.one_of(*COMPARISONS)
    n = x.shape[0]
    return m.one_of(
        lambda: compare(x, x),
        lambda: compare(n, 0),
        lambda: compare(0, n),
        lambda: compare(n, -1),
        lambda: compare(n + x.shape[0], 0),
        lambda: pt.maximum(n, 0),
        lambda: pt.minimum(n, 0),
        lambda: pt.maximum(x, x),
        lambda: pt.minimum(x, x),
        lambda: compare(pt.maximum(n, 1), 0),
        lambda: pt.maximum(0, n),
        lambda: pt.xor(x > 0, x > 0),
        lambda: compare(n + 1, 0),
        lambda: pt.minimum(n, n),
        lambda: pt.and_(compare(x, x), compare(n, 0)),
    )()


@recipe(FAMILY, "local_useless_switch", "local_merge_switch_same_cond")
def choices(m: Maker):
    x = m.array(2, REAL)
    y = m.beside(x, REAL)
    c = m.beside(x, ("bool", "int8", "float32"))
    known = m.one_of(0, 1, True, np.float32(0.5), np.array([[0]]), np.array([[1], [0]]), np.nan)
    if np.ndim(known) and known.shape[0] == 2 and m.values[x].shape[0] not in (1, 2):
        known = 1
    return m.one_of(
        lambda: pt.switch(known, x, y),
        lambda: pt.switch(c, x, x),
        lambda: pt.switch(c, x, y),
        lambda: pt.switch(c, pt.switch(c, x, y), x),
        lambda: pt.switch(c, x, pt.switch(c, x, y)),
        lambda: pt.switch(c, x, y) + pt.switch(c, y, x),
        lambda: pt.switch(c, x, 0) * pt.switch(c, y, 1),
        lambda: pt.switch(pt.le(x.shape[0], 0), 0, x),
        lambda: pt.switch(pt.switch(c, 1, 0), x, y),
        lambda: pt.switch(pt.switch(c, 0, 1), x, y),
    )()


@recipe(FAMILY, "local_mul_switch_sink", "local_div_switch_sink")
def choices_with_zeros_in_products(m: Maker):
    x = m.array(2, ("float64", "float32", "int8"))
    y, c = m.beside(x), m.beside(x, ("bool", "int8"))
    zero = m.one_of(0, 0.0, np.zeros((1, 1)))
    chosen = m.one_of(
        lambda: pt.switch(c, x, zero),
        lambda: pt.switch(c, zero, x),
        lambda: pt.switch(c, np.nan, x),
    )()
    return m.one_of(
        lambda: chosen * y, lambda: chosen / y, lambda: y * chosen * x, lambda: chosen / (y * 2)
    )()


@recipe(FAMILY, "local_useless_fill", "local_second_sink", "second_to_alloc")
def fills(m: Maker):
    x = m.array(2, ANY)
    y = m.beside(x, REAL)
    value = m.one_of(0, 1.5, np.int8(3), y, m.scalar(REAL))
    filled = pt.second(x, value)
    return m.one_of(
        lambda: filled,
        lambda: filled + y,
        lambda: pt.second(x, x),
        lambda: pt.exp(pt.second(y, 2.0)),
        lambda: pt.second(y, pt.second(x, value)),
        lambda: pt.zeros_like(x) + pt.ones_like(y),
        lambda: pt.second(pt.second(x, y), value) * y,
        lambda: pt.switch(pt.second(x, 1), y, value),
    )()


@recipe(FAMILY, "local_exp_log", "local_exp_log_nan_switch", "local_sqrt_sqr")
def functions_and_their_inverses(m: Maker):
    x = m.array(2, ("float64", "float32", "float16", "int8", "int64"))
    return m.one_of(
        lambda: pt.exp(pt.log(x)),
        lambda: pt.log(pt.exp(x)),
        lambda: pt.exp(pt.log1p(x)),
        lambda: pt.log1p(pt.expm1(x)),
        lambda: pt.expm1(pt.log1p(x)),
        lambda: pt.expm1(pt.log(x)),
        lambda: pt.log(pt.expm1(x)),
        lambda: pt.exp(pt.softplus(x)),
        lambda: pt.log1p(pt.exp(x)),
        lambda: pt.exp(pt.log1mexp(x)),
        lambda: pt.expm1(pt.softplus(x)),
        lambda: pt.expm1(pt.log1mexp(x)),
        lambda: pt.sqr(pt.sqrt(x)),
        lambda: pt.sqrt(pt.sqr(x)),
        lambda: pt.exp(pt.log_sigmoid(x)) if hasattr(pt, "log_sigmoid") else pt.exp(x),
    )()


@recipe(
    FAMILY,
    *(
        f"useless_{a}_of_{b}"
        for a, b in (
            ("Deg2rad", "Rad2deg"),
            ("Rad2deg", "Deg2rad"),
            ("Cosh", "Arccosh"),
            ("Tanh", "Arctanh"),
            ("Arctanh", "Tanh"),
            ("Sinh", "Arcsinh"),
            ("Arcsinh", "Sinh"),
        )
    ),
)
def angles_and_hyperbolic_functions(m: Maker):
    x = m.array((2, 2), ("float64", "float32", "float16", "int8"))
    pairs = [
        (pt.deg2rad, pt.rad2deg),
        (pt.rad2deg, pt.deg2rad),
        (pt.cosh, pt.arccosh),
        (pt.arccosh, pt.cosh),
        (pt.tanh, pt.arctanh),
        (pt.arctanh, pt.tanh),
        (pt.sinh, pt.arcsinh),
        (pt.arcsinh, pt.sinh),
    ]
    return [outer(inner(x)) for outer, inner in pairs]


@recipe(
    FAMILY,
    "inplace_elemwise",
    "composite_elemwise_fusion",
    "local_inline_composite_constants",
    "local_useless_composite_outputs",
    "results_in_place",
)
def chains_of_work(m: Maker):
    x = m.array(2, ("float64", "float32", "float16", "int8", "uint8", "int64"))
    y, z = m.beside(x, REAL), m.same(x)
    a = pt.switch(x > y, x, z) + y
    b = pt.tanh(a) * a
    return [
        m.one_of(b, pt.maximum(b, a) // 2, (b > 0) & (a > 0)),
        *m.one_of([], [a], [a.sum(), -b]),
    ]


@recipe(FAMILY, "inplace_elemwise", "results_in_place")
def results_that_may_overwrite(m: Maker):
    x = m.array((2, 2), ("float64", "float32"))
    y = pt.exp(x)
    z = y.T if m.chance() else y[::-1]
    return m.one_of([y + 1, z], [y + z, y], [(y + 1) * z], [y * 2, pt.set_subtensor(z[0], 0.0)])


@recipe(FAMILY, "local_view_op", "remove_tensor_copy")
def copies_and_views(m: Maker):
    x = m.array(2, ANY)
    from pytensor.compile.ops import view_op

    return [view_op(x), pt.tensor_copy(x), view_op(x * 1), view_op(view_op(x))[:1]]


@recipe(FAMILY, "local_tensor_scalar_tensor", "local_scalar_tensor_scalar")
def numbers_and_arrays_of_no_axes(m: Maker):
    x = m.scalar(REAL)
    vector = m.array((3,), ANY)
    scalar = pt.scalar_from_tensor(x)
    i = pt.scalar_from_tensor(
        pt.tensor_from_scalar(pt.scalar_from_tensor(m.scalar("int64", among=lambda s: 1)))
    )
    return [pt.tensor_from_scalar(scalar), vector[i]]


@recipe(FAMILY, "local_remove_useless_assert")
def assertions(m: Maker):
    from pytensor.raise_op import Assert

    x = m.array(2, ANY)
    condition = m.one_of(
        True, x.shape[0] > 0, pt.constant(False), pt.all(pt.eq(x, x)), np.bool_(True)
    )
    return Assert("no")(x, condition, m.one_of(True, x.shape[1] >= 0))


@recipe(FAMILY, "local_polygamma_to_digamma", "local_polygamma_to_tri_gamma")
def polygammas(m: Maker):
    x = m.array((2,), ("float64", "float32"), among=lambda s: m.rng.uniform(0.3, 4, s))
    return [pt.polygamma(m.one_of(0, np.int8(0)), x), pt.polygamma(1, x), pt.polygamma(2, x)]


@recipe(FAMILY, "local_useless_2f1grad_loop", "split_2f1grad_loop")
def gradient_of_a_hypergeometric_function(m: Maker):
    a, b, c, z = (m.scalar("float64", among=lambda s: m.rng.uniform(0.2, 0.8)) for _ in range(4))
    wrt = m.one_of([a], [b, c], [a, b, c], [z, a])
    return pt.grad(pt.hyp2f1(a, b, c + 1, z), wrt)


@recipe(FAMILY, "local_useless_elemwise")
def questions_of_numbers(m: Maker):
    x = m.array(2, (*FLOATS, *INTEGERS))
    y = m.array(2, FLOATS)
    return [isnan(x), isinf(y), pt.floor(y), pt.clip(x, 0, 1), pt.round(y)]


@recipe(FAMILY, "constants_as_read")
def work_with_narrow_constants(m: Maker):
    x = m.array(1, FLOATS)
    dtype = m.one_of("float32", "int8", "uint8", "int32", "int64", "float64", "bool")
    numbers = pt.constant(np.arange(m.values[x].shape[0]).astype(dtype))
    return m.one_of(
        lambda: pt.switch(x > 0, numbers, x),
        lambda: pt.tanh(x) * numbers,
        lambda: pt.maximum(x, numbers) - x**numbers,
        lambda: pt.switch(numbers, x, numbers),
        lambda: pt.ge(x, numbers),
        lambda: numbers / (1 + x),
    )()
