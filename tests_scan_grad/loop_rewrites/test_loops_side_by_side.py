"""Loops over the same steps become one; gradients of them."""

import numpy as np
import pytest
from pytensor.scan.op import Scan

import theano
import theano.tensor as T
from theano.scan_module import until


def loops_of(function) -> int:
    return sum(isinstance(node.op, Scan) for node in function.maker.fgraph.apply_nodes)


def product_and_difference(x, start):
    product, _ = theano.scan(lambda s, h: s * h, sequences=x, outputs_info=[start])
    difference, _ = theano.scan(lambda s, h: s - h**2, sequences=x, outputs_info=[start])
    return product, difference


def test_loops_over_the_same_steps_become_one():
    x, start = T.dvector("x"), T.dscalar("start")
    f = theano.function([x, start], product_and_difference(x, start))
    assert loops_of(f) == 1
    product, difference = f([2.0, 3.0], 1.0)
    np.testing.assert_array_equal(product, [2, 6])
    np.testing.assert_array_equal(difference, [1, 2])


def test_loops_that_stop_for_the_same_reason_become_one():
    x = T.dvector("x")
    above, _ = theano.scan(lambda s: (s + 1, until(s > 2)), sequences=x)
    below, _ = theano.scan(lambda s: (s - 1, until(s > 2)), sequences=x)
    f = theano.function([x], [above, below])
    assert loops_of(f) == 1
    np.testing.assert_array_equal(f([1.0, 3.0, 1.0]), [[2, 4], [0, 2]])


def test_gradients_of_loops_that_become_one_stay_right():
    x, start = T.dvector("x"), T.dscalar("start")
    product, difference = product_and_difference(x, start)
    slope = theano.grad(product[-1] + difference[-1], start)
    # s = 2, 3: 6 h + (3 - (2 - h^2)^2) at h = 1
    assert theano.function([x, start], slope)([2.0, 3.0], 1.0) == pytest.approx(6 + 4)


def test_a_state_whose_start_alone_tells_a_length_has_a_gradient():
    x = T.tensor3("x")
    start = T.constant(np.zeros((1, 10)))
    total, _ = theano.scan(lambda s, h: s + h, sequences=x, outputs_info=[{"initial": start}])
    gradient = theano.function([x], theano.grad(total.sum(), x))
    # the first row is in all of the sums, the last in one
    expected = np.repeat([3.0, 2.0, 1.0], 10).reshape(3, 1, 10)
    np.testing.assert_array_equal(gradient(np.ones((3, 1, 10))), expected)
