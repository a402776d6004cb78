"""Loops of mode 'XLA' whose steps draw random numbers."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.xla.loop_programs import loops_on_host
from theano.link.xla.host import HostProgram
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.tensor.shared_randomstreams import RandomStreams

pytest.importorskip("jax")

X = np.random.default_rng(6).standard_normal((5, 3))


def results(streams, mask, mode):
    """Two calls of a loop with dropout and its gradient, and the function."""
    x = T.dmatrix("x")
    h, updates = theano.scan(
        lambda x, h: T.tanh(x + h * mask(streams, h)), sequences=[x], outputs_info=[x[0]]
    )
    f = theano.function([x], [h, theano.grad((h**2).sum(), x)], updates=updates, mode=mode)
    return [*f(X), *f(X)], f


def agree(make_streams, mask):
    """The same numbers as in Theano's default mode; returns why loops are on the host."""
    actual, f = results(make_streams(), mask, "XLA")
    expected, _ = results(make_streams(), mask, "FAST_COMPILE")
    for result, wanted in zip(actual, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-9, atol=1e-12)
    return loops_on_host(f)


def masked(streams, h):
    return streams.binomial(size=h.shape, n=1, p=0.5, dtype="float64")


def test_draws_from_a_generator_are_made_before_the_loop():
    (reason,) = agree(lambda: RandomStreams(8), masked)
    assert reason.startswith("Scan{draws of scan_fn")


def test_draws_of_streams_made_for_devices_are_part_of_the_loop():
    assert agree(lambda: MRG_RandomStreams(8), masked) == []


def test_draws_that_depend_on_a_state_stay_in_the_loop():
    def near(streams, h):
        # a draw has no gradient by what it depends on
        mean = theano.gradient.disconnected_grad(h)
        return streams.normal(size=h.shape, avg=mean, std=0.1, dtype="float64")

    reasons = agree(lambda: RandomStreams(8), near)
    assert not any("draws of" in reason for reason in reasons)
    assert len(reasons) == 1


def test_several_draws_keep_their_order():
    def sums(streams, h):
        return masked(streams, h) + streams.uniform(size=h.shape, dtype="float64")

    reasons = agree(lambda: RandomStreams(8), sums)
    assert reasons and all("draws of" in reason for reason in reasons)


def test_draws_on_the_host_are_drawn_by_native_code(monkeypatch):
    programs = []

    class Recorded(HostProgram):
        def __init__(self, stage):
            super().__init__(stage)
            programs.append(self)

    monkeypatch.setattr("theano.link.xla.machine.HostProgram", Recorded)
    generator = pytensor.shared(np.random.default_rng(1))

    def step(rng, state):
        following, drawn = pt.random.normal(size=(2,), rng=rng, return_next_rng=True)
        return following, 0.5 * state + drawn

    (last, states), _ = theano.scan(
        step, outputs_info=[generator, pt.zeros(2, dtype="float64")], n_steps=5
    )
    f = theano.function([], states, updates=[(generator, last)], mode="XLA")
    numbers, expected = np.random.default_rng(1), [np.zeros(2)]
    for _ in range(5):
        expected.append(0.5 * expected[-1] + numbers.normal(size=2))
    np.testing.assert_allclose(f(), expected[1:], rtol=1e-14)
    assert generator.get_value().bit_generator.state == numbers.bit_generator.state
    operations = [type(node.op).__name__ for each in programs for node in each.machine.nodes]
    assert sorted(operations) == ["GeneratorOfWords", "NativeCode", "WordsOfGenerator"]
