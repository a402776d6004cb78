"""States of which a step computes nothing of the next: their buffers begin with what was given."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import python_mode
from tests_scan_grad.loop_runs import unrewritten_mode

H, W = T.vector("h"), T.vector("w")
GIVEN = [np.array([0.3, 0.4]), np.array([0.7, 0.8])]

FORGETTING = {
    "a constant": lambda h, w: T.constant(np.array([0.3, 0.2])),
    "ones": lambda h, w: 0.3 * T.ones_like(h),
    "an invariant": lambda h, w: 0.3 * w,
}


@pytest.mark.parametrize("save", ["auto", "all", "none"])
@pytest.mark.parametrize("name", FORGETTING)
def test_second_gradients_through_the_value_before(name, save):
    after = FORGETTING[name]
    (_, read), _ = theano.scan(
        lambda h, w: (after(h, w), h * T.tanh(w)),
        outputs_info=[H, None],
        non_sequences=W,
        n_steps=2,
    )
    unrolled = T.stack([H * T.tanh(W), after(H, W) * T.tanh(W)])
    with theano.change_flags({"scan.save": save}):
        curvatures = _second_gradients(read)
    ours = theano.function([H, W], curvatures, mode=python_mode())(*GIVEN)
    expected = theano.function([H, W], _second_gradients(unrolled), mode=unrewritten_mode())
    np.testing.assert_allclose(ours, expected(*GIVEN), rtol=1e-10)


def _second_gradients(values):
    slopes = theano.grad(T.sin(values).sum(), [H, W])
    return theano.grad(sum(T.sin(slope).sum() for slope in slopes), [H, W])


def test_gradient_by_what_is_given_and_forgotten_is_zero():
    states, _ = theano.scan(lambda h: T.ones_like(h), outputs_info=H, n_steps=2)
    gradient = theano.grad(states.sum(), H)
    np.testing.assert_array_equal(theano.function([H], gradient)(GIVEN[0]), [0, 0])
