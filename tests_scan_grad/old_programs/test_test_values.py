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


OF_GRAPHS = {
    "softmax": lambda x: T.nnet.softmax(x).sum(axis=0),
    "logsoftmax": T.nnet.logsoftmax,
    "crossentropy": lambda x: T.nnet.categorical_crossentropy(T.nnet.softmax(x), T.arange(2)),
    "logsumexp": T.logsumexp,
    "batch normalisation": lambda x: T.nnet.bn.batch_normalization_train(x, T.ones(3), T.zeros(3))[
        0
    ],
}


@pytest.mark.parametrize("name", OF_GRAPHS)
def test_operators_of_graphs_and_their_gradients_have_test_values(with_test_values, x, name):
    x.tag.test_value = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])
    y = OF_GRAPHS[name](x)
    slope = theano.grad((y**2).sum(), x)
    values = theano.function([x], [y, slope])(x.tag.test_value)
    np.testing.assert_allclose(y.tag.test_value, values[0])
    np.testing.assert_allclose(slope.tag.test_value, values[1], rtol=1e-10, atol=1e-10)


def test_jacobian_and_hessian_have_test_values(with_test_values):
    v = T.dvector("v")
    v.tag.test_value = np.array([1.0, 2.0])
    rows = theano.gradient.jacobian(v**2, v)
    (curvature,) = theano.gradient.hessian((v**3).sum(), [v])
    np.testing.assert_allclose(rows.tag.test_value, np.diag([2.0, 4.0]))
    np.testing.assert_allclose(curvature.tag.test_value, np.diag([6.0, 12.0]))


def test_nothing_is_compiled_for_test_values(with_test_values, x, compilations):
    x.tag.test_value = ONES
    w = theano.shared(np.eye(3))
    states, _ = theano.scan(
        lambda row, h: T.nnet.softmax((T.tanh(T.dot(h, w)) + row).dimshuffle("x", 0))[0],
        sequences=x,
        outputs_info=T.zeros(3),
    )
    cost = T.nnet.relu(states).sum() + T.cumsum(x).sum() + T.gammaln(x + 1).sum()
    theano.grad(cost, w)
    theano.OpFromGraph([x], [T.exp(x) * w[0, 0]])(x)
    assert cost.tag.test_value.shape == ()
    assert not compilations


def test_copies_with_other_types_have_test_values(with_test_values):
    # PyMC3 joins its variables into one vector, and puts parts of it in their place
    v, joined = T.dvectors("v", "joined")
    v.tag.test_value, joined.tag.test_value = np.arange(3.0), np.arange(9.0)
    part = joined[3:6].reshape((3,))
    total = theano.clone(v.sum(), {v: part}, strict=False)
    assert total.tag.test_value == 12.0
    total = theano.clone(2 * v.sum(), {v: part}, strict=False)
    np.testing.assert_allclose(T.grad(total, joined).tag.test_value, [0, 0, 0, 2, 2, 2, 0, 0, 0])


def test_copies_with_what_has_no_test_value_have_none(with_test_values):
    v, other = T.dvectors("v", "other")
    v.tag.test_value = np.ones(3)
    total = theano.clone(2 * v.sum(), {v: other})
    np.testing.assert_allclose(total.eval({other: [1.0, 2.0]}), 6)


@pytest.mark.parametrize("change", [T.set_subtensor, T.inc_subtensor])
@pytest.mark.parametrize("rows", [[2], [1, 2]], ids=str)
def test_gradients_made_without_a_call_have_test_values(with_test_values, change, rows):
    # PyTensor's gradient of rows that are changed makes their part with `make_node`
    v, x = T.dvectors("v", "x")
    v.tag.test_value, x.tag.test_value = np.ones(4), np.full(len(rows), 3.0)
    for part in (x, x.reshape((len(rows),))):
        y = change(v[np.array(rows)], part)
        gradients = T.grad((y**2).sum(), [v, x])
        set_to_3 = change is T.set_subtensor
        np.testing.assert_allclose(gradients[1].tag.test_value, 6.0 if set_to_3 else 8.0)
        expected = np.full(4, 2.0)
        expected[rows] = 0.0 if set_to_3 else 8.0
        np.testing.assert_allclose(gradients[0].tag.test_value, expected)


def test_an_operator_tells_an_inputs_test_value(x):
    class Own(theano.Op):
        pass

    x.tag.test_value = ONES
    np.testing.assert_allclose(Own()._get_test_value(x), ONES)
    assert Own._get_test_value(theano.shared(2.0)) == 2
