"""Convolutions of vectors, alone, on stacks and in loops: by the engine as NumPy computes them."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor.tensor.signal import convolve1d
from pytensor.tensor.signal.conv import Convolve1d

import theano
import theano.tensor as T
from tests_scan_grad.native.lowering.lowering_checks import check, numbers, of
from theano.link.native import report

LENGTHS = ((1, 1), (5, 1), (5, 3), (4, 4), (3, 7), (60, 9))


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_vectors(mode, dtype):
    x, k = of(None, dtype=dtype), of(None, dtype=dtype)
    # the second is not longer, for what is as long as the first
    calls = [[numbers(n, dtype=dtype), numbers(m, dtype=dtype)] for n, m in LENGTHS if n >= m]
    check([x, k], [convolve1d(x, k, mode=mode), convolve1d(x[::-1], k[::2], mode=mode)], *calls)


def test_whichever_is_longer():
    x, k = of(None), of(None)
    outputs = [convolve1d(x, k, mode=mode) for mode in ("full", "valid")]
    check([x, k], outputs, *([numbers(n), numbers(m)] for n, m in LENGTHS))


@pytest.mark.parametrize("mode", ["full", "valid"])
def test_stacks(mode):
    x, k, each = of(None, None), of(None), of(2, None)
    outputs = [convolve1d(x, k, mode=mode), convolve1d(x, each, mode=mode)]
    check([x, k, each], outputs, [numbers(2, 6), numbers(3), numbers(2, 4)])


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
def test_gradients(mode):
    x, k = of(None, None), of(None)
    cost = (convolve1d(x, k, mode=mode) ** 2).sum()
    gradients = theano.grad(cost, [x, k])
    native = theano.function([x, k], gradients, mode="NATIVE")
    python = theano.function([x, k], gradients, mode="FAST_COMPILE")
    values = numbers(3, 8), numbers(4)
    for ours, expected in zip(native(*values), python(*values), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12)
    assert "by PyTensor" not in str(report(native))


def test_in_a_loop():
    rows, k = of(None, None), of(3)
    states, _ = theano.scan(
        lambda row, h, k: T.tanh(row + convolve1d(h, k, mode="full")[1:-1]),
        sequences=[rows],
        outputs_info=[T.zeros_like(rows[0])],
        non_sequences=[k],
    )
    outputs = [states, theano.grad((states**2).sum(), k)]
    native = theano.function([rows, k], outputs, mode="NATIVE")
    python = theano.function([rows, k], outputs, mode="FAST_COMPILE")
    values = numbers(4, 6), numbers(3)
    for ours, expected in zip(native(*values), python(*values), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-10)
    assert "by PyTensor" not in str(report(native))


def test_nothing_is_convolved_with_nothing():
    x, k = of(None), of(None)
    function = theano.function([x, k], convolve1d(x, k, mode="full"), mode="NATIVE")
    with pytest.raises(ValueError, match="cannot be empty"):
        function(numbers(3), np.zeros(0))
    np.testing.assert_allclose(function(numbers(3), np.ones(1)), numbers(3))


def test_how_much_is_asked_for_may_be_computed():
    x, k, full = of(None), of(None), pt.scalar("full", dtype="bool")
    outputs = Convolve1d()(x, k, full)
    function = theano.function([x, k, full], outputs, mode="NATIVE")
    values = numbers(6), numbers(3)
    for mode in ("full", "valid"):
        np.testing.assert_allclose(function(*values, mode == "full"), np.convolve(*values, mode))
