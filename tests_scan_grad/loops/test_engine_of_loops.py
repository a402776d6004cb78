"""Loops and their gradients on the engine that users get, in loops of several steps.

Other tests of loops run them by Python implementations, which make fresh arrays for all results;
a compiled step reuses memory, and mistakes in that show only there.
"""

import numpy as np
import pytest

import theano
import theano.tensor as T
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


def gradient_of_a_small_loop(mode=None, step_mode=None):
    """The gradient of a recurrent loop of four steps by its weights, at a point."""
    x, w = T.dmatrix("x"), T.dmatrix("w")
    h, _ = theano.scan(
        lambda x_t, h, w: T.tanh(x_t + h.dot(w)), x, T.zeros((3,), "float64"), w, mode=step_mode
    )
    function = theano.function([x, w], theano.grad(h[-1].sum(), w), mode=mode)
    return function(np.linspace(-1, 1, 12).reshape(4, 3), np.eye(3) / 2)


# Of these, PyTensor's machine alone writes a step's results over the states that it has read.
ENGINES = [
    *(("Mode", "py", optimizer) for optimizer in ("None", "merge", "fast_compile", "fast_run")),
    *(("DebugMode", "native", optimizer) for optimizer in ("None", "o4")),
    ("Mode", "pytensor_vm", "None"),
]


@pytest.mark.parametrize(("mode", "linker", "optimizer"), ENGINES)
def test_gradient_of_a_loop_that_is_built_while_flags_name_its_engine(mode, linker, optimizer):
    expected = gradient_of_a_small_loop("FAST_RUN")
    with theano.config.change_flags(mode=mode, linker=linker, optimizer=optimizer):
        np.testing.assert_allclose(gradient_of_a_small_loop(), expected, rtol=1e-12)


@pytest.mark.parametrize("mode", [theano.Mode("py", None), "DebugMode"], ids=str)
def test_gradient_of_a_loop_whose_step_has_a_mode(mode):
    found = gradient_of_a_small_loop(theano.Mode("pytensor_vm", "fast_compile"), step_mode=mode)
    np.testing.assert_allclose(found, gradient_of_a_small_loop("FAST_RUN"), rtol=1e-12)
