"""Values that are cheap to recompute from an available array: not stored, with the same bits."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.native.loops import compiled, numbers
from tests_scan_grad.native.passes.statements import segment_after_passes


def of_centred(x, axis, by):
    """Return an array less `by`, divided by the root of its mean square along an axis."""
    centred = x - by
    return centred / T.sqrt((centred * centred).mean(axis, keepdims=True))


@pytest.mark.parametrize("axis", [0, 1])
def test_a_centred_array_is_not_stored(axis):
    x = T.dmatrix("x")
    normalized = of_centred(x, axis, x.mean(axis, keepdims=True))
    function, lines = segment_after_passes(lambda: compiled([x], normalized))
    # once where squares are added up, and once where it is divided
    assert "\n".join(lines).count("sub(input0, ") == 2
    value = numbers(40, 30)
    centred = value - value.sum(axis, keepdims=True) / value.shape[axis]
    expected = centred / np.sqrt((centred**2).mean(axis, keepdims=True))
    np.testing.assert_allclose(function(value), expected, 1e-13)


def test_an_input_that_is_overwritten_before_is_not_read_again():
    x = theano.shared(numbers(40, 30), "x")
    start = x.get_value()
    normalized = of_centred(x, 0, x.mean(0, keepdims=True))
    step = theano.function([], normalized.sum(1), updates=[(x, x * 2)], mode="NATIVE")
    centred = start - start.mean(0)
    expected = (centred / np.sqrt((centred**2).mean(0))).sum(1)
    for _ in range(3):
        np.testing.assert_allclose(step(), expected, 1e-9, 1e-9)
    np.testing.assert_array_equal(x.get_value(), 8 * start)
