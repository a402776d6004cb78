"""Exponentials after the maximum was subtracted by hand: it is not subtracted again."""

import numpy as np
import pytest
from pytensor.scalar.basic import scalar_maximum as maximum
from pytensor.tensor.elemwise import CAReduce

import theano
import theano.tensor as T

Z = np.array([[1.0, 800, -2], [3, 700, -1000], [0, 0, -np.inf]])


def exponentials(x, axis, keepdims=True):
    return T.exp(x - x.max(axis, keepdims=keepdims))


def by_hand(x, axis):
    return T.log(exponentials(x, axis).sum(axis)) + x.max(axis)


def maxima(function):
    return [
        node
        for node in function.maker.fgraph.toposort()
        if isinstance(node.op, CAReduce) and node.op.scalar_op == maximum
    ]


@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_a_sum_of_exponentials_has_one_maximum(axis):
    x = T.dmatrix("x")
    function = theano.function([x], by_hand(x, axis))
    assert len(maxima(function)) == 1
    np.testing.assert_allclose(function(Z), np.logaddexp.reduce(Z, axis=axis), rtol=1e-12)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_softmax_by_hand_is_the_operator_alone(axis):
    x = T.dmatrix("x")
    raised = exponentials(x, axis)
    function = theano.function([x], raised / raised.sum(axis, keepdims=True))
    assert len(function.maker.fgraph.apply_nodes) == 1
    expected = np.exp(Z - np.logaddexp.reduce(Z, axis=axis, keepdims=True))
    np.testing.assert_allclose(function(Z), expected, rtol=1e-12)


def test_what_is_subtracted_of_another_axis_or_array_stays():
    x, y = T.dmatrices("x", "y")
    apart = [
        T.log(T.exp(x - x.max(0)).sum(1)),
        T.log(T.exp(x - y.max(0)).sum(0)),
        # the largest of each row, subtracted from the columns
        T.log(T.exp(x - x.max(1)).sum(1)),
    ]
    large = 800 * np.arange(9.0).reshape(3, 3)
    for result in apart:
        found = theano.function([x, y], result, on_unused_input="ignore")(large, large[::-1])
        assert np.isfinite(found).all()
