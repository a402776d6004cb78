"""Loops on stacks, which PyTensor makes of a loop by `vectorize_graph`."""

import numpy as np
import pytest
from pytensor.graph.replace import vectorize_graph

import theano
import theano.tensor as T


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_a_loop_that_pytensor_runs_for_each_row_of_a_stack(mode):
    """Its operator differentiates the loop by inputs that are not those of the loop's node."""
    rows, starts = T.tensor3("rows"), T.matrix("starts")
    x, start, w = T.matrix("x"), T.vector("start"), T.matrix("w")
    h, _ = theano.scan(lambda x, h, w: T.tanh(x + h.dot(w)), x, start, w)
    stacked = vectorize_graph(h, {x: rows, start: starts})
    together, _ = theano.scan(
        lambda x, h, w: T.tanh(x + h.dot(w)), rows.dimshuffle(1, 0, 2), starts, w
    )
    results = []
    for states in (stacked, together.dimshuffle(1, 0, 2)):
        cost = (states**3).sum()
        results += [states, *theano.grad(cost, [rows, starts, w])]
    function = theano.function([rows, starts, w], results, mode=mode)
    rng = np.random.default_rng(0)
    found = function(*(rng.normal(size=shape) for shape in [(2, 5, 3), (2, 3), (3, 3)]))
    for ours, expected in zip(found[:4], found[4:], strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)
