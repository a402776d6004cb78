"""Loops that do the same are one C function; what they are called with, and say, is their own."""

import re

import numpy as np
import pytest

import theano
import theano.tensor as T


def defined(function):
    """Count the loops that a function's C text defines, and the calls that reuse one of them."""
    text = theano.link.native.source(function)
    written = re.findall(r"^TN_(?:SHARED int64_t |LOOP_OF_THREADS\()(loop_\w+)\S*\)$", text, re.M)
    calls = re.findall(r"status = (loop_[0-9a-f]{12})\(", text)
    assert {*written} == {*calls}
    return len(written), len(calls) - len(written)


def layers(x, weights, step):
    for k, w in enumerate(weights):
        x, _ = theano.scan(
            step,
            sequences=[x],
            outputs_info=[T.zeros_like(x[0])],
            non_sequences=[w],
            name=f"layer{k}",
        )
    return x


def test_layers_are_one_function():
    x = T.matrix("x")
    weights = [theano.shared(np.eye(3) * (k + 1) / 4, f"w{k}") for k in range(4)]
    top = layers(x, weights, lambda x_t, h, w: T.tanh(x_t + h.dot(w)))
    outputs = [top, *theano.grad((top**2).sum(), weights)]
    native = theano.function([x], outputs, mode="NATIVE")
    assert not theano.link.native.report(native).calls
    written, called = defined(native)
    assert written + called == 8
    assert called >= 3
    value = np.random.default_rng(0).standard_normal((5, 3))
    expected = theano.function([x], outputs, mode=theano.Mode("py", "fast_run"))(value)
    for got, right in zip(native(value), expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-10, atol=1e-12)


def test_other_steps_are_other_functions():
    x, w = T.matrix("x"), theano.shared(np.eye(3))
    one = layers(x, [w], lambda x_t, h, w: T.tanh(x_t + h.dot(w)))
    two = layers(one, [w], lambda x_t, h, w: T.tanh(x_t - h.dot(w)))
    assert defined(theano.function([x], two, mode="NATIVE")) == (2, 0)


def test_an_error_in_a_shared_function_is_raised_for_each_loop():
    rows, table = T.lvectors("x", "y"), theano.shared(np.arange(4.0), "table")
    sums = [
        theano.scan(
            lambda x_t, s, table: s + table[x_t],
            sequences=[row],
            outputs_info=[np.float64(0)],
            non_sequences=[table],
        )[0]
        for row in rows
    ]
    f = theano.function(rows, sums, mode="NATIVE")
    assert defined(f) == (1, 1)
    for wrong in ([4], [1, 2]), ([1, 2], [3, 0, 4]):
        with pytest.raises(IndexError):
            f(*wrong)
    first, second = f([1, 2], [3, 0, 1])
    assert (first.tolist(), second.tolist()) == ([1, 3], [3, 3, 4])
