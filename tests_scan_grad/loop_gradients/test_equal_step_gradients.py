"""Steps that are equal are differentiated once, and each keeps what is its own."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import theano_scan
from theano.scan_module.gradient import equal_step_gradients


@pytest.fixture
def derived(monkeypatch):
    """The steps that are differentiated, from the first on."""
    found = []
    derive = equal_step_gradients.differentiate_step
    monkeypatch.setattr(
        equal_step_gradients,
        "differentiate_step",
        lambda *args: found.append(args) or derive(*args),
    )
    monkeypatch.setattr(equal_step_gradients, "_of_equal_steps", {})
    return found


def layer(below, W):
    return theano_scan(
        lambda x, h, W: T.tanh(x + T.dot(h, W)),
        sequences=[below],
        outputs_info=[T.zeros_like(below[0])],
        non_sequences=[W],
    )


def by_differences(f, weights, step=1e-6):
    slopes = np.zeros_like(weights)
    for place in np.ndindex(*weights.shape):
        up, down = weights.copy(), weights.copy()
        up[place] += step
        down[place] -= step
        slopes[place] = (f(up) - f(down)) / (2 * step)
    return slopes


def test_equal_layers_are_differentiated_once(derived):
    x, Ws = T.tensor3("x"), [T.matrix(f"W{k}") for k in range(4)]
    h = x
    for W in Ws:
        h = layer(h, W)
    cost = (h**2).sum()
    slopes = theano.grad(cost, Ws)
    assert len(derived) == 1
    random = np.random.default_rng(1)
    values = [random.standard_normal((3, 2, 2)), *0.5 * random.standard_normal((4, 2, 2))]
    found = theano.function([x, *Ws], slopes)(*values)
    value = theano.function([x, *Ws], cost)
    for k, slope in enumerate(found):
        changed = by_differences(
            lambda w, k=k: value(values[0], *values[1 : k + 1], w, *values[k + 2 :]),
            values[k + 1],
        )
        np.testing.assert_allclose(slope, changed, rtol=1e-5, atol=1e-8)


def test_second_gradients_of_equal_layers(derived):
    x, W, V = T.tensor3("x"), T.matrix("W"), T.matrix("V")
    cost = (layer(layer(x, W), V) ** 2).sum()
    slope = (theano.grad(cost, W) ** 2).sum()
    random = np.random.default_rng(2)
    values = [random.standard_normal((3, 2, 2)), *0.5 * random.standard_normal((2, 2, 2))]
    found = theano.function([x, W, V], theano.grad(slope, V))(*values)
    value = theano.function([x, W, V], slope)
    changed = by_differences(lambda v: value(values[0], values[1], v), values[2])
    np.testing.assert_allclose(found, changed, rtol=1e-5, atol=1e-8)


def test_what_flows_back_tells_gradients_apart(derived):
    x, W = T.tensor3("x"), T.matrix("W")
    first, second = (
        theano_scan(lambda x, W: [T.dot(x, W), T.exp(x)], sequences=[x + k], non_sequences=[W])
        for k in range(2)
    )
    theano.grad(first[0].sum() + second[0].sum(), W)
    assert len(derived) == 1
    theano.grad(first[0].sum() + second[1].sum(), [W, x])
    assert len(derived) == 2


def test_steps_of_other_lines_of_the_users_are_other_steps(derived):
    x = T.vector("x")
    one = theano_scan(lambda x: T.log(x), sequences=[x])
    other = theano_scan(lambda x: T.log(x), sequences=[x])
    theano.grad(one.sum() + other.sum(), x)
    assert len(derived) == 2


def test_the_last_steps_are_remembered(derived, monkeypatch):
    monkeypatch.setattr(equal_step_gradients, "STEPS_KEPT", 2)
    x = T.vector("x")
    for power in range(2, 6):
        loop = theano_scan(lambda x, power=power: x**power, sequences=[x])
        theano.grad(loop.sum(), x)
    assert len(derived) == 4
    assert len(equal_step_gradients._of_equal_steps) == 2
