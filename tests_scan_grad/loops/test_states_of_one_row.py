"""Loops whose states begin with a row that is told to be the only one, and steps that do not say so."""

import numpy as np
import pytest

import theano
import theano.tensor as T

MODES = ["FAST_RUN", "FAST_COMPILE", "XLA", "DebugMode"]
RNG = np.random.default_rng(3)
X, W = RNG.normal(size=(4, 1, 3)), RNG.normal(size=(3, 3)) / 2
x, w = T.dtensor3("x"), T.dmatrix("w")


def one_state(x, w):
    def step(x, h, w):
        return T.tanh(x + h.dot(w))

    return theano.scan(step, x, T.zeros((1, 3)), w)[0]


def two_taps(x, w):
    start = dict(initial=T.zeros((2, 1, 3)), taps=[-2, -1])
    return theano.scan(lambda x, g, h, w: T.tanh(x + h.dot(w) + g), x, start, w)[0]


def two_states(x, w):
    """The second is loose only since the first is."""

    def step(x, h, c, w):
        return T.tanh(x + h.dot(w)), T.tanh(h + c)

    return theano.scan(step, x, [T.zeros((1, 3)), T.zeros((1, 3))], w)[0][1]


def nested(x, w):
    def step(x, h, w):
        return theano.scan(lambda h, x, w: T.tanh(x + h.dot(w)), None, h, [x, w], 2)[0][-1]

    return theano.scan(step, x, T.zeros((1, 3)), w)[0]


def an_operation_that_needs_one_row(x, w):
    def step(x, h, w):
        return T.tanh(x + h.dimshuffle(1).dot(w))

    return theano.scan(step, x, T.zeros((1, 3)), w)[0]


def told_by_the_step_alone(x, w):
    def step(x, h, w):
        return T.addbroadcast(T.tanh(x + h.dot(w)), 0)

    return theano.scan(step, x, T.zeros((x.shape[1], 3)), w)[0]


def of_numpy(loop, x, w):
    g, h, c, rows = (np.zeros((1, 3)) for _ in range(4))
    rows = []
    for row in x:
        if loop is two_taps:
            g, h = h, np.tanh(row + h @ w + g)
        elif loop is two_states:
            h, c = np.tanh(row + h @ w), np.tanh(h + c)
        else:
            for _ in range(2 if loop is nested else 1):
                h = np.tanh(row + h @ w)
        rows.append(c if loop is two_states else h)
    return np.array(rows)


LOOPS = [
    one_state,
    two_taps,
    two_states,
    nested,
    an_operation_that_needs_one_row,
    told_by_the_step_alone,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("loop", LOOPS)
def test_values_and_gradients(loop, mode):
    if (loop, mode) == (nested, "DebugMode"):
        pytest.skip("PyTensor 3.0's DebugMode takes no gradient of a loop in a loop")
    rows = loop(x, w)
    cost = (rows**2).sum()
    function = theano.function([x, w], [rows, *theano.grad(cost, [x, w])], mode=mode)
    found, of_x, of_w = function(X, W)
    np.testing.assert_allclose(found, of_numpy(loop, X, W), rtol=1e-9)
    along_x, along_w = RNG.normal(size=X.shape), RNG.normal(size=W.shape)

    def cost_at(step):
        return (of_numpy(loop, X + step * along_x, W + step * along_w) ** 2).sum()

    slope = (cost_at(1e-6) - cost_at(-1e-6)) / 2e-6
    assert (of_x * along_x).sum() + (of_w * along_w).sum() == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("loop", LOOPS)
def test_tangents_and_second_derivatives(loop, mode):
    along = T.dmatrix("along")
    cost = (loop(x, w) ** 2).sum()
    gradient = theano.grad(cost, w)
    tangent = theano.Rop(gradient, w, along)
    second = theano.grad((gradient * along).sum(), w)
    direction = RNG.normal(size=W.shape)
    function = theano.function([x, w, along], [gradient, tangent, second], mode=mode)
    _, forward, backward = function(X, W, direction)
    np.testing.assert_allclose(forward, backward, rtol=1e-9, atol=1e-12)
    ahead, behind = (function(X, W + k * direction, direction)[0] for k in (1e-6, -1e-6))
    np.testing.assert_allclose(forward, (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-7)


def test_a_length_that_both_tell_stays_told():
    rows, _ = theano.scan(lambda x, h: T.tanh(x.sum(axis=0) + h), x, T.zeros((1, 3)))
    assert rows.type.shape == (None, 1, 3)


@pytest.mark.parametrize("loop", LOOPS)
def test_more_rows_than_the_start_has_are_an_error(loop):
    if loop is told_by_the_step_alone:
        pytest.skip("its start has as many")
    rows = loop(x, w)
    for mode in ["FAST_RUN", "FAST_COMPILE"]:
        with pytest.raises((ValueError, AssertionError)):
            theano.function([x, w], rows, mode=mode)(RNG.normal(size=(4, 2, 3)), W)
