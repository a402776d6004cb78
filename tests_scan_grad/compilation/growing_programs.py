"""Programs of a size: twice the size is twice the program."""

import numpy as np

import theano
import theano.tensor as T


def _shared(*shape):
    return theano.shared(np.full(shape, 0.1))


def _zeros(x):
    return T.zeros_like(x[0])


def states(n):
    """A loop of so many states, each read by the next."""
    x, weights = T.matrix("x"), [_shared(3, 3) for _ in range(n)]

    def step(x_t, *before):
        return [T.tanh(T.dot(before[k - 1], w) + x_t) for k, w in enumerate(weights)]

    rows, _ = theano.scan(step, sequences=[x], outputs_info=[_zeros(x)] * n)
    return x, sum((each[-1] ** 2).sum() for each in rows), weights


def parameters(n):
    """A loop whose step multiplies by so many matrices, one after the other."""
    x, weights = T.matrix("x"), [_shared(3, 3) for _ in range(n)]

    def step(x_t, h):
        for w in weights:
            h = T.tanh(T.dot(h, w) + x_t)
        return h

    rows, _ = theano.scan(step, sequences=[x], outputs_info=[_zeros(x)])
    return x, (rows[-1] ** 2).sum(), weights


def long_step(n):
    """A loop whose step has so many element-wise terms; what they share has 2 ** n paths."""
    x, w = T.matrix("x"), _shared(3)

    def step(x_t, h):
        for k in range(n):
            h = T.sin(h * w + x_t * (k + 1.0)) + h
        return h

    rows, _ = theano.scan(step, sequences=[x], outputs_info=[_zeros(x)])
    return x, (rows[-1] ** 2).sum(), [w]


def loops(n):
    """So many loops, each over the rows of the one before."""
    x, weights = T.matrix("x"), [_shared(3, 3) for _ in range(n)]
    rows = x
    for w in weights:
        rows, _ = theano.scan(
            lambda x_t, h, w: T.tanh(T.dot(h, w) + x_t),
            sequences=[rows],
            outputs_info=[_zeros(x)],
            non_sequences=[w],
        )
    return x, (rows[-1] ** 2).sum(), weights


def outputs(n):
    """A loop that keeps so many values of each step."""
    x, w = T.matrix("x"), _shared(3, 3)

    def step(x_t, h):
        h = T.tanh(T.dot(h, w) + x_t)
        return [h, *(T.sin(h * (k + 2.0)) for k in range(n))]

    rows, _ = theano.scan(step, sequences=[x], outputs_info=[_zeros(x), *[None] * n])
    return x, sum((each**2).sum() for each in rows), [w]


def taps(n):
    """A loop of one state that reads so many steps back."""
    x, w = T.matrix("x"), _shared(n)
    start = {"initial": T.zeros((n, 3)), "taps": list(range(-n, 0))}

    def step(x_t, *before):
        return T.tanh(sum(h * w[k] for k, h in enumerate(before)) + x_t)

    rows, _ = theano.scan(step, sequences=[x], outputs_info=[start])
    return x, (rows[-1] ** 2).sum(), [w]
