"""Arguments that ``theano.scan`` refuses, and what it says."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T

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
        "^scan 'sums': a state keeps its number of dimensions, but the initial value of output 0 has 2,"
        " and the step returns 0$",
    ),
    "state that changes its dtype": (
        lambda: theano.scan(lambda i: [i.sum(), i * 0.5], None, [None, T.imatrix("i")], n_steps=2),
        "^scan: a state keeps its type, but the initial value of output 1 has dtype int32, and the"
        " step returns float64. ",
    ),
    "step that returns a number": (
        lambda: theano.scan(lambda x: 3.0, [X]),
        "return value",
    ),
}


@pytest.mark.parametrize("wrong", WRONG_ARGUMENTS)
def test_wrong_arguments_are_refused(wrong):
    call, message = WRONG_ARGUMENTS[wrong]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("steps", [-3, np.int8(-1), T.constant(-2)])
def test_a_negative_number_of_steps_is_refused(steps):
    with pytest.raises(IndexError, match="'back'.*n_steps must be 0 or more, but is -"):
        theano.scan(lambda h: 2 * h, outputs_info=T.dscalar(), n_steps=steps, name="back")
