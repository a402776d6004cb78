"""Sums, products, maxima and the like along axes."""

import numpy as np
import pytensor.tensor as pt

from tests_scan_grad.rewrites.making import FLOATS, REAL, Maker, recipe

FAMILY = "reductions"
TYPES = ("float64", "float32", "float16", "int64", "int8", "uint8", "bool")
REDUCTIONS = (pt.sum, pt.prod, pt.max, pt.min, pt.any, pt.all)


def axes(m: Maker, ndim=3):
    """An axis, several, none or all."""
    return m.one_of(None, 0, 1, ndim - 1, (0, 1), (0, ndim - 1), tuple(range(ndim)))


@recipe(FAMILY, "local_sum_prod_of_mul_or_div")
def sums_of_products_with_numbers(m: Maker):
    x = m.array(2, TYPES)
    n, k = m.values[x].shape
    s = m.scalar(TYPES)
    row, column = (m.array(shape, TYPES, known=True) for shape in ((1, k), (n, 1)))
    product = m.one_of(
        lambda: x * s,
        lambda: 2 * x,
        lambda: x * row,
        lambda: column * x,
        lambda: x / s,
        lambda: x / column,
        lambda: s / x,
        lambda: row / column,
        lambda: row * x * s,
        lambda: row * column,
        lambda: s * s,
        lambda: x / (row * 2),
    )()
    reduce, axis = m.one_of(pt.sum, pt.prod), m.one_of(None, 0, 1, (0, 1))
    return reduce(product, axis=axis if product.ndim else None)


@recipe(FAMILY, "local_sum_prod_of_mul_or_div")
def sums_of_narrow_products(m: Maker):
    x = m.array((3, 2), ("int8", "uint8", "float16", "float32"), special=m.chance())
    s = m.scalar(("int8", "uint8", "float16", "int64"), special=m.chance())
    reduce = m.one_of(pt.sum, pt.prod)
    options = m.one_of({}, {"dtype": "int64"}, {"dtype": "float64"}, {"acc_dtype": "float64"})
    return reduce(x * s, axis=m.one_of(None, 0), **options)


@recipe(FAMILY, "local_sum_of_neg_to_neg_of_sum")
def sums_of_negations(m: Maker):
    x = m.array(2, ("float64", "float16", "int8", "int64", "uint8", "uint64"))
    return pt.sum(
        -x, axis=m.one_of(None, 0, 1), **m.one_of({}, {"dtype": "float64"}, {"dtype": "int64"})
    )


@recipe(FAMILY, "local_sum_prod_all_to_none", "local_useless_reduce", "local_reduce_broadcastable")
def reductions_along_known_axes(m: Maker):
    x = m.array((*m.lengths(1), 1, *m.lengths(1)), TYPES, known=[m.chance(), True, m.chance()])
    reduce = m.one_of(*REDUCTIONS[:2], pt.any, pt.all)
    return [reduce(x, axis=m.one_of((0, 1, 2), 1, (1, 2), ())), pt.sum(x[:1, :1], axis=axes(m))]


@recipe(FAMILY, "local_reduce_broadcastable", "local_useless_reduce")
def maxima_along_known_axes(m: Maker):
    x = m.array((2, 1, m.one_of(1, 3)), TYPES, known=[m.chance(), True, m.chance()])
    return m.one_of(pt.max, pt.min, pt.argmax)(x, axis=m.one_of(1, (1, 2), (0, 1), 2))


@recipe(FAMILY, "local_reduce_chain")
def reductions_of_reductions(m: Maker):
    x = m.array(3, TYPES)
    first = m.one_of(pt.sum, pt.prod, pt.any)
    second = m.one_of(first, first, pt.sum)
    options = (
        m.one_of({}, {}, {"dtype": "float64"}, {"acc_dtype": "float64"}, {"dtype": "int8"})
        if first is pt.sum
        else {}
    )
    inner = first(x, axis=m.one_of(0, 1, 2, (0, 2)), **options)
    return second(inner, axis=m.one_of(0, None, inner.ndim - 1))


@recipe(FAMILY, "local_reduce_chain")
def maxima_of_maxima(m: Maker):
    x = m.array(m.lengths(3, (1, 2, 3)), TYPES)
    first, second = m.one_of(pt.max, pt.min), m.one_of(pt.max, pt.min)
    inner = first(x, axis=m.one_of(0, 1, (0, 2)))
    return second(inner, axis=m.one_of(0, None))


@recipe(FAMILY, "local_reduce_join")
def reductions_of_stacked_arrays(m: Maker):
    x = m.array(2, TYPES)
    y = m.same(x, TYPES)
    axis = m.one_of(0, 1, 2)
    stacked = pt.stack([x, y] if m.chance() else [x, y, x], axis=axis)
    reduce = m.one_of(pt.sum, pt.prod, pt.max, pt.min, pt.any, pt.all)
    return reduce(stacked, axis=m.one_of(axis, axis, None, 0))


@recipe(FAMILY, "local_reduce_join")
def sums_of_joined_rows(m: Maker):
    k = m.one_of(0, 1, 3)
    x, y = (
        m.array((1, k), TYPES, known=[True, m.chance()]),
        m.array((m.one_of(1, 1, 2), k), TYPES, known=[m.chance(0.8), False]),
    )
    return m.one_of(pt.sum, pt.prod, pt.max)(pt.join(0, x, y), axis=0)


@recipe(FAMILY, "local_sum_make_vector")
def sums_of_numbers_stacked(m: Maker):
    numbers = [m.scalar(TYPES) for _ in range(m.one_of(1, 2, 3))]
    reduce = m.one_of(pt.sum, pt.prod)
    return reduce(
        pt.stack(numbers), **m.one_of({}, {}, {"dtype": "float64"}, {"acc_dtype": "float64"})
    )


@recipe(FAMILY, "local_opt_alloc", "local_careduce_of_alloc")
def sums_of_filled_arrays(m: Maker):
    value = m.one_of(
        pt.constant(np.array(m.one_of(2, 0, 1.5, -1)).astype(m.dtype(TYPES[:-1]))),
        m.scalar(TYPES),
        m.array((1,), TYPES, known=True),
    )
    n = m.scalar("int64", among=lambda s: m.one_of(0, 1, 3))
    filled = pt.alloc(value, m.one_of(n, 2), 3, m.one_of(n, 1))
    return m.one_of(pt.sum, pt.prod)(filled, axis=axes(m), **m.one_of({}, {"dtype": "float64"}))


@recipe(FAMILY, "local_sumsqr2dot")
def sums_of_squares_of_products(m: Maker):
    n, k = m.lengths(2)
    w, g = m.array((n, k)), m.array((n, m.one_of(2, 3)))
    p = m.values[g].shape[1]
    products = (
        w.dimshuffle("x", 0, 1) * g.T.dimshuffle(0, 1, "x")
        if m.chance()
        else m.array((p, n, k)) * w
    )
    return pt.sqr(products).sum(axis=m.one_of((1, 2), (0, 1), None))


@recipe(FAMILY, "local_sumsqr2dot")
def sums_of_squares_of_outer_products(m: Maker):
    w, g = m.array((3, 2)), m.array((4, 3))
    return pt.sqr(w.dimshuffle("x", 0, 1) * g.dimshuffle(0, 1, "x")).sum(
        m.one_of((1, 2), (1,), (0, 1))
    )


@recipe(FAMILY, "local_max_to_min")
def negated_maxima(m: Maker):
    x = m.array(
        m.lengths(2, (1, 2, 3)),
        ("float64", "float32", "int8", "int64", "uint8"),
        special=m.chance(),
    )
    axis = m.one_of(None, 0, 1)
    return [-pt.max(-x, axis=axis), pt.min(x, axis=axis), -pt.min(-x, axis=axis)]


@recipe(FAMILY, "local_argmax_pushdown")
def places_of_maxima(m: Maker):
    x = m.array(m.lengths(2, (1, 2, 3)), FLOATS[1:])
    work = m.one_of(pt.special.softmax, pt.exp, pt.log, pt.tanh, pt.special.log_softmax)
    y = work(x) if work in (pt.exp, pt.log, pt.tanh) else work(x, axis=m.one_of(0, 1, -1, None))
    return pt.argmax(y, axis=m.one_of(-1, 0, 1, None))


@recipe(FAMILY, "local_useless_topk")
def largest_numbers(m: Maker):
    x = m.array((m.one_of(2, 3),), REAL)
    from theano.tensor.sort import topk, topk_and_argtopk

    value, place = topk_and_argtopk(x, 2)
    return m.one_of([value], [place], [value, place], [topk(x, -1)])


@recipe(FAMILY, "local_log_prod_to_sum_log")
def logarithms_of_reductions(m: Maker):
    x = m.array(2, FLOATS[1:])
    axis = m.one_of(None, 0, 1)
    return [
        pt.log(pt.prod(abs(x), axis=axis)),
        pt.log(pt.prod(x, axis=axis)),
        pt.log(pt.prod(pt.exp(x), axis=axis)),
        pt.log(abs(pt.prod(x, axis=axis, dtype=m.one_of("float64", None)))),
    ]


@recipe(FAMILY, "local_opt_alloc", "local_careduce_of_alloc", "local_useless_alloc")
def reductions_of_repeated_values(m: Maker):
    value = m.one_of(
        m.scalar(TYPES), m.array((1, 3), TYPES, known=True), m.array((2, 1), TYPES, known=True)
    )
    n = m.scalar("int64", among=lambda shape: m.one_of(0, 1, 4))
    lengths = {(): (n, 3), (1, 3): (n, 3), (2, 1): (2, n)}[m.values[value].shape]
    if m.values[value].ndim and m.chance():
        lengths = (m.one_of(n, 2), *lengths)
    filled = pt.alloc(value, *lengths)
    axis = m.one_of(None, 0, 1, (0, 1), -1)
    return m.one_of(*REDUCTIONS)(filled, axis=axis)


@recipe(FAMILY, "local_sort_under_reduce")
def reductions_of_what_is_sorted(m: Maker):
    x = m.array(2, TYPES)
    axis = m.one_of(0, 1, -1)
    y = m.array((1, 1), TYPES, known=True)
    made = m.one_of(
        lambda: pt.sort(x, axis=axis),
        lambda: pt.sort(x, axis=axis) * y,
        lambda: pt.sort(x, axis=axis)[::-1] * 2,
        lambda: pt.sort(x, axis=axis)[:, ::-1] - y,
        lambda: pt.sort(x, axis=axis)[1:],
        lambda: pt.sort(x, axis=axis).T,
        lambda: pt.sort(x, axis=axis) * x,
    )()
    reduced = m.one_of(*REDUCTIONS)(made, axis=m.one_of(None, 0, 1))
    return m.one_of(lambda: reduced, lambda: [reduced, made])()
