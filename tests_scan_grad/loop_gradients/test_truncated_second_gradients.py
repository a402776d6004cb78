"""Derivatives of truncated gradients are those of the unrolled loop with early outputs held."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.unrolled_loops import unrolled_scan

STEPS = 5


def step(x, *arguments):
    *history, w = arguments
    return T.tanh(x + w * sum(history))


@pytest.mark.parametrize("truncate", [1, 3, 7])
@pytest.mark.parametrize(("taps", "mode"), [([-1], "FAST_RUN"), ([-2, -1], "FAST_COMPILE")])
def test_second_derivatives_of_truncated_gradients(taps, truncate, mode):
    x, w, start = T.dvector("x"), T.dscalar("w"), T.dscalar("start")
    initial = T.stack([start * (k + 1) for k in range(-min(taps))])
    info = start if taps == [-1] else {"initial": initial, "taps": taps}
    loop, _ = theano.scan(step, x, info, w, truncate_gradient=truncate)
    [unrolled], _ = unrolled_scan(step, [x], [info], [w], STEPS, truncate)
    results = []
    for h in (loop, unrolled):
        first = theano.grad(h[-1] + T.sqr(h[2:]).sum(), [w, x, start])
        slope = first[0] + T.sin(first[1]).sum() + first[2] ** 2
        results += theano.grad(slope, [w, x, start], disconnected_inputs="ignore")
    function = theano.function([x, w, start], results, mode=mode)
    found = function([0.1, -0.3, 0.5, 0.2, 0.7], 0.4, 0.3)
    half = len(found) // 2
    for ours, expected in zip(found[:half], found[half:], strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", "XLA"])
def test_products_after_a_truncated_backward_loop(mode):
    """The rows of its buffer are more than its steps."""
    x, w, start = T.dmatrix("x"), T.dmatrix("w"), T.dvector("start")
    h, _ = theano.scan(lambda x, h, w: T.tanh(h + T.dot(x, w)), x, start, w, truncate_gradient=2)
    gradient = theano.grad(h[-1].sum(), x)
    values = np.random.default_rng(0).normal(size=(5, 3)), np.eye(3) / 2, np.zeros(3)
    found = theano.function([x, w, start], gradient, mode=mode)(*values)
    states, expected = [values[2]], np.zeros((5, 3))
    for row in values[0]:
        states.append(np.tanh(states[-1] + row @ values[1]))
    cotangent = np.ones(3)
    for t in (4, 3):
        cotangent = cotangent * (1 - states[t + 1] ** 2)
        expected[t] = cotangent @ values[1].T
    np.testing.assert_allclose(found, expected, rtol=1e-10)
