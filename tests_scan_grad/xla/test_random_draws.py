"""Random streams give the draws of the other engines, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

import theano
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.tensor.shared_randomstreams import RandomStreams

pytest.importorskip("jax")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(("size", "streams"), [((5, 7), None), ((3, 50), 4), ((2,), 9)])
def test_mrg_draws(dtype, size, streams):
    def drawn(mode):
        draw = MRG_RandomStreams(42).uniform(size, dtype=dtype, nstreams=streams)
        f = theano.function([], draw, mode=mode)
        return [f() for _ in range(3)], f

    ours, f = drawn("XLA")
    assert not f.vm.plan.reasons
    theirs, _ = drawn(theano.Mode("py", "fast_compile"))
    assert ours[0].dtype == dtype and ours[0].shape == size
    np.testing.assert_array_equal(ours, theirs)


def test_mrg_normal_and_binomial_draws():
    def drawn(mode):
        streams = MRG_RandomStreams(7)
        f = theano.function([], [streams.normal((4, 3)), streams.binomial((9,), p=0.3)], mode=mode)
        return [f() for _ in range(2)]

    for ours, theirs in zip(drawn("XLA"), drawn("FAST_COMPILE"), strict=True):
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)
        np.testing.assert_array_equal(ours[1], theirs[1])


def test_draws_of_numpys_generator_are_made_on_the_host():
    def drawn(mode):
        streams = RandomStreams(7)
        f = theano.function([], [streams.normal((4, 3)) * 2, streams.uniform((2,))], mode=mode)
        return [f() for _ in range(2)], f

    ours, f = drawn("XLA")
    theirs, _ = drawn("FAST_COMPILE")
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a[0], b[0])
        np.testing.assert_array_equal(a[1], b[1])
    assert len(f.vm.plan.reasons) == 2
