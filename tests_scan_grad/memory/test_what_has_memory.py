"""Memory that a training step needs by its plan: what must be kept, and blocks of steps."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import python_mode
from tests_scan_grad.memory.nets import BATCH, LEARNING_RATE, WIDTH, lstm_step
from theano.scan_module import scan_report
from theano.tensor.nnet import sigmoid

pytestmark = pytest.mark.skipif(
    theano.config.mode not in ("Mode", "FAST_RUN") or not theano.config.cxx, reason="native engine"
)
STEPS = 400
# the bytes of a state or gate of all steps, and of a layer's results
ALL_STEPS, LAYER = STEPS * BATCH * WIDTH * 4, 1000 * WIDTH * 4


def numbers(*shape, seed):
    return np.random.default_rng(seed).normal(size=shape).astype("float32") / shape[-1] ** 0.5


def parameters(*shapes):
    return [theano.shared(numbers(*shape, seed=k), f"p{k}") for k, shape in enumerate(shapes)]


def trained(inputs, cost, weights, mode=None):
    steps = zip(weights, theano.grad(cost, weights), strict=True)
    updates = [(p, p - np.float32(LEARNING_RATE) * g) for p, g in steps]
    return theano.function(inputs, cost, updates=updates, mode=mode)


def memory_of(inputs, cost, weights, shapes):
    return scan_report(trained(inputs, cost, weights), shapes=shapes).memory


def same_as_in_python(inputs, cost, weights, shapes):
    """Assert that a step gives the values of other engines."""
    values = [numbers(*shape, seed=10 + k) for k, shape in enumerate(shapes)]
    before = [p.get_value() for p in weights]
    found = []
    for mode in (None, python_mode()):
        for p, value in zip(weights, before, strict=True):
            p.set_value(value)
        found.append([trained(inputs, cost, weights, mode)(*values)])
        found[-1] += [p.get_value() for p in weights]
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-6)


def large(memory, bytes_):
    """Return the pieces that are as large, with what a state has besides."""
    return [piece for piece in memory.pieces if bytes_ <= piece.bytes < 1.1 * bytes_]


@pytest.mark.parametrize("function", [T.tanh, sigmoid])
def test_a_perceptron_keeps_what_its_layers_give(function):
    weights = parameters(*[(WIDTH, WIDTH), (WIDTH,)] * 4)
    x, y = T.fmatrices("x", "y")
    layer = x
    for w, b in zip(weights[::2], weights[1::2], strict=True):
        layer = function(layer.dot(w) + b)
    cost = (layer * y).sum()
    memory = memory_of([x, y], cost, weights, [(1000, WIDTH)] * 2)
    together = [
        sum(piece.first <= moment <= piece.last for piece in large(memory, LAYER))
        for moment in range(len(memory.moments))
    ]
    # what all give, and a cotangent
    assert max(together) == 5
    same_as_in_python([x, y], cost, weights, [(10, WIDTH)] * 2)


def test_what_is_summed_early_has_no_memory_while_gradients_are_computed():
    weights = parameters(*[(WIDTH, WIDTH)] * 3)
    x, y = T.fmatrices("x", "y")
    a, b, c = weights
    error = T.tanh(T.tanh(x.dot(a)).dot(b)).dot(c) - y
    cost = T.exp(-(error**2)).sum(axis=1).mean()
    memory = memory_of([x, y], cost, weights, [(1000, WIDTH)] * 2)
    begins = memory.moments.index("Mul")
    assert len([p for p in large(memory, LAYER) if p.first < begins < p.last]) == 2
    same_as_in_python([x, y], cost, weights, [(10, WIDTH)] * 2)


def gated(x, r, z, h, U, V, W):
    r, z = sigmoid(r + h.dot(U)), sigmoid(z + h.dot(V))
    return z * h + (1 - z) * T.tanh(x + (r * h).dot(W))


def test_what_a_loop_over_several_sequences_hands_to_products_is_done_in_blocks():
    weights = parameters(*[(WIDTH, WIDTH)] * 3)
    sequences, h0 = [T.ftensor3(name) for name in ("x", "r", "z")], T.fmatrix("h0")
    h, _ = theano.scan(gated, sequences, h0, weights, name="net")
    cost, inputs = (h**2).sum(axis=2).mean(), [*sequences, h0]
    shapes = [*[(STEPS, BATCH, WIDTH)] * 3, (BATCH, WIDTH)]
    memory = memory_of(inputs, cost, weights, shapes)
    assert [p.role for p in large(memory, ALL_STEPS)].count("saved or returned") == 3
    assert len(large(memory, ALL_STEPS)) == 4
    assert "loop grad_of_net (16 steps at a time)" in memory.moments
    same_as_in_python(inputs, cost, weights, [*[(5, 3, WIDTH)] * 3, (3, WIDTH)])


def layers(count, ends):
    """Return layers of LSTMs: their inputs, their cost, and their parameters."""
    weights = parameters(*[(WIDTH, 4 * WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH,)] * count)
    x, h0 = T.ftensor3("x"), T.fmatrix("h0")
    h = x
    for k in range(count):
        own = weights[3 * k : 3 * k + 3]
        (h, _), _ = theano.scan(lstm_step, h, [h0, h0], own, name=f"layer{k}")
    return [x, h0], ends(h), weights


ENDS = {
    "sum within rows": lambda h: (h**2).sum(axis=2).mean(),
    "one number": lambda h: (h**2).mean(),
}


@pytest.mark.parametrize("ends", ENDS)
def test_an_lstm_keeps_four_gates_and_two_states(ends):
    inputs, cost, weights = layers(1, ENDS[ends])
    shapes = [(STEPS, BATCH, WIDTH), (BATCH, WIDTH)]
    memory = memory_of(inputs, cost, weights, shapes)
    assert len(large(memory, ALL_STEPS)) == 6
    same_as_in_python(inputs, cost, weights, [(5, 3, WIDTH), (3, WIDTH)])


def test_cotangents_for_the_layer_below_lie_where_the_layer_above_was_saved():
    inputs, cost, weights = layers(2, ENDS["one number"])
    shapes = [(STEPS, BATCH, WIDTH), (BATCH, WIDTH)]
    memory = memory_of(inputs, cost, weights, shapes)
    kept = large(memory, ALL_STEPS)
    assert len(kept) == 12
    (both,) = [p for p in kept if p.loop == "layer1" and "loop grad_of_layer0" in p.readers]
    assert "loop grad_of_layer1" in both.readers
    same_as_in_python(inputs, cost, weights, [(5, 3, WIDTH), (3, WIDTH)])


def test_gradients_lie_where_the_next_values_will():
    inputs, cost, weights = layers(1, ENDS["one number"])
    memory = memory_of(inputs, cost, weights, [(STEPS, BATCH, WIDTH), (BATCH, WIDTH)])
    of_a_weight = [p for p in memory.pieces if p.shape == (WIDTH, 4 * WIDTH)]
    assert [p.role for p in of_a_weight] == ["result"] * 2
