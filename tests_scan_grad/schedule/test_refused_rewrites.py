"""Rewrites that run under a condition: a graph that each rewrites, and one that it leaves alone."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from pytensor.graph.fg import FunctionGraph

import theano.tensor as T
from theano.pytensor_base.graphs.kinds import is_a
from theano.pytensor_base.graphs.rewriting import NodeRewriter
from theano.pytensor_base.operations.tensor_rewrites import elemwise, math
from theano.schedule.rewrites.of_pytensor.instead import INSTEAD

x, y, k, b, z = (
    T.TensorType(dtype, (None,))(name)
    for name, dtype in (
        *(("x", "float64"), ("y", "float64"), ("k", "int8")),
        *(("b", "bool"), ("z", "complex128")),
    )
)
matrix, column, row = T.dmatrix("m"), T.dcol("c"), T.drow("r")
# constants that need no new axis
ONE, TWO = np.ones(1), np.full(1, 2.0)


@dataclass(frozen=True)
class Sides:
    """A rewrite, an expression that it rewrites, and one that it leaves as it is."""

    rewrite: NodeRewriter
    rewritten: Callable
    refused: Callable


SIDES = {
    "sum of booleans": Sides(math.local_add_canonizer, lambda: x + (x + y), lambda: b + (b + b)),
    "large integers": Sides(
        math.local_add_canonizer,
        lambda: (k + np.int64(3)) + np.int64(2),
        lambda: (k + np.int64(2**62 + 1)) + np.int64(2),
    ),
    "constants out of range": Sides(
        math.local_mul_canonizer,
        lambda: (x * 1e20) / (y / 1e20),
        lambda: (x * 1e200) / (y / 1e200),
    ),
    "absolute values": Sides(math.local_abs_lift, lambda: abs(x * y), lambda: abs(k * k)),
    "roots of squares": Sides(
        math.local_sqrt_sqr, lambda: T.sqrt(T.sqr(x)), lambda: T.sqrt(T.sqr(z))
    ),
    "sums of negatives": Sides(
        math.local_sum_of_neg_to_neg_of_sum, lambda: (-x).sum(), lambda: (-k).sum()
    ),
    "factors of sums": Sides(
        math.local_sum_prod_of_mul_or_div, lambda: (x * TWO).sum(), lambda: (x * (1 / TWO)).sum()
    ),
    "quotients by one": Sides(math.local_div_by_one, lambda: x / ONE, lambda: x // ONE),
    "new axes": Sides(
        elemwise.local_dimshuffle_lift,
        lambda: T.exp(x + y)[:, None] * matrix,
        lambda: T.dot(matrix, T.exp(x + y)[:, None]),
    ),
    "products of one column": Sides(
        math.local_dot_to_mul, lambda: T.dot(column, row), lambda: T.dot(column, matrix)
    ),
    "sums of sums": Sides(
        math.local_reduce_chain,
        lambda: matrix.sum(axis=0).sum(),
        lambda: T.cast(matrix, "int8").sum(axis=0, dtype="int8").sum(),
    ),
}


def is_rewritten(rewrite, expression):
    graph = FunctionGraph(outputs=[expression], clone=True)
    made = INSTEAD[rewrite]
    tracked = [t for t in made.tracks() or ()]
    nodes = [
        node
        for node in graph.apply_nodes
        if any(is_a(node.op, t) if isinstance(t, type) else node.op == t for t in tracked)
    ]
    assert nodes
    return any(made.transform(graph, node) for node in nodes)


@pytest.mark.parametrize("name", SIDES)
def test_a_rewrite_runs_where_it_is_right_and_is_refused_elsewhere(name):
    sides = SIDES[name]
    assert is_rewritten(sides.rewrite, sides.rewritten())
    assert not is_rewritten(sides.rewrite, sides.refused())


def test_casts_are_explicit_only_while_rewrites_run():
    import theano

    w, counts = T.dscalar("w"), T.bvector("counts")
    f = theano.function([w, counts], w * counts + counts)
    names = [str(node.op) for node in f.maker.fgraph.apply_nodes]
    assert not [name for name in names if "Cast" in name], names
    np.testing.assert_allclose(f(0.5, np.array([2, -3], "int8")), [3, -4.5])
