"""Shapes: read, told, and changed."""

import pytensor.tensor as pt

from tests_scan_grad.rewrites.making import ANY, Maker, recipe

FAMILY = "shapes"


@recipe(
    FAMILY,
    "local_shape_to_shape_i",
    "local_Shape_i_ground",
    "local_track_shape_i",
    "local_Shape_of_SpecifyShape",
)
def shapes_of_results(m: Maker):
    x = m.array(2, ("float64", "int8"))
    y = m.beside(x, "float64")
    n, k = m.values[x].shape
    results = [
        x,
        x + y,
        x.T,
        x.sum(0),
        x[m.part(n)],
        pt.dot(x, y.T if m.values[y].shape[1] == k else x.T),
        x.reshape((-1,)),
        pt.join(0, x, x),
        pt.alloc(x, 2, n, k),
        pt.specify_shape(x, (n, None)),
        pt.specify_shape(x, (None, m.one_of(k, k + 1))),
        pt.repeat(x, 2, axis=0),
        pt.nonzero(x)[0],
        pt.second(x, 0),
        x[None],
        pt.tile(x, (2, 1)),
    ]
    result = m.one_of(*results)
    return [
        result.shape,
        *m.one_of(
            [],
            [result],
            [result.shape[0] * 2],
            [pt.shape_i(result, 0)] if hasattr(pt, "shape_i") else [],
        ),
    ]


@recipe(
    FAMILY,
    "local_Shape_of_SpecifyShape",
    "local_useless_specify_shape",
    "local_merge_consecutive_specify_shape",
)
def told_shapes(m: Maker):
    n, k = m.lengths(2)
    x = m.array((n, k), ANY)
    right, wrong = (n, None), (None, m.one_of(k, k + 1))
    once = pt.specify_shape(x, m.one_of(right, right, wrong))
    return m.one_of(
        lambda: once.shape,
        lambda: pt.specify_shape(once, (None, k)),
        lambda: pt.specify_shape(x, (n, k)),
        lambda: once.shape[1],
        lambda: pt.specify_shape(pt.specify_shape(x, (None, k)), wrong),
    )()


@recipe(FAMILY, "local_lift_specify_shape_elemwise")
def told_shapes_of_work(m: Maker):
    n, k = m.lengths(2)
    x = m.array((n, k), ("float64", "int8"))
    y = m.beside(x)
    work = m.one_of(lambda: pt.exp(x), lambda: x + y, lambda: y * y, lambda: pt.switch(x, y, 0))()
    return pt.specify_shape(work, m.one_of((n, k), (None, k), (n, None), (n + 1, k)))


@recipe(FAMILY, "local_lift_specify_shape_inc_subtensor")
def told_shapes_of_written_and_filled_arrays(m: Maker):
    n, k = 2, m.one_of(1, 3)
    x = m.array((n, k), ("float64", "int8"))
    told = m.one_of((n, k), (None, k), (n, None), (n + 1, k))
    length = m.one_of(n, m.scalar("int64", among=lambda s: n))
    return m.one_of(
        lambda: pt.specify_shape(pt.set_subtensor(x[0], 1), told),
        lambda: pt.specify_shape(pt.inc_subtensor(x[:, 0], 1), told),
        lambda: pt.specify_shape(pt.alloc(m.scalar(), length, k), told),
        lambda: pt.specify_shape(pt.inc_subtensor(x[[0, 1]], 1), told),
    )()


def target(m: Maker, shape):
    """Other lengths of as many elements."""
    size = 1
    for n in shape:
        size *= n
    options = [
        (size,),
        (-1,),
        (1, size),
        (size, 1),
        (1, -1, 1),
        tuple(shape),
        (*shape[::-1],),
        (-1, shape[-1]) if shape[-1] else (size,),
    ]
    if size == 4:
        options += [(2, 2), (2, -1), (1, 2, 1, 2)]
    if size == 6:
        options += [(2, 3), (-1, 2), (3, 1, 2)]
    return list(m.one_of(*options))


@recipe(FAMILY, "local_useless_reshape", "local_reshape_chain", "local_reshape_to_dimshuffle")
def reshapes(m: Maker):
    x = m.array(2, ANY)
    shape = m.values[x].shape
    lengths = [
        m.one_of(n, m.scalar("int64", among=lambda s, n=n: n)) if m.chance(0.3) else n
        for n in target(m, shape)
    ]
    once = x.reshape(lengths)
    return m.one_of(
        lambda: once,
        lambda: once.reshape(target(m, shape)),
        lambda: x.reshape((x.shape[0], x.shape[1])),
        lambda: x.reshape((x.shape[0], -1)),
        lambda: x.reshape(x.shape),
        lambda: x.reshape((-1, x.shape[1])) if shape[1] else x,
        lambda: x.T.reshape((x.shape[1], x.shape[0])),
        lambda: x.reshape((x.shape[1], x.shape[0])),
        lambda: x.reshape((1, x.shape[0], 1, x.shape[1])),
        lambda: x[0:1].reshape((-1,)),
        lambda: x.reshape(pt.stack([x.shape[0], 1, x.shape[1]])),
    )()


@recipe(
    FAMILY,
    "local_reshape_lift",
    "local_useless_expand_dims_in_reshape",
    "local_reshape_dimshuffle",
    "local_fuse_expand_dims_reshape",
    "local_fuse_squeeze_reshape",
)
def reshapes_of_other_work(m: Maker):
    x = m.array(2, ("float64", "float32", "int8"))
    shape = m.values[x].shape
    row = m.array((1, shape[1]), known=[True, m.chance()])
    lengths = target(m, shape)
    return m.one_of(
        lambda: pt.exp(x).reshape(lengths),
        lambda: pt.cast(x, "int8").reshape(lengths),
        lambda: x[None].reshape(lengths),
        lambda: x.dimshuffle(0, "x", 1).reshape(lengths),
        lambda: row.squeeze(0).reshape(target(m, (1, shape[1]))),
        lambda: row.dimshuffle(1).reshape((-1, 1)),
        lambda: x.reshape(lengths).dimshuffle("x", *range(len(lengths))),
        lambda: x.reshape(lengths)[..., None],
        lambda: x.dimshuffle(1, "x", 0).reshape(lengths),
        lambda: x.T.reshape(lengths),
        lambda: pt.log(pt.sigmoid(x).reshape(lengths)),
        lambda: (row * 2).squeeze(0).reshape((1, -1))[None],
        lambda: x.reshape((1, *shape)).squeeze(0),
    )()


@recipe(FAMILY, "local_split_dims", "local_join_dims")
def axes_joined_and_split(m: Maker):
    from pytensor.tensor.reshape import join_dims, split_dims

    x = m.array((*m.lengths(1), 6 if m.chance() else 2), ANY)
    last = m.values[x].shape[1]
    y = m.array(3, ANY)
    return [
        split_dims(x, m.one_of((2, last // 2), (1, last), (last,)), axis=1),
        join_dims(y, m.one_of(0, 1), m.one_of(1, 2)),
        join_dims(y[:1, :1], 0, 2),
    ]


@recipe(FAMILY, "remember_lengths")
def lengths_of_loops_operands(m: Maker):
    x = m.array(2)
    return [x.shape[0] + pt.exp(x).shape[0], x.shape.prod(), pt.arange(x.shape[0])]


@recipe(FAMILY, "views_last")
def functions_of_views_of_computed_arrays(m: Maker):
    n, k = m.lengths(2)
    x = m.array((n, k), ("float64", "float32", "int8"))
    made = m.one_of(x + 1, pt.exp(x), x * x, x)
    view = m.one_of(
        lambda: made.reshape((n * k,)),
        lambda: made.reshape((k, n)).T,
        lambda: made.T.reshape((-1, 1)),
        lambda: made.T[None],
        lambda: made.reshape((1, n, k)).dimshuffle(2, 1, "x", 0),
    )()
    function = m.one_of(pt.tanh, pt.sqr, pt.neg, lambda x: pt.cast(x, "float64"), abs)
    return m.one_of(
        lambda: function(view),
        lambda: pt.exp(function(view)),
        lambda: [function(view), function(made), view],
        lambda: function(view) + view,
    )()
