"""Two programs whose results are compared between settings of flags.

    THEANO_FLAGS=... python -m tests_scan_grad.flags.programs

prints the results of both, or the error that ends them, as JSON.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from theano.ifelse import ifelse
from theano.sandbox.rng_mrg import MRG_RandomStreams

STEPS, BATCH, WIDTH = 5, 2, 3


def _array(*shape: int, seed: int) -> np.ndarray:
    values = np.random.default_rng(seed).uniform(-1, 1, shape)
    return values.astype(theano.config.floatX)


def masked_gru(mode: Any = None) -> list[np.ndarray]:
    """Train a gated network for two steps: a mask, samples, a lazy choice, shared variables."""
    x, mask = T.tensor3("x"), T.matrix("mask")
    shapes = {"u": (WIDTH, 3 * WIDTH), "v": (WIDTH, 3 * WIDTH), "b": (3 * WIDTH,)}
    weights = [
        theano.shared(_array(*shape, seed=k), name)
        for k, (name, shape) in enumerate(shapes.items())
    ]
    calls = theano.shared(np.int64(0), "calls")
    kept = MRG_RandomStreams(7).binomial((BATCH, WIDTH), p=0.75, dtype=theano.config.floatX)

    def step(x_t, mask_t, h, u, v, b):
        inputs, states = x_t.dot(u) + b, h.dot(v)
        part = [slice(k * WIDTH, (k + 1) * WIDTH) for k in range(3)]
        reset, update = (T.nnet.sigmoid(inputs[:, p] + states[:, p]) for p in part[:2])
        new = T.tanh(inputs[:, part[2]] + reset * states[:, part[2]])
        h_new = update * h + (1 - update) * new
        return T.switch(mask_t[:, None] > 0, h_new, h)

    start = T.zeros((BATCH, WIDTH), theano.config.floatX)
    states, _ = theano.scan(step, [x, mask], [start], weights)
    error = ((states[-1] * kept) ** 2).sum()
    cost = ifelse(T.gt(calls, 0), 2 * error, error + abs(weights[0]).mean())
    updates = [(w, w - 0.5 * g) for w, g in zip(weights, theano.grad(cost, weights), strict=True)]
    updates.append((calls, calls + 1))
    train = theano.function([x, mask], [cost, states, kept], updates=updates, mode=mode)
    given = _array(STEPS, BATCH, WIDTH, seed=3)
    lengths = (np.arange(STEPS)[:, None] < [STEPS, STEPS - 2]).astype(theano.config.floatX)
    found = [*train(given, lengths), *train(given, lengths)]
    return [*map(np.asarray, found), *(w.get_value() for w in (*weights, calls))]


def convolution(mode: Any = None) -> list[np.ndarray]:
    """Convolve and pool images, with the gradient by the filters and the images."""
    images, filters = T.tensor4("images"), T.tensor4("filters")
    top = T.nnet.relu(T.nnet.conv2d(images, filters, border_mode="half"))
    pooled = T.signal.pool.pool_2d(top, (2, 2), ignore_border=True)
    cost = (pooled**2).sum()
    gradients = theano.grad(cost, [images, filters])
    f = theano.function([images, filters], [cost, pooled, *gradients], mode=mode)
    return [np.asarray(v) for v in f(_array(2, 2, 6, 5, seed=4), _array(3, 2, 3, 3, seed=5))]


PROGRAMS = {"gru": masked_gru, "convolution": convolution}


def results(mode: Any = None) -> dict[str, list[np.ndarray]]:
    """Return the results of all programs, with the flags that there are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: program(mode) for name, program in PROGRAMS.items()}


def main() -> None:
    try:
        found = results()
    except BaseException as error:
        print("\n" + json.dumps({"error": f"{type(error).__name__}: {error}"}))
    else:
        lists = {name: [v.tolist() for v in values] for name, values in found.items()}
        print("\n" + json.dumps({"results": lists}))


if __name__ == "__main__":
    main()
