"""Compilation grows with the graph and not with its square: what is counted, never timed."""

from collections import Counter

import numpy as np

import theano
import theano.tensor as T


class CountedDouble(theano.Op):
    """Twice its input; counts how often it is asked for its shape."""

    __props__ = ()
    asked: Counter = Counter()

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = 2 * inputs[0]

    def infer_shape(self, fgraph, node, shapes):
        CountedDouble.asked["shape"] += 1
        return shapes

    def grad(self, inputs, cotangents):
        return [2 * cotangents[0]]


def stacked_gradient(layers):
    """Compile the gradient of loops on top of each other; return it and the shape requests."""
    CountedDouble.asked.clear()
    sequence = T.matrix("x")
    weights = [theano.shared(np.full(3, 0.1 * (layer + 1))) for layer in range(layers)]
    x = sequence
    for layer, w in enumerate(weights):
        sequence, _ = theano.scan(
            lambda x_t, h, w: T.tanh(CountedDouble()(x_t) + h * w),
            sequences=[sequence],
            outputs_info=[T.zeros_like(sequence[0])],
            non_sequences=[w],
            name=f"layer{layer}",
        )
    cost = (sequence**2).sum()
    outputs = [cost, *theano.grad(cost, weights)]
    function = theano.function([x], outputs, mode=theano.Mode("py", "fast_run"))
    return function, CountedDouble.asked["shape"]


def test_shapes_of_a_step_are_asked_for_in_proportion_to_the_loops():
    asked = {layers: stacked_gradient(layers)[1] for layers in (2, 4, 8)}
    assert asked[2] > 0
    assert asked[8] - asked[4] <= 2 * (asked[4] - asked[2])


def test_stacked_loops_agree_with_numpy():
    function, _ = stacked_gradient(3)
    x = np.random.default_rng(0).standard_normal((5, 3))
    expected = x
    for layer in range(3):
        h, states = np.zeros(3), []
        for row in expected:
            h = np.tanh(2 * row + h * 0.1 * (layer + 1))
            states.append(h)
        expected = np.array(states)
    np.testing.assert_allclose(function(x)[0], (expected**2).sum())
