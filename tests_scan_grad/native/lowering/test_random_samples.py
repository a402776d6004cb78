"""Samples of MRG31k3p by the native engine are those of the generator's own Python code."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.link.native import report
from theano.sandbox.multinomial import ChoiceFromUniform
from theano.sandbox.rng_mrg import MRG_RandomStreams

IN_PYTHON = theano.Mode(linker="py", optimizer="fast_run")


def both(make, *values, rtol=0):
    """Make the same function twice, once of the engine and once of Python; compare two calls."""
    native, own = make("NATIVE"), make(IN_PYTHON)
    told = report(native)
    assert told.calls == () and all(loop.reason is None for loop in told.loops), told
    for _ in range(2):
        for ours, theirs in zip(native(*values), own(*values), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)
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


def in_loop_and_outside(draw, *invariants):
    """A function of samples outside of loops, and of those of each step of a loop."""
    stacked, updates = theano.scan(lambda *given: draw(*given), non_sequences=invariants, n_steps=6)
    return [draw(*invariants), stacked], updates


def probabilities(rows, outcomes, dtype):
    values = np.random.default_rng(rows + outcomes).uniform(size=(rows, outcomes)) + 1e-3
    return (values / values.sum(axis=1, keepdims=True)).astype(dtype)


MATRICES = [(1, 1), (1, 7), (5, 4), (40, 3), (0, 3)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", MATRICES)
def test_counts_of_outcomes(shape, dtype):
    def make(mode):
        p, source = T.matrix("p", dtype=dtype), MRG_RandomStreams(8)
        kinds = {0: "int64", 1: "int8", 5: "auto"}

        def draw(p):
            drawn = [
                source.multinomial(n=n, pvals=p, dtype=kind, nstreams=7)
                for n, kind in kinds.items()
            ]
            return T.concatenate([each.astype("float64") for each in drawn])

        outputs, updates = in_loop_and_outside(draw, p)
        return theano.function([p], outputs, updates=updates, mode=mode)

    both(make, probabilities(*shape, dtype))


def test_outcomes_whose_probabilities_do_not_sum_to_1():
    def make(mode):
        p, source = T.dmatrix("p"), MRG_RandomStreams(8)
        outputs, updates = in_loop_and_outside(
            lambda p: T.concatenate(
                [
                    source.multinomial(n=3, pvals=p),
                    source.choice(size=2, p=p, replace=False),
                ],
                axis=1,
            ),
            p,
        )
        return theano.function([p], outputs, updates=updates, mode=mode)

    both(make, np.full((6, 3), 0.1))
    both(make, np.full((6, 3), np.nan))
    both(make, np.tile([0.0, 0.5, 0.5], (6, 1)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape, n", [((1, 1), 1), ((3, 7), 7), ((5, 4), 2)])
def test_choices_of_outcomes(shape, n, dtype):
    def make(mode):
        p, source = T.matrix("p", dtype=dtype), MRG_RandomStreams(8)

        def draw(p):
            drawn = source.choice(size=n, p=p, replace=False, nstreams=7)
            short = source.choice(size=n, p=p, replace=False, dtype="int16", nstreams=7)
            again = ChoiceFromUniform("int64", replace=True)(p, source.uniform((shape[0] * n,)), n)
            return T.concatenate([drawn, short, again])

        outputs, updates = in_loop_and_outside(draw, p)
        return theano.function([p], outputs, updates=updates, mode=mode)

    both(make, probabilities(*shape, dtype))


def test_more_choices_than_outcomes_are_the_error_of_the_operation():
    p, n, source = T.dmatrix("p"), T.lscalar("n"), MRG_RandomStreams(8)
    outputs, updates = in_loop_and_outside(lambda p, n: source.choice(n, p=p, replace=False), p, n)
    f = theano.function([p, n], outputs, updates=updates, mode="NATIVE")
    assert f(probabilities(2, 3, "float64"), 3)[1].shape == (6, 2, 3)
    with pytest.raises(ValueError, match="cannot sample 4 of 3 without replacement"):
        f(probabilities(2, 3, "float64"), 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("streams", [None, 7])
def test_truncated_normal_draws(streams, dtype):
    def make(mode):
        source, options = MRG_RandomStreams(8), {"dtype": dtype, "nstreams": streams}
        shapes = ((1,), (4,), (3, 7), (501,))

        def draw():
            cut = [source.truncated_normal(shape, avg=1, std=2, **options) for shape in shapes]
            cut += [source.normal(shapes[-1], truncate=True, **options)]
            return T.concatenate([each.flatten() for each in cut])

        outputs, updates = in_loop_and_outside(draw)
        return theano.function([], outputs, updates=updates, mode=mode)

    both(make, rtol=1e-5 if dtype == "float32" else 1e-12)


def test_truncated_normal_draws_of_a_shape_that_is_an_input():
    def make(mode):
        rows, source = T.lscalar("rows"), MRG_RandomStreams(8)
        outputs, updates = in_loop_and_outside(
            lambda rows: source.truncated_normal((rows, 3), ndim=2, dtype="float64"), rows
        )
        return theano.function([rows], outputs, updates=updates, mode=mode)

    for rows in (0, 1, 40):
        both(make, rows, rtol=1e-12)


KINDS = {
    "uniform": lambda source, p: source.uniform(p.shape, dtype="float64"),
    "normal": lambda source, p: source.normal(p.shape, dtype="float64"),
    "truncated normal": lambda source, p: source.truncated_normal(p.shape, dtype="float64"),
    "binomial": lambda source, p: source.binomial(p.shape, n=1, p=p, dtype="float64"),
    "multinomial": lambda source, p: source.multinomial(pvals=p, n=3),
    "choice without replacement": lambda source, p: source.choice(size=2, p=p, replace=False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_draw_is_native_in_a_loop(kind):
    def make(mode):
        p, source = T.dmatrix("p"), MRG_RandomStreams(3)
        drawn, updates = theano.scan(lambda p: KINDS[kind](source, p), non_sequences=p, n_steps=4)
        return theano.function([p], [drawn], updates=updates, mode=mode)

    both(make, probabilities(3, 4, "float64"), rtol=1e-12)
