"""Training steps with random samples whose batch two devices share, as `split_steps` has without."""

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.gpuarray.split_steps import (
    BATCH,
    HIDDEN,
    WIDTH,
    collectives,
    drawn,
    error_of,
    plain_updates,
    weights,
)
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.tensor.shared_randomstreams import RandomStreams


def same_draws(make):
    """Check two steps with what `make` returns on one device and on two."""
    x, streams = T.matrix("x"), MRG_RandomStreams(3)
    params = weights(W=(WIDTH, HIDDEN), U=(HIDDEN, HIDDEN))
    result = make(streams, x, *params)
    cost = (result**2).mean()
    steps = plain_updates(cost, params)
    kept = [*params, *(update[0] for update in streams.updates())]
    before = [variable.get_value() for variable in kept]
    value = drawn(BATCH, WIDTH)
    results = []
    for settings in ({}, {"data_parallel": [x]}):
        for variable, start in zip(kept, before, strict=True):
            variable.set_value(start)
        f = theano.function([x], [cost, result], updates=steps, mode="XLA", **settings)
        results.append([*f(value), *f(value), *(v.get_value() for v in kept)])
    for one, two in zip(*results, strict=True):
        np.testing.assert_allclose(two, one, rtol=1e-9, atol=1e-12)
    assert collectives(f, value) == ["all-reduce"]


def check_dropout():
    def network(streams, x, W, U):
        x = x * streams.binomial(x.shape, p=0.8, dtype=x.dtype) / 0.8
        h = T.tanh(x.dot(W))
        return T.tanh((h * streams.binomial((x.shape[0], HIDDEN), dtype=h.dtype)).dot(U))

    same_draws(network)


def check_normal_noise():
    same_draws(lambda r, x, W, U: T.tanh((x + r.normal(x.shape, std=0.1)).dot(W)).dot(U))


def check_draws_for_weights():
    same_draws(lambda r, x, W, U: T.tanh(x.dot(W + r.normal(W.shape)).dot(U)))


def check_sums_of_draws():
    def network(streams, x, W, U):
        noise = streams.uniform((x.shape[0], HIDDEN))
        return T.tanh(x.dot(W) * noise).dot(U) * noise.mean()

    same_draws(network)


def check_dropout_of_a_loop():
    def network(streams, x, W, U):
        start = T.zeros((x.shape[0], HIDDEN))
        each = streams.binomial((3, x.shape[0], HIDDEN), p=0.5, dtype="float64")
        same = streams.binomial((x.shape[0], HIDDEN), p=0.5, dtype="float64")

        def step(mask, h, same):
            return T.tanh(x.dot(W) + (h * mask * same).dot(U))

        return theano.scan(step, each, start, same)[0][-1]

    same_draws(network)


def check_what_is_refused():
    x, value = T.matrix("x"), drawn(BATCH, WIDTH)
    streams = MRG_RandomStreams(3)

    def message(outputs, updates=None):
        def call():
            return theano.function([x], outputs, updates=updates, data_parallel=[x])(value)

        return error_of(call)

    h, updates = theano.scan(lambda h: h * streams.uniform(h.shape), outputs_info=x, n_steps=2)
    assert "it draws for each row; draw before the loop" in message(h, updates)
    halves = x[:, :1] * streams.normal((x.shape[0],))[:, None]
    assert "draws that are not in the order of the batch" in message(halves)
    assert "split_draws.py:" in message(halves)
    on_host = x * RandomStreams(3).uniform(x.shape)
    text = message(on_host)
    assert "is not one program" in text and "split_draws.py:" in text, text


CHECKS = {name: value for name, value in globals().items() if name.startswith("check_")}
