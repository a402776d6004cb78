"""Gradients of least and greatest operands: they go to the operand that the loop chose.

The gradient finds out by a comparison. What it compares may have been computed twice, rewritten
differently each time, so that the last digits differ: the comparison must not depend on them.
"""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T

MODES = ["FAST_RUN", "FAST_COMPILE", "XLA"]
ONE = T.constant(np.array(1.0))
WEIGHTS = np.array([-0.71131927, -1.39163432, -1.52679026])
SCALES = np.array([1.0, 10.0, 100.0])
# of scales * log(1 + weights**2)
EXPECTED = SCALES * 2 * WEIGHTS / (1 + WEIGHTS**2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("choose", "sign"), [(T.minimum, 1), (T.maximum, -1)])
@pytest.mark.parametrize("chosen_first", [True, False])
def test_of_two_operands(mode, choose, sign, chosen_first):
    """One operand is the same in all steps, and the other is far from it."""
    weights, rows = theano.shared(WEIGHTS, name="weights"), T.lmatrix("rows")
    far = np.arange(100, 115).reshape(5, 3)

    def step(here, before, weights):
        curve = T.log(T.sqr(weights) + ONE)
        other = curve[before % 3] + sign * here
        return choose(curve, other) if chosen_first else choose(other, curve)

    trace, _ = theano.scan(step, [{"input": rows, "taps": [0, -2]}], [None], weights)
    gradient = T.grad((trace[-1] * SCALES).sum(), weights)
    np.testing.assert_allclose(theano.function([rows], gradient, mode=mode)(far), EXPECTED)


GREATEST = {
    "max": lambda x: x.max(),
    "-min": lambda x: -T.min(-x),
    "mask": lambda x: (T.eq(x, x.max()) * x).sum(),
    "switch": lambda x: T.switch(x < T.max(x), 0, x).sum(),
    "sort": lambda x: T.switch(x >= T.sort(x)[-1], x, 0).sum(),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("policy", ["auto", "none"])
@pytest.mark.parametrize("greatest", GREATEST.values(), ids=[*GREATEST])
def test_of_elements(mode, policy, greatest):
    """Part of the values chosen from is computed from weights alone and used twice."""
    weights, rows = theano.shared(WEIGHTS, name="weights"), T.dmatrix("rows")
    far = -np.arange(100.0, 115.0).reshape(5, 3)
    far[:, 0] = 0

    def step(here, state, weights):
        curve = T.log(T.sqr(weights) + ONE)
        return greatest(curve + here) * T.ones_like(state), curve * here

    with theano.config.change_flags(**{"scan.save": policy}):
        (trace, other), _ = theano.scan(step, rows, [T.zeros(3), None], weights)
        gradient = T.grad(trace[-1].sum(), weights)
    found, _ = theano.function([rows], [gradient, other], mode=mode)(far)
    np.testing.assert_allclose(found, [3 * EXPECTED[0], 0, 0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("choose", [T.minimum, T.maximum])
def test_equal_operands_and_nan(mode, choose):
    """Of equal operands the first has the gradient; with nan it is the second, as ever."""
    x, y = T.dmatrices("x", "y")
    trace, _ = theano.scan(lambda a, b: choose(a, b), [x, y])
    gradients = theano.function([x, y], T.grad(trace.sum(), [x, y]), mode=mode)
    one, nan = 1.0, np.nan
    first, second = gradients([[one, nan, one, nan]], [[one, one, nan, nan]])
    np.testing.assert_array_equal(first, [[1, 0, 0, 0]])
    np.testing.assert_array_equal(second, [[0, 1, 1, 1]])
