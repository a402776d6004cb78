"""Defects of the PyTensor rewrites that no mode runs, each shown by itself on a graph."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from pytensor.compile.mode import optdb
from pytensor.tensor import linalg, repeat, unique
from pytensor.tensor.random import normal
from pytensor.tensor.random.type import random_generator_type
from pytensor.tensor.shape import specify_shape

import theano.tensor as T
from tests_scan_grad.rewrites.compare import difference, scale_of
from tests_scan_grad.rewrites.interpret import Interpreter
from tests_scan_grad.rewriting.refused.sides import given, made
from theano.pytensor_internals.graphs.rewriting import (
    GraphRewriter,
    names_in,
    nested_databases,
    out2in,
)
from theano.pytensor_internals.operations.tensor_rewrites import ShapeOptimizer
from theano.rewriting.arranged import arranged
from theano.rewriting.rewrites.of_pytensor.left_out import FROM_EVERY_MODE, WRONG_REWRITES

x = given([1.0, 2.0], name="x")
matrix = given(np.arange(6.0).reshape(3, 2), name="matrix")
singular = given([[1.0, 2.0], [2.0, 4.0]], name="singular")
none, far = given(0, "int64", name="none"), given(7, "int64", name="far")
places = given([0, 1], "int64", name="places")


@dataclass(frozen=True)
class LeftOut:
    """A rewrite, and a program that it changes for the worse."""

    name: str
    program: Callable[[], Any]


def second_draw():
    """Return numbers drawn after others, which nobody reads."""
    generator = random_generator_type("generator")
    generator.tag.given = np.random.default_rng(1)
    after_one, _ = normal(0, 1, rng=generator).owner.outputs
    return normal(0, 1, rng=after_one)


def product_of_three():
    """Return a product whose factors are only in another order out of range."""
    small, large = (given(np.eye(3) * size, "float32", (3, 3)) for size in (1e-30, 1e30))
    return T.dot(T.dot(small, large), given(np.full((3, 1), 1e30), "float32", (3, 1)))


LEFT_OUT = [
    LeftOut(
        "extract_diag_lift_pass",
        lambda: T.diagonal(given(np.arange(12.0).reshape(2, 2, 3)) + 1, axis1=0, axis2=1),
    ),
    LeftOut("local_Unique_lift", lambda: unique(T.alloc(x, none, 2))),
    LeftOut("local_Unique_Alloc_lift", lambda: unique(T.alloc(x, none, 2))),
    LeftOut("local_Unique_Repeat_lift", lambda: unique(repeat(x, given([0, 0], "int64"), axis=0))),
    LeftOut("local_Unique_second", lambda: unique(T.fill(given(np.zeros((0, 2))), x))),
    LeftOut(
        "local_slice_read_of_write",
        lambda: T.inc_subtensor(given([1.0, 2.0, 3.0, 4.0])[[2, 3]], 0.5)[3:5],
    ),
    LeftOut("local_specify_shape_alloc", lambda: specify_shape(T.alloc(2.0, far), (3,))),
    LeftOut("sidestep_unused_rng_consumer", second_draw),
    LeftOut("useless_Arccosh_of_Cosh", lambda: T.arccosh(T.cosh(given([-1.0, 2.0])))),
    LeftOut("reassociate_matmul_chain", product_of_three),
    LeftOut("solve_of_inv_to_matmul", lambda: linalg.solve(linalg.inv(singular), matrix.T)),
    LeftOut("det_of_inv", lambda: linalg.det(linalg.inv(singular))),
    LeftOut(
        "local_AdvancedIncSubtensor_to_AdvancedIncSubtensor1",
        lambda: T.inc_subtensor(matrix[places], given([[1.0, 2.0]])),
    ),
    LeftOut(
        "local_subtensor_merge_integer",
        # there is no element of the part
        lambda: given(np.arange(4.0))[1 : none + 3][far - 5],
    ),
]

# What these do is done by others. That states which begin alike are not taken to be equal is tested
# in loop_rewrites/test_equal_results.py.
NOT_WRONG = set(FROM_EVERY_MODE) - {*WRONG_REWRITES, "local_subtensor_merge_integer"}


def named(name):
    """Return a rewrite of a name; None if this release has none."""
    for database in nested_databases(optdb):
        if name in names_in(database):
            return next(iter(database.__db__[name]))
    return None


def faults(rewriter, program):
    """Return in what results differ after a rewrite, for each result that does."""
    graph, at = made(program.program()).graph()
    arranged(ShapeOptimizer()).apply(graph)
    before = [at.value(v) for v in graph.outputs]
    of_graph = rewriter if isinstance(rewriter, GraphRewriter) else out2in(rewriter)
    of_graph.rewrite(graph)
    # nodes that read something else compute their results again
    again = Interpreter({v: at.value(v) for v in graph.inputs})
    after = [again.value(v) for v in graph.outputs]
    scale = scale_of(list(at.values.values()))
    kinds = [difference(old, new, scale) for old, new in zip(before, after, strict=True)]
    return [kind for kind in kinds if kind]


def test_each_rewrite_that_is_left_out_as_wrong_has_a_program():
    assert {each.name for each in LEFT_OUT} == set(FROM_EVERY_MODE) - NOT_WRONG


@pytest.mark.parametrize("program", LEFT_OUT, ids=lambda each: each.name)
def test_a_rewrite_that_is_left_out_is_wrong(program):
    rewriter = named(program.name)
    if rewriter is None:
        pytest.skip("not in this release of PyTensor")
    assert faults(rewriter, program)
