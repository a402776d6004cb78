"""A loop's complaints about its sequences and its number of steps are heard when it is gone."""

import numpy as np
import pytest
from pytensor.raise_op import CheckAndRaise

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import loops, python_mode

MODES = {"native": "FAST_RUN", "python": python_mode(), "xla": "XLA", "compile": "FAST_COMPILE"}


def accumulated(x, steps):
    total, _ = theano.scan(lambda x, s: s + x, x, T.constant(np.float64(0)), n_steps=steps)
    return total[-1]


def product_accumulated(x, steps):
    total, _ = theano.scan(
        lambda x, s: s + T.outer(x * T.ones((2,)), x * T.ones((2,))),
        x,
        T.zeros((2, 2)),
        n_steps=steps,
    )
    return total[-1]


def mapped(x, steps):
    return theano.scan(lambda x: T.exp(x), x, n_steps=steps)[0]


def projected(x, steps):
    """The product leaves the loop; the loop stays."""
    h, _ = theano.scan(
        lambda x, h: T.tanh(T.dot(x * T.ones((1, 2)), T.eye(2)) + h),
        x,
        T.zeros((1, 2)),
        n_steps=steps,
    )
    return h


def read_out(x, steps):
    """A product that no step reads is computed after the loop."""
    (_, y), _ = theano.scan(
        lambda x, h: [T.tanh(h), T.dot(h * x, T.eye(2))], x, [T.ones((1, 2)), None], n_steps=steps
    )
    return y


def gradient(x, steps):
    return theano.grad(T.sqr(mapped(x, steps)).sum(), x)


PROGRAMS = (accumulated, product_accumulated, mapped, projected, read_out, gradient)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_sequence_that_is_too_short_is_refused(program, mode):
    x, steps = T.dvector("x"), T.iscalar("steps")
    for inputs, given in (([x], 5), ([x, steps], steps)):
        function = theano.function(inputs, program(x, given), mode=MODES[mode])
        # where its rows meet those of a state outside, their lengths are compared first
        with pytest.raises((ValueError, AssertionError)):
            function(*(np.ones(3), 5)[: len(inputs)])
        assert np.isfinite(function(*(np.ones(7), 5)[: len(inputs)])).all()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_negative_number_of_steps_is_refused(program, mode):
    x, steps = T.dvector("x"), T.iscalar("steps")
    function = theano.function([x, steps], program(x, steps), mode=MODES[mode])
    with pytest.raises((IndexError, ValueError)):
        function(np.ones(7), -2)


@pytest.mark.parametrize("mode", MODES)
def test_a_constant_that_is_added_a_negative_number_of_times(mode):
    steps, c = T.iscalar("steps"), T.dscalar("c")
    total, _ = theano.scan(
        lambda s, c: s + c, outputs_info=T.constant(np.float64(0)), non_sequences=c, n_steps=steps
    )
    function = theano.function([steps, c], total[-1], mode=MODES[mode])
    assert function(4, 0.5) == 2
    with pytest.raises((IndexError, ValueError)):
        function(-2, 0.5)


def test_without_n_steps_nothing_is_checked():
    """The number of steps is the length of the shortest sequence."""
    x, y, w = T.dmatrix("x"), T.dmatrix("y"), T.dmatrix("w")
    h, _ = theano.scan(
        lambda x, y, h, w: T.tanh(x.dot(w) + y.dot(w) + h.dot(w)), [x, y], T.zeros((2,)), w
    )
    function = theano.function([x, y, w], theano.grad(h[-1].sum(), [x, y, w]), mode=python_mode())
    assert loops(function)
    assert not [
        node for node in function.maker.fgraph.toposort() if isinstance(node.op, CheckAndRaise)
    ]
