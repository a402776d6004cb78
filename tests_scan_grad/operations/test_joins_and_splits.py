"""Join and Split as Theano's are used: with the axis among the arguments of a call."""

import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T

MODES = ["FAST_RUN", "FAST_COMPILE", "XLA"]


@pytest.fixture(params=MODES)
def mode(request):
    if request.param == "XLA":
        pytest.importorskip("jax")
    return request.param


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_join_takes_the_axis_first(mode, axis):
    x, y = T.dmatrices("xy")
    joined = T.Join()(axis, x, y)
    assert isinstance(joined.owner.op, T.Join)
    a, b = np.arange(4.0).reshape(2, 2), np.ones((2, 2))
    fn = theano.function([x, y], [joined, T.grad(joined[0, 0], x)], mode=mode)
    found, gradient = fn(a, b)
    np.testing.assert_array_equal(found, np.concatenate([a, b], axis))
    np.testing.assert_array_equal(gradient, [[1, 0], [0, 0]])


def test_split_takes_the_axis_second(mode):
    x = T.dmatrix("x")
    parts = T.Split(2)(x, 1, [1, 2])
    assert isinstance(parts[0].owner.op, T.Split)
    array = np.arange(6.0).reshape(2, 3)
    first, second = theano.function([x], parts, mode=mode)(array)
    np.testing.assert_array_equal(first, array[:, :1])
    np.testing.assert_array_equal(second, array[:, 1:])


def test_what_is_no_join_is_no_instance():
    x = T.dmatrix("x")
    for op in (T.exp(x).owner.op, T.Split(2)(x, 0, [1, 1])[0].owner.op, 3):
        assert not isinstance(op, T.Join)


def test_operators_are_pickled():
    x, y = T.dmatrices("xy")
    join = pickle.loads(pickle.dumps(T.Join()))
    array = np.ones((1, 2))
    assert join(0, x, y).eval({x: array, y: array}).shape == (2, 2)


def test_a_part_of_negative_length_is_an_error(mode):
    x = theano.shared(np.zeros((4, 6)))
    fn = theano.function([], T.Split(2)(x, 0, [5, -1]), mode=mode)
    with pytest.raises(ValueError):
        fn()
