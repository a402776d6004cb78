"""Loops and their gradients on the engine that users get, in loops of several steps.

Other tests of loops run them by Python implementations, which make fresh arrays for all results;
a compiled step reuses memory, and mistakes in that show only there.
"""

import numpy as np
import pytest

import theano
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import gradient_function, theano_scan


def default_scan(*args, **kwargs):
    """``theano.scan`` without its updates, in the default mode."""
    return theano.scan(*args, **kwargs)[0]


@pytest.mark.parametrize("bound", [0, 1 / 2**10])
@pytest.mark.parametrize(
    "build", [networks.gated_rnn, networks.lstm, networks.attention, networks.tied_weights]
)
def test_gradient(build, bound):
    network = build(default_scan)
    with theano.config.change_flags(**{"scan.push_out_memory": bound}):
        compiled = theano.function(
            network.inputs, [network.cost, *theano.grad(network.cost, network.weights)]
        )
    expected = gradient_function(build(theano_scan))(*network.values)
    for _ in range(2):
        for got, value in zip(compiled(*network.values), expected, strict=True):
            np.testing.assert_allclose(got, value, rtol=1e-9, atol=1e-12)
