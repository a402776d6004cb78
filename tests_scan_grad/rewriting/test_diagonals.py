"""Diagonals are computed without what is not on the diagonal."""

import numpy as np
import pytest
from pytensor.tensor.basic import ExtractDiag
from pytensor.tensor.extra_ops import FillDiagonal, FillDiagonalOffset
from pytensor.tensor.math import Dot

import theano
import theano.tensor as T
from theano.tensor.blas import Dot22

A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)


def operations(fn, kinds):
    return [node for node in fn.maker.fgraph.apply_nodes if isinstance(node.op, kinds)]


@pytest.mark.parametrize("given", [(A, B), (B.T, A.T), (A, A.T)], ids=["wide", "high", "square"])
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "XLA"])
def test_the_diagonal_of_a_product_needs_no_product(given, mode):
    x, y = T.dmatrices("x", "y")
    fn = theano.function([x, y], T.diag(T.dot(x, y)), mode=mode)
    np.testing.assert_allclose(fn(*given), np.diag(given[0] @ given[1]))
    if mode == "FAST_RUN":
        assert not operations(fn, (Dot, Dot22, ExtractDiag))
    with pytest.raises(ValueError):
        fn(A, A)


def test_a_trace_of_a_product_needs_no_product():
    x, y = T.dmatrices("x", "y")
    fn = theano.function([x, y], T.nlinalg.trace(T.dot(x, y)))
    assert not operations(fn, (Dot, Dot22))
    np.testing.assert_allclose(fn(A, A.T), np.trace(A @ A.T))


def test_a_length_of_one_is_not_repeated():
    x, y = T.dcol("x"), T.dmatrix("y")
    fn = theano.function([x, y], T.diag(T.dot(x, y)))
    np.testing.assert_allclose(fn(np.ones((2, 1)), np.ones((1, 2))), np.ones(2))
    with pytest.raises(ValueError):
        fn(np.ones((2, 1)), np.ones((3, 2)))


def test_work_is_done_on_the_diagonal_only():
    x, s = T.dmatrix("x"), T.dscalar("s")
    fn = theano.function([x, s], T.diag(T.exp(x) * s))
    (read,) = operations(fn, ExtractDiag)
    assert read.inputs[0] is fn.maker.fgraph.inputs[0]
    np.testing.assert_allclose(fn(B, 0.5), 0.5 * np.diag(np.exp(B)))


def test_the_diagonal_of_a_diagonal_matrix_is_its_vector():
    v = T.dvector("v")
    fn = theano.function([v], T.exp(T.diag(T.diag(v))))
    assert not operations(fn, ExtractDiag)
    np.testing.assert_allclose(fn([1.0, 2.0]), np.exp([1.0, 2.0]))


@pytest.mark.parametrize("axes", [(0, 1), (0, 2), (1, 2), (2, 1)])
def test_diagonals_of_stacks_are_those_of_numpy(axes):
    x = T.dtensor3("x")
    value = np.arange(24.0).reshape(2, 3, 4)
    fn = theano.function([x], T.diagonal(T.sqr(x) + 1, offset=1, axis1=axes[0], axis2=axes[1]))
    np.testing.assert_allclose(fn(value), np.diagonal(value**2 + 1, 1, *axes))


def test_a_product_that_is_read_is_computed_once():
    x, y = T.dmatrices("x", "y")
    product = T.dot(x, y)
    fn = theano.function([x, y], [T.diag(product), product])
    assert len(operations(fn, (Dot, Dot22))) == 1
    np.testing.assert_allclose(fn(A, B)[0], np.diag(A @ B))


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (0, 2), (1, 1)])
@pytest.mark.parametrize("offset", [0, 1, -1, 3])
def test_filled_diagonals_are_choices(shape, offset):
    x, v = T.dmatrix("x"), T.dscalar("v")
    filled = T.fill_diagonal_offset(x, v, offset) if offset else T.fill_diagonal(x, v)
    f = theano.function([x, v], [filled, *theano.grad((filled**2).sum(), [x, v])])
    value = np.random.default_rng(1).normal(size=shape)
    on = np.arange(shape[1]) - np.arange(shape[0])[:, None] == offset
    expected = np.where(on, 2.5, value)
    found = f(value, 2.5)
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_allclose(found[1], np.where(on, 0, 2 * expected))
    np.testing.assert_allclose(found[2], 5.0 * on.sum())
    assert not operations(f, (FillDiagonal, FillDiagonalOffset))
