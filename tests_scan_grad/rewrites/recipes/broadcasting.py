"""Filled, joined and split arrays, and axes that are moved, added or dropped."""

import numpy as np
import pytensor.tensor as pt

from tests_scan_grad.rewrites.making import ANY, REAL, Maker, recipe

FAMILY = "filled, joined and transposed arrays"


def length(m: Maker, n: int, like=None):
    """A length: a number, an input or that of an array."""
    choices = [n, m.scalar("int64", among=lambda s: n)]
    if like is not None:
        choices += [like.shape[a] for a, k in enumerate(m.values[like].shape) if k == n]
    return m.one_of(*choices)


@recipe(FAMILY, "local_useless_alloc", "local_merge_alloc", "local_alloc_sink_dimshuffle")
def filled_arrays(m: Maker):
    n, k = m.lengths(2)
    x = m.array((m.one_of(1, n), m.one_of(1, k)), ANY, known=True)
    y = m.array((n, k), ANY)
    filled = pt.alloc(x, length(m, n, y), length(m, k, y))
    return m.one_of(
        lambda: filled,
        lambda: pt.alloc(filled, 2, length(m, n), k),
        lambda: pt.alloc(y, n, k),
        lambda: pt.alloc(y, length(m, n, y), length(m, k, y)),
        lambda: pt.alloc(y.dimshuffle("x", 0, 1), 1, n, k),
        lambda: pt.alloc(x.dimshuffle("x", 0, 1), 1, length(m, n), k),
        lambda: pt.alloc(x.dimshuffle(0, "x", 1), n, 2, k),
        lambda: pt.alloc(pt.alloc(x, length(m, n), k), length(m, n), k),
    )()


@recipe(FAMILY, "local_useless_alloc", "local_merge_alloc")
def filled_twice(m: Maker):
    n = m.one_of(1, 2)
    x = m.array((m.one_of(1, 3),), ANY, known=True)
    once = pt.alloc(x, length(m, n), 3)
    return (
        pt.alloc(once, m.one_of(n, length(m, n)), 3)
        if n > 1
        else pt.alloc(pt.alloc(x, 1, 3), m.one_of(2, length(m, 2)), 3)
    )


@recipe(FAMILY, "local_elemwise_alloc", "local_alloc_unary")
def work_on_filled_arrays(m: Maker):
    n, k = m.lengths(2)
    y = m.array((n, k), ("float64", "int8"))
    x = m.array((m.one_of(1, k),), ("float64", "int8"), known=True)
    filled = pt.alloc(x, length(m, n, y), length(m, k, y))
    other = pt.alloc(m.scalar(("float64", "int8")), length(m, n, y), length(m, k))
    return m.one_of(
        lambda: pt.exp(filled),
        lambda: filled + y,
        lambda: filled * other,
        lambda: other + 1,
        lambda: pt.switch(filled > 0, y, other),
        lambda: filled.dimshuffle("x", 0, 1) + y,
        lambda: (filled + other) * y,
        lambda: filled.T + y.T,
        lambda: -filled,
    )()


@recipe(FAMILY, "local_elemwise_alloc")
def filled_arrays_with_others_of_another_length(m: Maker):
    n = m.one_of(1, 2, 3)
    y = m.array((n, 2), ("float64",), known=[False, False])
    filled = pt.alloc(m.scalar(), length(m, m.one_of(n, n, 1, n + 1)), 2)
    return m.one_of(filled + y, y * filled + filled, pt.maximum(filled, y))


@recipe(FAMILY, "local_dimshuffle_alloc", "local_alloc_dimshuffle", "local_alloc_sink_dimshuffle")
def transposed_filled_arrays(m: Maker):
    n, k = m.lengths(2)
    x = m.array((k,), ANY)
    filled = pt.alloc(x, length(m, n), k)
    return m.one_of(
        filled.T,
        filled[None],
        filled.dimshuffle(0, "x", 1),
        filled.dimshuffle("x", 1, 0),
        pt.alloc(x, 1, k).dimshuffle(1),
        pt.alloc(x, 1, k)[None],
    )


@recipe(FAMILY, "local_dimshuffle_lift", "local_useless_dimshuffle_makevector")
def axes_moved(m: Maker):
    x = m.array((*m.lengths(2), 1), ANY, known=[m.chance(), m.chance(), True])
    y = m.array((1, *m.values[x].shape[1:]), REAL, known=[True, m.chance(), True])
    orders = [(1, 0, 2), ("x", 0, 1, 2), (0, 1), (1, 0), (1, "x", 0, 2), (2, "x", 1, 0), (0, 1, 2)]
    first = m.one_of(*orders)
    moved = x.dimshuffle(first)
    back = [m.one_of("x", a) if a == "x" else a for a in range(moved.ndim)]
    return m.one_of(
        lambda: moved.dimshuffle(back[::-1]),
        lambda: (x + y).dimshuffle(first) if x.type.dtype[0] != "c" else moved,
        lambda: pt.exp(y).dimshuffle(m.one_of((1,), (1, "x"), ("x", 0, 1, 2))),
        lambda: moved.T,
        lambda: pt.stack([m.scalar()]).dimshuffle(()),
        lambda: moved.dimshuffle(0, "x", *range(1, moved.ndim)),
    )()


@recipe(FAMILY, "local_join_1", "local_join_empty", "local_join_make_vector")
def joined_arrays(m: Maker):
    k = m.one_of(0, 1, 2)
    types = ("float64", "float32", "int64", "int8", "bool")
    x, y = (m.array((m.one_of(0, 0, 1, 2), k), types) for _ in range(2))
    empty = pt.constant(np.zeros((0, k), m.dtype(types)))
    vector = m.array(1, types)
    return m.one_of(
        lambda: pt.join(0, x),
        lambda: pt.join(0, x, empty),
        lambda: pt.join(0, empty, x, y),
        lambda: pt.join(0, x, y, x),
        lambda: pt.join(1, x),
        lambda: pt.join(0, pt.stack([1, 2]), pt.stack([m.scalar(types)]), vector),
        lambda: pt.join(0, pt.stack([m.scalar(types)]), pt.stack([m.scalar(types), 2])),
        lambda: pt.join(0, empty, empty),
        lambda: pt.join(-1, x, pt.constant(np.zeros((m.values[x].shape[0], 0)))),
        lambda: pt.join(0, np.zeros(0, "int8"), vector),
    )()


@recipe(FAMILY, "local_join_to_repeat", "local_join_of_alloc")
def joined_copies(m: Maker):
    x = m.array((m.one_of(0, 1, 2), m.one_of(1, 2)), ANY)
    axis = m.one_of(0, 1, -1)
    return pt.join(axis, *[x] * m.one_of(2, 3))


@recipe(FAMILY, "local_join_of_alloc", "local_join_1")
def joined_filled_arrays(m: Maker):
    n, k = m.lengths(2)
    types = ("float64", "float32", "int8")
    rows = [
        pt.alloc(m.array((m.one_of(1, k),), types, known=True), length(m, n), k) for _ in range(2)
    ]
    scalars = [
        pt.alloc(m.one_of(pt.constant(np.float32(0)), m.scalar(types)), length(m, a), k)
        for a in (n, 2)
    ]
    x = m.array((n, k), types)
    return m.one_of(
        pt.join(0, *rows),
        pt.join(1, *rows),
        pt.join(0, *scalars),
        pt.join(0, scalars[1], x),
        pt.join(1, rows[0], x),
        pt.join(0, rows[0], pt.alloc(m.scalar(), 1, k)),
    )


@recipe(FAMILY, "local_useless_split")
def split_arrays(m: Maker):
    x = m.array((3, 2), ANY)
    return m.one_of(
        lambda: pt.split(x, [3], axis=0),
        lambda: pt.split(x, [1, 2], axis=0),
        lambda: pt.split(x, pt.stack([x.shape[0]]), axis=0),
        lambda: pt.split(x, [m.scalar("int64", among=lambda s: m.one_of(3, 2))], axis=0),
        lambda: pt.split(x, [2], axis=1),
    )()


@recipe(
    FAMILY,
    "local_Unique_scalar",
)
def different_numbers(m: Maker):
    x = m.array(1, REAL)
    # PyTensor repeats none of uint64
    repeated = x.astype("int64") if x.type.dtype == "uint64" else x
    n = m.scalar("int64", among=lambda s: m.one_of(0, 1, 3))
    return m.one_of(
        lambda: pt.unique(m.scalar(REAL)),
        lambda: pt.unique(pt.alloc(x, m.one_of(n, 2), m.values[x].shape[0])),
        lambda: pt.unique(pt.repeat(repeated, m.one_of(n, 2))),
        lambda: pt.unique(pt.second(x, m.scalar(REAL))),
        lambda: pt.unique(pt.alloc(m.scalar(REAL), n)),
        lambda: pt.unique(pt.second(x, 3)),
        lambda: pt.unique(pt.repeat(repeated[None], 2, axis=0)),
    )()
