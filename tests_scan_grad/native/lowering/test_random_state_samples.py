"""Samples of NumPy's `RandomState` in native loops are those of `RandomState` itself."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.link.native import report
from theano.tensor.shared_randomstreams import RandomStreams

PY = theano.Mode(linker="py", optimizer="fast_compile")
STEPS = 5


def draws_of_steps(draw, *values, mode="NATIVE"):
    """Three calls of a function whose loop draws in each step, and the draw after the loop."""
    streams = RandomStreams(1)
    given = [T.TensorType(v.dtype, (None,) * v.ndim)() for v in map(np.asarray, values)]
    stacked, updates = theano.scan(lambda *a: draw(streams, *a), non_sequences=given, n_steps=STEPS)
    f = theano.function(given, stacked, updates=updates, mode=mode)
    if mode == "NATIVE":
        told = report(f)
        assert [loop.reason for loop in told.loops] == [None], told
    [(state, _)] = streams.state_updates
    calls = [f(*values) for _ in range(3)]
    return [*calls, state.get_value().random_sample(), state.get_value().normal()]


def check(draw, *values, rtol=0.0):
    ours, theirs = draws_of_steps(draw, *values), draws_of_steps(draw, *values, mode=PY)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=0)
        assert np.asarray(one).dtype == np.asarray(other).dtype


MATRIX = np.linspace(-1, 2, 12).reshape(3, 4)
CHANCES = np.linspace(0, 1, 12).reshape(3, 4)

ELEMENTWISE = {
    "uniform": (lambda r: r.uniform((700,)),),
    "uniform, float32": (lambda r: r.uniform((3, 5), dtype="float32"),),
    "uniform, one number": (lambda r: r.uniform(()),),
    "uniform, array of bounds": (lambda r, a: r.uniform(a.shape, a, a + 2.5), MATRIX),
    "uniform, column of bounds": (lambda r, a: r.uniform(a.shape, a[:, :1], 3), MATRIX),
    "uniform, shape of the bounds": (lambda r, a: r.uniform(None, a, 5), MATRIX),
    "normal, an odd number": (lambda r: r.normal((3, 7)),),
    "normal, arrays": (lambda r, a: r.normal(a.shape, a, a**2), MATRIX),
    "normal, float32": (lambda r, a: r.normal(a.shape, a), MATRIX.astype("float32")),
    "binomial, one trial": (lambda r, p: r.binomial(p.shape, 1, p), CHANCES),
    "binomial, floats": (lambda r, p: r.binomial(p.shape, 1, p, dtype="float32"), CHANCES),
    "binomial, few": (lambda r, p: r.binomial((50, *p.shape), 40, p), CHANCES),
    "binomial, many": (lambda r, p: r.binomial((50, *p.shape), 1000, p), CHANCES),
    "binomial, most": (lambda r, p: r.binomial((50, *p.shape), 10**8, p), CHANCES),
    "binomial, numbers of trials": (
        lambda r, n: r.binomial((50, 7), n, 0.3),
        np.array([0, 1, 5, 99, 101, 200, 10**6]),
    ),
    "poisson": (
        lambda r, m: r.poisson((80, 9), m),
        np.array([0, 0.1, 1, 5, 9.9, 10, 11, 300, 1e6]),
    ),
    "integers": (lambda r: r.random_integers((300,), 3, 12),),
    "integers, one": (lambda r: r.random_integers((3,), 3, 3),),
    "integers, arrays": (
        lambda r, a: r.random_integers((50, 5), a, a**2),
        np.array([0, 1, 10, 70000, 2**31 - 1]),
    ),
    "integers, wide": (lambda r: r.random_integers((50,), -(2**40), 2**62),),
    "integers, 32 bits": (lambda r: r.random_integers((50,), 1, 2**32),),
    "integers, narrow": (
        lambda r, a: r.random_integers((50,), a, 100, dtype="int8"),
        np.array(-100, dtype="int8"),
    ),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_draws_one_by_one(name):
    check(*ELEMENTWISE[name])


OF_VECTORS = {
    "choice": (lambda r: r.choice((20, 3), a=7),),
    "choice of a number": (lambda r, a: r.choice((30,), a=a), np.array(100000)),
    "choice of elements": (lambda r, a: r.choice((5, 6), a=a), np.array([3, 1, 4, 1, 5])),
    "choice by probability": (
        lambda r, p: r.choice((200,), a=4, p=p),
        np.array([0.1, 0.0, 0.6, 0.3]),
    ),
    "choice by probability of float32": (
        lambda r, p, a: r.choice((200,), a=a, p=p),
        np.array([0.1, 0.1, 0.5, 0.3], dtype="float32"),
        np.array([5, 6, 7, 8]),
    ),
    "choice without replacement": (lambda r: r.choice((2, 4), a=9, replace=False),),
    "choice of elements without replacement": (
        lambda r, a: r.choice((5,), a=a, replace=False),
        np.array([3, 1, 4, 1, 5]),
    ),
    "different choices by probability": (
        lambda r, p: r.choice((2, 2), a=5, p=p, replace=False),
        np.array([0.1, 0.0, 0.6, 0.2, 0.1]),
    ),
    "different choices of elements by probability of float32": (
        lambda r, p, a: r.choice((4,), a=a, p=p, replace=False),
        np.array([0.01, 0.01, 0.9, 0.08], dtype="float32"),
        np.array([5, 6, 7, 8]),
    ),
    "different choices of many": (
        lambda r, p: r.choice((40,), a=60, p=p, replace=False),
        np.arange(60) ** 3 / np.sum(np.arange(60) ** 3),
    ),
    "one choice that is different": (
        lambda r, p: r.choice((), a=2, p=p, replace=False),
        np.array([0.25, 0.75]),
    ),
    "permutations": (lambda r: r.permutation((3, 2), n=11),),
    "one permutation": (lambda r, n: r.permutation(None, n=n), np.array(300)),
    "permutations of one": (lambda r: r.permutation((3,), n=1),),
    "multinomial": (lambda r, p: r.multinomial(None, 9, p), CHANCES / CHANCES.sum(1)[:, None]),
    "multinomial, given size": (
        lambda r, p: r.multinomial((4, 3), 1000, p),
        CHANCES / CHANCES.sum(1)[:, None],
    ),
    "multinomial, numbers of trials": (
        lambda r, n, p: r.multinomial(None, n, p),
        np.array([0, 1, 200]),
        np.array([0.2, 0.3, 0.5]),
    ),
}


@pytest.mark.parametrize("name", OF_VECTORS)
def test_draws_of_vectors(name):
    check(*OF_VECTORS[name])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [3, 8, 29, 150, 300])
def test_multinomial_draws_of_long_rows(count, dtype):
    # rounding decides whether probabilities are scaled
    values = np.random.default_rng(count).uniform(size=(40, count)).astype(dtype)
    check(lambda r, p: r.multinomial(None, 30, p), values / values.sum(1, keepdims=True))


def test_loops_in_loops():
    def draw(streams, p):
        inner, updates = theano.scan(
            lambda x: streams.binomial(x.shape, 1, T.nnet.sigmoid(x), dtype="float64"),
            outputs_info=p,
            n_steps=3,
        )
        return inner[-1], updates

    check(draw, MATRIX)


def test_draws_that_the_next_step_depends_on():
    def make(mode):
        streams = RandomStreams(8)
        states, updates = theano.scan(
            lambda x: T.tanh(x + streams.normal((4,)) * streams.uniform((4,))),
            outputs_info=T.zeros(4),
            n_steps=7,
        )
        w = T.dscalar()
        cost = (states[-1] * w).sum()
        return theano.function([w], [cost, theano.grad(cost, w)], updates=updates, mode=mode)

    ours, theirs = make("NATIVE"), make(PY)
    for _ in range(2):
        np.testing.assert_allclose(ours(2.0), theirs(2.0), rtol=1e-12)


WRONG = {
    "uniform": (lambda r, a: r.uniform((2,), 0, a), np.inf, OverflowError, "Range exceeds"),
    "normal": (lambda r, a: r.normal((2,), 0, a), -1.0, ValueError, "scale < 0"),
    "binomial": (lambda r, a: r.binomial((2,), 1, a), np.nan, ValueError, "p < 0, p > 1 or p is N"),
    "trials": (lambda r, a: r.binomial((2,), a, 0.5), -1, ValueError, "n < 0"),
    "poisson": (lambda r, a: r.poisson((2,), a), -1.0, ValueError, "lam < 0"),
    "integers": (lambda r, a: r.random_integers((2,), 0, a), -1, ValueError, "high <= 0"),
    "choice": (lambda r, a: r.choice((2,), a), 0, ValueError, "a must be"),
    "size": (lambda r, a: r.uniform((a,), ndim=1), -1, ValueError, "negative"),
    "choice without replacement": (
        lambda r, a: r.choice((a,), 3, replace=False),
        4,
        ValueError,
        "larger sample than population",
    ),
    "different choices": (
        lambda r, a: r.choice((2,), 3, p=T.stack([1 - a, a, 0 * a]), replace=False),
        0.0,
        ValueError,
        "Fewer non-zero entries in p",
    ),
    "more different choices": (
        lambda r, a: r.choice((3,), 2, p=T.stack([1 - a, a]), replace=False),
        0.5,
        ValueError,
        "larger sample than population",
    ),
    "multinomial": (
        lambda r, a: r.multinomial(None, 3, T.stack([a, a])),
        0.7,
        ValueError,
        "sum to",
    ),
    "probabilities": (
        lambda r, a: r.choice((2,), 2, p=T.stack([a, a])),
        0.7,
        ValueError,
        "do not sum to 1",
    ),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("mode", ["NATIVE", PY])
def test_parameters_that_are_not_right(name, mode):
    draw, value, kind, text = WRONG[name]
    streams = RandomStreams(1)
    a = T.TensorType(np.asarray(value).dtype, ())()
    stacked, updates = theano.scan(lambda a: draw(streams, a), non_sequences=a, n_steps=STEPS)
    f = theano.function([a], stacked, updates=updates, mode=mode)
    [(state, _)] = streams.state_updates
    before = state.get_value().get_state()
    with pytest.raises(kind, match=text):
        f(value)
    # a call that fails changes nothing
    if mode == "NATIVE":
        np.testing.assert_array_equal(before[1], state.get_value().get_state()[1])


def test_a_loop_with_draws_without_code_is_left_as_it_is():
    def drawn(state, size):
        return state.laplace(size=size)

    streams = RandomStreams(1)
    operation = T.raw_random.RandomFunction(drawn, T.dvector)
    draw = lambda: streams.gen(operation, [3])  # noqa: E731
    stacked, updates = theano.scan(draw, n_steps=4)
    f = theano.function([], stacked, updates=updates)
    assert "the samples RandomFunction{drawn}" in report(f).loops[0].reason
    assert f().shape == (4, 3) and not np.array_equal(f(), f())
