"""Loops on single numbers, for each element of arrays."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor.scalar import float64, identity
from pytensor.scalar.loop import ScalarLoop
from pytensor.tensor.elemwise import Elemwise

import theano
from theano.link.native import report


def function_of(op, *inputs):
    """An operation on arrays by the engine, all of which has native code."""
    results = Elemwise(op)(*inputs)
    function = theano.function(list(inputs), results, mode="NATIVE")
    assert not report(function).calls
    return function


def fibonacci(until=None):
    a, b = float64("a"), float64("b")
    options = {} if until is None else {"until": a + b > until}
    return ScalarLoop(init=[a, b], update=[a + b, identity(a)], **options)


def turns(count, a, b, until=np.inf):
    for _ in range(count):
        a, b, ended = a + b, a, a + b > until
        if ended:
            return a, b, True
    return a, b, False


@pytest.mark.parametrize("count", [0, 1, 7])
def test_states_change_together(count):
    n, x, y = pt.lscalar("n"), pt.dmatrix("x"), pt.dvector("y")
    function = function_of(fibonacci(), n, x, y)
    given = np.arange(6.0).reshape(2, 3), np.array([1.0, 0.5, -2.0])
    found = function(count, *given)
    expected = np.vectorize(lambda a, b: turns(count, a, b)[:2])(*given)
    for one, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, right)


def test_each_element_ends_for_itself():
    n, x, y = pt.lscalar("n"), pt.dvector("x"), pt.dvector("y")
    function = function_of(fibonacci(until=20), n, x, y)
    given = np.array([1.0, 15.0, 0.001]), np.array([0.0, 4.0, 0.0])
    found = function(10, *given)
    expected = np.vectorize(lambda a, b: turns(10, a, b, 20))(*given)
    for one, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, right)
    assert found[-1].tolist() == [True, True, False]
