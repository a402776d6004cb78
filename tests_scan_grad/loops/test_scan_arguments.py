"""Arguments that ``theano.scan`` refuses, and what it says."""

from __future__ import annotations

import warnings

import numpy as np
import pytensor.tensor as pt
import pytest

import theano
import theano.tensor as T
from theano.typed_list import TypedListType, append

X, H = T.tensor3("X"), T.matrix("H")

WRONG_ARGUMENTS = {
    "too many outputs": (
        lambda: theano.scan(lambda x, h: (x, h, h), [X], [H, None]),
        r"returned 3 output\(s\), but outputs_info has 2 entries",
    ),
    "number of steps is not an integer": (
        lambda: theano.scan(lambda x: x, [X], n_steps=T.scalar("n")),
        "n_steps must be an int",
    ),
    "number of steps unknown": (
        lambda: theano.scan(lambda h: h, outputs_info=[H]),
        "number of steps",
    ),
    "tap of a state in the present": (
        lambda: theano.scan(lambda h: h, None, [{"initial": X, "taps": [0]}], n_steps=2),
        "tap values must be smaller than 0",
    ),
    "state without a start": (
        lambda: theano.scan(lambda h: h, None, [{"taps": [-2]}], n_steps=2),
        "initial state",
    ),
    "state that loses a dimension": (
        lambda: theano.scan(lambda h: h.sum(), None, [H], n_steps=2, name="sums"),
        "^scan 'sums': a state keeps its number of dimensions, but the initial value of output 0 \\(H\\) has 2,"
        " and the step returns 0; it is the step function <lambda> \\(.*:\\d+\\)$",
    ),
    "state that changes its dtype": (
        lambda: theano.scan(lambda i: [i.sum(), i * 0.5], None, [None, T.imatrix("i")], n_steps=2),
        "^scan: a state keeps its type, but the initial value of output 1 \\(i\\) has dtype int32, and the"
        " step returns float64\\. .* or mend what made it float64: Mul \\(created at .*\\) makes it of ",
    ),
    "fewer initial rows than are read back": (
        lambda: theano.scan(
            lambda u, h: h, X, [{"initial": T.zeros((2, 3)), "taps": [-3]}], name="lags"
        ),
        "^scan 'lags': output 0 is read 3 steps back, so that its initial value needs 3 rows, but"
        " has 2$",
    ),
    "step that returns a number": (
        lambda: theano.scan(lambda x: 3.0, [X]),
        r"returned 3.0; expected a variable or a list of variables",
    ),
}


@pytest.mark.parametrize("wrong", WRONG_ARGUMENTS)
def test_wrong_arguments_are_refused(wrong):
    call, message = WRONG_ARGUMENTS[wrong]
    with pytest.raises(ValueError, match=message):
        call()


def test_numbers_have_nothing_to_iterate_over():
    u = T.scalar("u")
    with pytest.raises(IndexError, match=r"^scan: sequence 1 \(u\) is a number"):
        theano.scan(lambda x, u, h: h, [X, u], [H])
    with pytest.raises(IndexError, match="output 1 is read 2 steps back.*2 rows, but is a number"):
        theano.scan(lambda x, h, v: (h, v), [X], [H, {"initial": u, "taps": -2}])


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_too_few_initial_rows_of_a_call(mode):
    u, first = T.vector("u"), T.vector("first")
    h, _ = theano.scan(
        lambda u, before, last: u + before + last, u, {"initial": first, "taps": [-2, -1]}
    )
    f = theano.function([u, first], [h, theano.grad(h.sum(), first)], mode=mode)
    for rows in (0, 1):
        with pytest.raises(ValueError, match=r"^scan: output 0 is read 2 steps back.*needs 2 rows"):
            f([1, 2, 3], np.ones(rows))
    for rows in (2, 3):
        np.testing.assert_array_equal(f([1, 2, 3], np.ones(rows))[0], [3, 6, 12])


@pytest.mark.parametrize("count", [1, 3, 4])
def test_step_with_another_number_of_arguments(count):
    names = ", ".join("abcd"[:count])
    step = eval(f"lambda {names}: a")
    with pytest.raises(TypeError) as caught:
        theano.scan(step, X, [H], name="rnn")
    message = str(caught.value)
    assert message.startswith("scan 'rnn': the step function <lambda> (<string>:1) is called")
    assert "with 2 argument(s), in this order: elements of the sequences" in message
    assert f"it takes ({names}): " in message


def test_step_that_takes_any_arguments_or_hides_what_it_takes():
    x = np.ones((2, 3, 3))
    for step in (lambda *given: given[0] + given[1], T.add):
        h, _ = theano.scan(step, X, [H])
        assert theano.function([X, H], h[-1])(x, np.ones((3, 3))).sum() == 27


@pytest.mark.parametrize("steps", [-3, np.int8(-1), T.constant(-2)])
def test_a_negative_number_of_steps_is_refused(steps):
    with pytest.raises(IndexError, match="'back'.*n_steps must be 0 or more, but is -"):
        theano.scan(lambda h: 2 * h, outputs_info=T.dscalar(), n_steps=steps, name="back")


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_steps_of_any_whole_dtype(dtype, monkeypatch):
    monkeypatch.setattr(theano.config, "on_opt_error", "raise")
    n, h = T.scalar(dtype=dtype), T.dvector()
    states, _ = theano.scan(lambda h: 2 * h, outputs_info=h, n_steps=n)
    f = theano.function([n, h], [states, theano.grad(states[-1].sum(), h)])
    values, gradient = f(3, [1.0, 2.0])
    np.testing.assert_array_equal(values, [[2, 4], [4, 8], [8, 16]])
    np.testing.assert_array_equal(gradient, [8, 8])


def test_a_variable_may_be_given_to_steps_twice():
    w, x = theano.shared(np.eye(2) * 2), T.dmatrix("x")
    h, _ = theano.scan(lambda a, u, v: a.dot(u) + v.sum(), x, None, [w, w])
    y = T.dscalar("y")
    k, _ = theano.scan(lambda a, u, v: a * u + v, x, None, [y, y])
    f = theano.function([x, y], [h, k, *theano.grad(h.sum() + k.sum(), [w, y])])
    found = f(np.ones((3, 2)), 5.0)
    expected = [np.full((3, 2), 6.0), np.full((3, 2), 10.0), np.full((2, 2), 9.0), 12.0]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("steps", [1, 3])
def test_a_state_that_is_no_array_is_warned_of_and_has_its_last_value(steps):
    rows, start = T.dmatrix("rows"), TypedListType(T.dvector)("start")
    with pytest.warns(UserWarning, match="scan 'collect': output 0 .* its last value") as caught:
        found, _ = theano.scan(
            lambda row, before: append(before, row), rows, start, n_steps=steps, name="collect"
        )
    assert [warning.filename for warning in caught] == [__file__]
    values = np.arange(6.0).reshape(3, 2)
    got = theano.function([rows, start], found)(values, [np.zeros(2)])
    np.testing.assert_array_equal(got, [np.zeros(2), *values[:steps]])


def test_a_random_generator_as_a_state_is_not_warned_of():
    generator = pt.random.type.random_generator_type("generator")

    def step(generator):
        return pt.random.normal(rng=generator).owner.outputs[::-1]

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        (draws, last), _ = theano.scan(step, outputs_info=[None, generator], n_steps=3)
    drawn = theano.function([generator], [draws, last])(np.random.default_rng(1))[0]
    np.testing.assert_allclose(drawn, np.random.default_rng(1).normal(size=3))


@pytest.mark.parametrize("taps", [range(-2, 0), np.arange(-2, 0), (-2, np.int8(-1))])
def test_taps_are_a_list_a_range_or_an_array(taps):
    u, first = T.vector("u"), T.vector("first")
    read_at = [2 + tap for tap in taps]
    sequence, info = {"input": u, "taps": read_at}, {"initial": first, "taps": taps}
    h, _ = theano.scan(lambda u, later, older, newer: u * later + older - newer, sequence, info)
    found = theano.function([u, first], h)([1, 2, 3, 4], [1, 0])
    np.testing.assert_array_equal(found, [1 * 2 + 1, 2 * 3 - 3, 3 * 4 + 3 - 3])
