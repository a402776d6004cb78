"""compute_test_value: values of variables for trying an expression while it is written."""

import numpy as np
import pytest

import theano
import theano.tensor as T

ONES = np.ones((2, 3))


@pytest.fixture
def x():
    return T.matrix("x", dtype="float64")


@pytest.fixture
def with_test_values():
    with theano.change_flags(compute_test_value="raise"):
        yield


def test_test_values_are_computed(with_test_values, x):
    x.tag.test_value = ONES
    w = theano.shared(np.full((3, 4), 2.0))
    z = T.tanh(T.dot(x, w)).sum(axis=0)
    np.testing.assert_allclose(z.tag.test_value, np.tanh(np.full((2, 4), 6.0)).sum(axis=0))


def test_test_values_find_the_wrong_line(with_test_values, x):
    x.tag.test_value = ONES
    with pytest.raises(ValueError):
        T.dot(x, x)


def test_missing_test_value(x):
    with theano.change_flags(compute_test_value="raise"):
        with pytest.raises(ValueError, match="x has no test value"):
            T.exp(x)
    with theano.change_flags(compute_test_value="warn"):
        with pytest.warns(UserWarning, match="x has no test value"):
            T.exp(x)
    with theano.change_flags(compute_test_value="ignore"):
        assert not hasattr(T.exp(x).tag, "test_value")


def test_test_value_of_the_wrong_type(with_test_values, x):
    x.tag.test_value = np.ones(3)
    with pytest.raises(TypeError, match="test value of x does not fit"):
        T.exp(x)


def test_compiling_with_test_values(with_test_values, x):
    x.tag.test_value = ONES
    assert theano.function([x], T.exp(x).sum())(np.zeros((4, 4))) == 16


def test_pytensor_is_hooked_only_while_the_flag_is_on(x):
    from pytensor.graph.op import Op

    before = Op.__call__
    with theano.change_flags(compute_test_value="warn"):
        assert Op.__call__ is not before
    assert Op.__call__ is before
