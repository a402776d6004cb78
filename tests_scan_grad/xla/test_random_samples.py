"""Random streams give the samples of the other engines, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.sandbox.multinomial import ChoiceFromUniform, MultinomialFromUniform
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


PVALS = np.random.default_rng(0).dirichlet(np.ones(6), size=40)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "drawn_from",
    [
        lambda streams, p: streams.multinomial(pvals=p),
        lambda streams, p: streams.multinomial(pvals=p, n=20, dtype="int32"),
        lambda streams, p: streams.choice(size=6, replace=False, p=p),
        lambda streams, p: streams.choice(size=3, replace=False, p=p),
    ],
    ids=["one", "counts", "all chosen", "some chosen"],
)
def test_outcomes_of_probabilities(drawn_from, dtype):
    def drawn(mode):
        p = T.matrix("p", dtype)
        f = theano.function([p], drawn_from(MRG_RandomStreams(7), p), mode=mode)
        return [f(PVALS.astype(dtype)) for _ in range(3)], f

    ours, f = drawn("XLA")
    assert not f.vm.plan.reasons
    theirs, _ = drawn("FAST_COMPILE")
    assert ours[0].dtype == theirs[0].dtype
    np.testing.assert_array_equal(ours, theirs)


def test_outcomes_are_drawn_in_the_steps_of_a_loop():
    def drawn(mode):
        streams, table = MRG_RandomStreams(7), T.matrix("table")
        words, updates = theano.scan(
            lambda word, table: streams.multinomial(pvals=table[word]).argmax(axis=1),
            outputs_info=T.zeros((3,), "int64"),
            non_sequences=table,
            n_steps=9,
        )
        f = theano.function([table], words, updates=updates, mode=mode)
        return [f(PVALS[:6].astype(theano.config.floatX)) for _ in range(2)], f

    ours, f = drawn("XLA")
    assert not f.vm.plan.reasons
    np.testing.assert_array_equal(ours, drawn("FAST_COMPILE")[0])


def test_what_stands_for_no_outcome():
    p, u, n = T.matrix("p"), T.vector("u"), T.iscalar("n")
    outputs = [
        MultinomialFromUniform("int64")(p, u, n),
        ChoiceFromUniform("int64")(p, u, n),
        ChoiceFromUniform("int64", replace=True)(p, u, n),
    ]
    f = theano.function([p, u, n], outputs, mode="XLA")
    slow = theano.function([p, u, n], outputs, mode="FAST_COMPILE")
    rates = np.array([[0.1, 0.2, 0.3], [0.0, 0.0, 1.0], [np.nan, 0.5, 0.5]])
    for count in (0, 1, 3):
        draws = np.linspace(0, 0.99, 3 * count)
        for found, expected in zip(f(rates, draws, count), slow(rates, draws, count), strict=True):
            np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="expected 2 samples for each of 3 rows, got 3"):
        f(rates, np.zeros(3), 2)
    with pytest.raises(ValueError, match="cannot sample 4 of 3 without replacement"):
        f(rates, np.zeros(12), 4)


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
