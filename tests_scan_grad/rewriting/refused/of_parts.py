"""Both sides of the conditions of reads and writes of parts of arrays, and of their shapes."""

from __future__ import annotations

import numpy as np
from pytensor.tensor.basic import join
from pytensor.tensor.shape import specify_shape

import theano.tensor as T
from tests_scan_grad.rewriting.refused.sides import Sides, given
from theano import scalar
from theano.pytensor_internals.operations.tensor_rewrites import (
    basic,
    shape,
    subtensor,
    subtensor_lift,
)
from theano.tensor.elemwise import CAReduce

x, y = given([0.5, -2.0, 3.0], name="x"), given([4.0, 1e-3], name="y")
matrix = given(np.arange(6.0).reshape(2, 3), name="matrix")
# lengths that types give
told = given(np.arange(6.0).reshape(2, 3), shape=(2, 3), name="told")
ten = given(np.arange(10.0), shape=(10,), name="ten")
row = given([[1.5, -2.0, 3.0]], shape=(1, None), name="row")
empty = given(np.zeros((0, 3)), name="empty")
n = given(2, "int64", name="n")
far = given(7, "int64", name="far")


def narrow(number: int, dtype: str = "int8"):
    """Return a constant of eight bits."""
    return scalar.constant(np.array(number, dtype))


READS = {
    "rows by number that are there": Sides(
        subtensor.local_adv_idx_to_slice, lambda: told[[0, 1]], lambda: told[[1, 2]]
    ),
    "rows by number in reverse, and all rows": Sides(
        subtensor.local_adv_idx_to_slice, lambda: told[[1, 0]], lambda: matrix[[0, 1, 2]]
    ),
    "rows by the numbers of all rows": Sides(
        subtensor.local_adv_idx_to_slice,
        lambda: matrix[T.arange(matrix.shape[0])],
        lambda: matrix[T.arange(x.shape[0])],
    ),
    "one of many filled": Sides(
        subtensor_lift.local_subtensor_of_alloc,
        lambda: T.alloc(x, 3, x.shape[0])[-1],
        lambda: T.alloc(x, n, x.shape[0])[far],
    ),
    "an element of what is filled": Sides(
        subtensor_lift.local_subtensor_of_alloc,
        lambda: T.alloc(x, n, x.shape[0])[:, n],
        lambda: T.alloc(x, 3, x.shape[0])[3],
    ),
    "a row of a sum with a row": Sides(
        subtensor_lift.local_subtensor_of_batch_dims,
        lambda: (matrix + row)[far],
        lambda: (T.exp(row) + row)[far],
    ),
    "a place in a new axis": Sides(
        subtensor_lift.local_subtensor_of_expand_dims,
        lambda: x[None][0],
        lambda: x[None][far],
    ),
    "a place in an axis of length one that is not new": Sides(
        subtensor_lift.local_subtensor_of_expand_dims,
        lambda: row.dimshuffle(0, "x", 1)[far, 0],
        lambda: row.dimshuffle(0, "x", 1)[0, far],
    ),
    "a row of what was told its shape": Sides(
        subtensor_lift.local_subtensor_SpecifyShape_lift,
        lambda: specify_shape(matrix, (None, 3))[0],
        lambda: specify_shape(matrix, (2, None))[0],
    ),
    "parts of parts": Sides(
        subtensor.local_subtensor_merge_slice,
        lambda: ten[1:9][2:4],
        lambda: given(np.arange(1002.0), shape=(1002,))[1:1001][narrow(0)],
    ),
    "an element of a part": Sides(
        subtensor.local_subtensor_merge_integer,
        lambda: ten[1:9][2],
        lambda: given(np.arange(1002.0), shape=(1002,))[narrow(100) :][narrow(100)],
    ),
    "parts up to a length": Sides(
        subtensor.local_useless_subtensor,
        lambda: ten[: narrow(10, "uint8")],
        lambda: x[: given(2, "uint8")],
    ),
    "joined parts": Sides(
        subtensor.local_join_subtensors,
        lambda: join(0, ten[1:-1], ten[-1:10]),
        lambda: join(0, ten[2:1], ten[1:3]),
    ),
    "joined parts along with others": Sides(
        subtensor.local_join_subtensors,
        lambda: join(0, x[n:n], ten[1:2], ten[2:5]),
        lambda: join(0, ten[4:n], ten[n:3]),
    ),
    "parts of sums": Sides(
        subtensor_lift.local_subtensor_of_reduce,
        lambda: matrix.sum(axis=0)[1:],
        lambda: CAReduce(T.bitwise_or.scalar_op, axis=(0,))(given([[1, 6], [3, 0]], "int8"))[1],
    ),
    "parts of sums of their own dtype": Sides(
        subtensor_lift.local_subtensor_of_reduce,
        lambda: matrix.sum(axis=0)[-1],
        lambda: given([[1, 100], [3, 100]], "int8").sum(axis=0, dtype="int8")[1:],
        otherwise=True,
    ),
}

WRITES = {
    "a write to all places": Sides(
        subtensor.local_useless_inc_subtensor,
        lambda: T.set_subtensor(x[:], T.exp(x)),
        lambda: T.set_subtensor(x[:], y),
        # an assertion is made first, which others remove
        wrong=False,
    ),
    "a write up to the length": Sides(
        subtensor.local_useless_slice,
        lambda: T.set_subtensor(x[0 : x.shape[0]], T.exp(x)),
        lambda: T.set_subtensor(x[0 : x.shape[0]], y),
        wrong=False,
    ),
    "nothing is added": Sides(
        subtensor.local_incsubtensor_of_zeros,
        lambda: T.inc_subtensor(told[1], 0.0),
        lambda: T.inc_subtensor(matrix[far], 0.0),
    ),
    "nothing is added to rows by number": Sides(
        subtensor.local_incsubtensor_of_zeros,
        lambda: T.inc_subtensor(matrix[:, n:], 0.0),
        lambda: T.inc_subtensor(told[2], 0.0),
    ),
    "two writes": Sides(
        subtensor.local_write_of_write_same_indices,
        lambda: T.inc_subtensor(T.inc_subtensor(x[1:], y)[1:], given([1, 2], "int8")),
        lambda: T.inc_subtensor(
            T.set_subtensor(given([0, 0], "int64")[0], given(100, "int8"))[0], given(100, "int8")
        ),
    ),
    "increments that others read": Sides(
        subtensor.local_write_of_write_same_indices,
        lambda: T.inc_subtensor(T.inc_subtensor(x[1:], y)[1:], given([1, 2], "int8")),
        lambda: [T.exp(before := T.inc_subtensor(x[1:], y)), T.inc_subtensor(before[1:], y)],
        # both are made
        wrong=False,
    ),
    "what is set after a write of another dtype": Sides(
        subtensor.local_write_of_write_same_indices,
        lambda: T.set_subtensor(
            T.inc_subtensor(given([0, 0], "int64")[0], given(100, "int8"))[0], given(100, "int8")
        ),
        lambda: T.inc_subtensor(
            T.inc_subtensor(given([0, 0], "int64")[0], given(100, "int8"))[0], given(100, "int8")
        ),
    ),
    "rows that are filled": Sides(
        subtensor.local_useless_inc_subtensor_alloc,
        lambda: T.inc_subtensor(x[1:], T.alloc(1.0, x[1:].shape[0])),
        lambda: T.inc_subtensor(x[1:], T.alloc(1.0, n + 5)),
        otherwise=True,
    ),
}

SHAPES = {
    "arrays filled with filled arrays": Sides(
        basic.local_merge_alloc,
        lambda: T.alloc(T.alloc(1.0, n, 1), n, 3),
        lambda: T.alloc(T.alloc(1.0, n), 2, far),
        otherwise=True,
    ),
    "filled arrays among operands": Sides(
        basic.local_elemwise_alloc,
        lambda: x * T.alloc(2.0, x.shape[0]),
        lambda: x * T.alloc(2.0, far),
    ),
    "arrays of their own shape": Sides(
        shape.local_useless_reshape,
        lambda: matrix.reshape(matrix.shape),
        lambda: empty.reshape((empty.shape[0], n)),
    ),
    "shapes that are told twice": Sides(
        shape.local_merge_consecutive_specify_shape,
        lambda: specify_shape(specify_shape(matrix, (2, None)), (None, 3)),
        lambda: specify_shape(specify_shape(matrix, (1, 3)), (1, 2)),
    ),
}

OF_PARTS = {**READS, **WRITES, **SHAPES}
