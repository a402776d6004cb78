"""Draws of MRG31k3p by the native engine are those of the generator's own Python code."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.link.native import report
from theano.sandbox.rng_mrg import MRG_RandomStreams

IN_PYTHON = theano.Mode(linker="py", optimizer="fast_run")


def both(make, *values):
    """Make the same function twice, once of the engine and once of Python; compare two calls."""
    native, own = make("NATIVE"), make(IN_PYTHON)
    told = report(native)
    assert told.calls == () and all(loop.reason is None for loop in told.loops), told
    for _ in range(2):
        for ours, theirs in zip(native(*values), own(*values), strict=True):
            np.testing.assert_array_equal(ours, theirs)
            assert ours.dtype == theirs.dtype


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 7), (20, 2), (2, 3, 41)])
@pytest.mark.parametrize("streams", [1, 7, 12])
def test_draws(shape, streams, dtype):
    def make(mode):
        source = MRG_RandomStreams(23)
        drawn = source.uniform(shape, dtype=dtype, nstreams=streams)
        return theano.function([], [drawn], mode=mode)

    both(make)


def test_draws_of_a_shape_that_is_an_input():
    def make(mode):
        rows = T.lscalar("rows")
        source = MRG_RandomStreams(23)
        drawn = source.uniform((rows, 3), ndim=2, dtype="float64", nstreams=9)
        return theano.function([rows], [drawn, drawn.sum()], mode=mode)

    for rows in (0, 2, 11):
        both(make, rows)


def test_draws_in_a_loop_and_in_its_gradient():
    def make(mode):
        source, w = MRG_RandomStreams(5), theano.shared(0.5)

        def step(x):
            return T.tanh(x * w + source.uniform((6,), dtype="float64", nstreams=4))

        states, updates = theano.scan(step, outputs_info=T.zeros(6, dtype="float64"), n_steps=5)
        cost = states[-1].sum()
        f = theano.function([], [states, theano.grad(cost, w)], updates=updates, mode=mode)
        return f

    native, own = make("NATIVE"), make(IN_PYTHON)
    assert all(loop.reason is None for loop in report(native).loops), report(native)
    for _ in range(2):
        for ours, theirs in zip(native(), own(), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_a_negative_size_is_the_error_of_the_operation():
    rows = T.lscalar("rows")
    drawn = MRG_RandomStreams(23).uniform((rows,), ndim=1, nstreams=9)
    f = theano.function([rows], drawn, mode="NATIVE")
    with pytest.raises(ValueError):
        f(-1)
    assert f(2).shape == (2,)


def test_draws_that_repeat_are_calls_of_one_function():
    def make(mode):
        draws = [MRG_RandomStreams(seed).uniform((5,)) for seed in (23, 24, 25)]
        return theano.function([], draws, mode=mode)

    both(make)
