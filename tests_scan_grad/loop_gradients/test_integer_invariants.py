"""Gradients by integers that all steps of a loop compute with: floats, as outside of loops.

Outside of loops, too, the gradient of an integer that is broadcast is zero, in Theano and in PyTensor.
"""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import loops

BASE = np.array([1.5, 0.5])


def powers(s, k):
    return s * k + s**2 / (k + 3)


def gradient(cost, k, *inputs):
    return theano.function([*inputs, k], theano.grad(cost, k))


def looped(k, base):
    start = T.constant(base)
    states, _ = theano.scan(powers, outputs_info=start, non_sequences=k, n_steps=3)
    return states[-1].sum()


def unrolled(k, base):
    state = T.constant(base)
    for _ in range(3):
        state = powers(state, k)
    return state.sum()


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
@pytest.mark.parametrize("value", [2, [2, 3]])
def test_gradients_are_those_without_a_loop(dtype, value):
    value = np.array(value, dtype)
    k = T.TensorType(dtype, (False,) * value.ndim)("k")
    base = BASE if value.ndim else BASE[0]
    found = gradient(looped(k, base), k)(value)
    np.testing.assert_allclose(found, gradient(unrolled(k, base), k)(value), rtol=1e-12)
    assert found.dtype == "float64" and found.shape == value.shape and found.all()


def test_single_precision_stays():
    k = T.iscalar("k")
    base = BASE.astype("float32")

    def step(s, k):
        return s * k.astype("float32")

    states, _ = theano.scan(step, outputs_info=T.constant(base), non_sequences=k, n_steps=3)
    found = gradient(states[-1].sum(), k)(2)
    np.testing.assert_allclose(found, 12 * base.sum(), rtol=1e-6)


def test_second_gradients_and_inner_loops():
    k, start = T.lscalar("k"), T.constant(1.5, dtype="float64")

    def outer(s, k):
        inside, _ = theano.scan(lambda r, k: r * k, outputs_info=s, non_sequences=k, n_steps=2)
        return inside[-1]

    states, _ = theano.scan(outer, outputs_info=start, non_sequences=k, n_steps=2)
    once = theano.grad(states[-1], k)
    np.testing.assert_allclose(theano.function([k], once)(3), 1.5 * 4 * 3.0**3)
    twice = theano.grad(once, k)
    np.testing.assert_allclose(theano.function([k], twice)(3), 1.5 * 12 * 3.0**2)


def test_an_index_has_none_still():
    k, table = T.lscalar("k"), T.dvector("table")
    states, _ = theano.scan(
        lambda s, k, table: s * table[k],
        outputs_info=T.constant(1.0, dtype="float64"),
        non_sequences=[k, table],
        n_steps=2,
    )
    with pytest.raises(theano.gradient.DisconnectedInputError):
        theano.grad(states[-1], k)
    found = theano.function([table, k], theano.grad(states[-1], table))([2.0, 3.0], 1)
    np.testing.assert_allclose(found, [0.0, 6.0])


def test_what_nobody_asks_for_is_not_computed():
    k, x = T.lscalar("k"), T.dvector("x")
    states, _ = theano.scan(powers, outputs_info=x, non_sequences=k, n_steps=3)
    f = theano.function([x, k], theano.grad(states[-1].sum(), x))
    h = theano.function(
        [x], theano.grad(theano.clone(states[-1].sum(), {k: T.constant(2, dtype="int64")}), x)
    )
    np.testing.assert_allclose(f(BASE, 2), h(BASE))
    assert [len(loop.outputs) for loop in loops(f)] == [len(loop.outputs) for loop in loops(h)]
