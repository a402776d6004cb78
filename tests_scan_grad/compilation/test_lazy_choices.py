"""Lazy choices: what is known is chosen while a function is compiled, loops compute both at once."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.ifelse import IfElse, ifelse
from theano.link.native import report


def choices(function):
    return [n for n in function.maker.fgraph.apply_nodes if isinstance(n.op, IfElse)]


x, y = T.dvector("x"), T.dvector("y")
flag = T.iscalar("flag")
ones, twos = np.ones(3), np.full(3, 2.0)


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("value", [0, 1, np.int8(1), np.float64(0.0)])
def test_a_constant_condition_is_no_choice(mode, value):
    chosen = ifelse(T.constant(value), x + 1, y * 2)
    f = theano.function([x, y], chosen, mode=mode, on_unused_input="ignore")
    assert not choices(f)
    np.testing.assert_array_equal(f(ones, twos), ones + 1 if value else twos * 2)


@pytest.mark.parametrize("value", [0, 1, True, 2.5, np.int32(0), np.float32(1), np.array(1)])
def test_a_number_that_givens_has_for_a_condition_is_one(value):
    flag = T.scalar("flag", dtype=np.asarray(value).dtype.name)
    f = theano.function(
        [x, y], ifelse(flag, x + 1, y * 2), givens={flag: value}, on_unused_input="ignore"
    )
    assert not choices(f)
    np.testing.assert_array_equal(f(ones, twos), ones + 1 if value else twos * 2)


def test_equal_branches_and_the_same_condition_again():
    f = theano.function([x, flag], ifelse(flag, T.exp(x), T.exp(x)))
    assert not choices(f)
    inner = ifelse(flag, x * 2, x * 3)
    f = theano.function([x, flag], ifelse(flag, inner, ifelse(flag, T.sin(x), T.cos(x))))
    assert len(choices(f)) == 1
    np.testing.assert_array_equal(f(ones, 1), 2 * ones)
    np.testing.assert_array_equal(f(ones, 0), np.cos(ones))


def test_several_results_of_a_choice():
    pair = ifelse(flag, [x, y], [x + 1, y])
    f = theano.function([x, y], pair, givens={flag: np.int32(0)})
    assert not choices(f)
    for value, expected in zip(f(ones, twos), (ones + 1, twos), strict=True):
        np.testing.assert_array_equal(value, expected)


def test_a_choice_in_a_loop_of_which_the_condition_is_given():
    drop = T.dvector("drop")
    h, _ = theano.scan(
        lambda x_t, h: T.tanh(ifelse(flag, drop * h, h) + x_t), x, y, non_sequences=[]
    )
    inputs = [x, y, drop]
    f = theano.function(
        inputs, [h, T.grad(h.sum(), y)], givens={flag: np.int32(1)}, on_unused_input="ignore"
    )
    assert "by PyTensor" not in str(report(f))
    g = theano.function(inputs, h, givens={flag: np.int32(0)}, on_unused_input="ignore")
    expected = y_t = twos
    for number in ones:
        expected = np.tanh(0.5 * expected + number)
        y_t = np.tanh(y_t + number)
    np.testing.assert_allclose(f(ones, twos, 0.5 * ones)[0][-1], expected)
    np.testing.assert_allclose(g(ones, twos, 0.5 * ones)[-1], y_t)


def walk(u_t, s, a):
    """Numbers, chosen by what a step computes; the choice within a branch is one, too."""
    up = ifelse(T.gt(s, 1.0), s - a, s + a * u_t)
    return ifelse(T.lt(u_t, 0.5), up, T.exp(-s))


def test_numbers_that_a_step_chooses_are_native():
    a, s0 = T.dscalars("a", "s0")
    s, _ = theano.scan(walk, sequences=x, outputs_info=s0, non_sequences=a)
    outputs = [s, *T.grad((s**2).sum(), [a, s0])]
    f = theano.function([x, s0, a], outputs)
    assert "by PyTensor" not in str(report(f))
    plain = theano.function([x, s0, a], outputs, mode=theano.Mode("py", None))
    drawn = np.random.default_rng(0).uniform(size=20)
    for value, expected in zip(f(drawn, 0.3, 0.7), plain(drawn, 0.3, 0.7), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_arrays_of_known_lengths_are_native_and_others_stay_lazy():
    def step(u_t, h, w):
        return ifelse(T.gt(u_t, 0), T.tanh(h * w), h)

    w = theano.shared(np.array([0.5, -1.0]), shape=(2,))
    h0 = T.tensor("float64", shape=(2,), name="h0")
    h, _ = theano.scan(step, sequences=x, outputs_info=h0, non_sequences=w)
    f = theano.function([x, h0], h)
    assert "by PyTensor" not in str(report(f))
    drawn = np.array([1.0, -1.0, 1.0])
    once = np.tanh(np.array([0.5, -1.0]) * 2)
    np.testing.assert_allclose(f(drawn, [2.0, 2.0])[1], once)

    def lazy(u_t, h, v):
        return ifelse(T.gt(u_t, 0), h * v, h)

    v = T.dvector("v")
    h, _ = theano.scan(lazy, sequences=x, outputs_info=y, non_sequences=v)
    f = theano.function([x, y, v], h)
    # the branch that would fail is never chosen
    np.testing.assert_array_equal(f(-ones, twos, np.ones(4)), np.tile(twos, (3, 1)))


def test_a_branch_that_may_fail_stays_lazy():
    def step(t, s):
        return s + ifelse(T.lt(t, 3), x[t], np.float64(0))

    s, _ = theano.scan(step, sequences=T.arange(5), outputs_info=T.constant(0.0, dtype="float64"))
    f = theano.function([x], s)
    np.testing.assert_array_equal(f(ones), [1, 2, 3, 3, 3])
