"""The gradient of a Kalman filter: by `grad` as by the adjoint that one writes by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests_scan_grad.pymc.kalman_filters import WAYS, compiled, values_of
from theano.link.native import report
from theano.scan_module import scan_report


@pytest.mark.parametrize("known", [True, False], ids=["known sizes", "any sizes"])
@pytest.mark.parametrize("states", [2, 3, 4])
def test_the_gradient_is_that_of_the_adjoint_written_by_hand(states, known):
    values = values_of(states)
    by_grad, by_hand = (compiled(way, states, known) for way in WAYS)
    for ours, theirs in zip(by_grad(*values), by_hand(*values), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())
    for function in (by_grad, by_hand):
        found = report(function)
        assert len(found.loops) == 2 and not found.calls
        assert all(loop.reason is None for loop in found.loops)
    forward, backward = scan_report(by_grad, values).loops
    as_written = scan_report(by_hand, values).loops
    assert forward.products_after <= as_written[0].products_after
    assert backward.products_after <= as_written[1].products_after


@pytest.mark.parametrize("place", range(4))
def test_the_adjoint_written_by_hand_is_the_gradient(place):
    """By finite differences, which know of neither."""
    seen, *parameters = values_of(3, steps=20)
    density = compiled("by hand", 3)
    slope = density(seen, *parameters)[1 + place]
    along = np.random.default_rng(0).normal(size=slope.shape)

    def moved(by):
        others = list(parameters)
        others[place] = others[place] + by * along
        return density(seen, *others)[0]

    difference = (moved(1e-5) - moved(-1e-5)) / 2e-5
    np.testing.assert_allclose((slope * along).sum(), difference, rtol=1e-6)
