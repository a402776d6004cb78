"""A gated recurrent network and its gradient, for tests that run it in several processes."""

import numpy as np

import theano
import theano.tensor as T


def next_state(x, h, u, v, w):
    r, z = T.nnet.sigmoid(x + h.dot(u)), T.nnet.sigmoid(h.dot(v))
    return z * h + (1 - z) * T.tanh(x + (r * h).dot(w))


def cost_of(x, *weights):
    states, _ = theano.scan(
        next_state, sequences=[x], outputs_info=[T.zeros_like(x[0])], non_sequences=list(weights)
    )
    return (states**2).mean()


def gradient(**options):
    """The compiled gradient with respect to the three matrices."""
    x, weights = T.tensor3("x"), T.matrices("uvw")
    return theano.function([x, *weights], T.grad(cost_of(x, *weights), weights), **options)


def values_of(steps, batch, width):
    """The arguments of `gradient`, the same in each process."""
    random = np.random.default_rng(0)
    shapes = [(steps, batch, width)] + 3 * [(width, width)]
    return [random.normal(size=shape) for shape in shapes]
