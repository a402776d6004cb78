"""No compiled function holds two products of the same operands."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import is_product, python_mode, theano_scan
from tests_scan_grad.loop_rewrites.optimizers import OPTIMIZERS
from tests_scan_grad.loop_rewrites.repeated_products import repeated_products

MODES = {
    "native": "FAST_RUN",
    "python": python_mode(),
    "no rewrites for BLAS": python_mode(excluding=("BlasOpt",)),
    "compile": "FAST_COMPILE",
    "xla": "XLA",
}
NETWORKS = (
    networks.gated_rnn,
    networks.lstm,
    networks.plain_rnn,
    networks.weight_used_twice,
    networks.bidirectional,
    networks.stacked,
    networks.attention,
    networks.tied_weights,
)


def trained(optimizer, mode):
    """A network of two layers and one step of an optimizer."""
    x, y = T.matrix("x"), T.matrix("y")
    w1, w2 = (theano.shared(networks.array(3, 3, seed=k)) for k in range(2))
    bias = theano.shared(networks.array(3, seed=3))
    cost = T.sqr(T.tanh(x.dot(w1) + bias).dot(w2) - y).sum()
    updates = []
    for weight in (w1, w2, bias):
        updates += OPTIMIZERS[optimizer](weight, theano.grad(cost, weight))
    return theano.function([x, y], cost, updates=updates, mode=mode), [w for w, _ in updates]


@pytest.mark.parametrize(
    "mode",
    [pytest.param(mode, marks=pytest.mark.heavy) if mode == "xla" else mode for mode in MODES],
)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_each_optimizer(optimizer, mode):
    function, state = trained(optimizer, MODES[mode])
    assert repeated_products(function) == []
    products = [n for n in function.maker.fgraph.toposort() if is_product(n)]
    # forward: two; backward: one for each weight, one for what is between them
    assert len(products) == 5
    reference, expected = trained(optimizer, theano.Mode("py", None))
    for _ in range(3):
        values = networks.array(4, 3, seed=5), networks.array(4, 3, seed=6)
        np.testing.assert_allclose(function(*values), reference(*values), rtol=1e-9)
    for ours, theirs in zip(state, expected, strict=True):
        np.testing.assert_allclose(ours.get_value(), theirs.get_value(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "uses",
    [
        lambda W, g: W - g**2,
        lambda W, g: [W + 0.1 * g, g.sum()],
        lambda W, g: [0.9 * W + 0.1 * g, T.sqr(g)],
        lambda W, g: [W - 0.1 * g, W - 0.2 * g],
        lambda W, g: [W + g, W - g, 2 * g],
        lambda W, g: [g, W + g.T],
        lambda W, g: (W + g).dot(g),
    ],
)
def test_each_use_of_a_product(uses, mode):
    x, y, W = T.matrices("x", "y", "W")
    given = [networks.array(3, 3, seed=k) for k in range(3)]
    results = uses(W, x.T.dot(y))
    function = theano.function([x, y, W], results, mode=MODES[mode])
    assert repeated_products(function) == []
    expected = theano.function([x, y, W], results, mode=theano.Mode("py", None))(*given)
    computed = function(*given)
    if not isinstance(results, list):
        computed, expected = [computed], [expected]
    for ours, theirs in zip(computed, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_a_product_and_its_transpose(mode):
    x, y = T.matrices("x", "y")
    function = theano.function([x, y], [x.dot(y), y.T.dot(x.T)], mode=MODES[mode])
    assert repeated_products(function) == []


@pytest.mark.parametrize("mode", ["native", "python"])
@pytest.mark.parametrize("build", NETWORKS, ids=lambda build: build.__name__)
def test_each_network_with_adam(build, mode):
    network = build(theano_scan)
    gradients = theano.grad(network.cost, network.weights)
    weights = [theano.shared(networks.array(2, 2, seed=0)) for _ in network.weights]
    updates = []
    for weight, gradient in zip(weights, gradients, strict=True):
        if gradient.type.ndim == 2:
            updates += OPTIMIZERS["adam"](weight, gradient)
    function = theano.function(network.inputs, network.cost, updates=updates, mode=MODES[mode])
    assert repeated_products(function) == []


@pytest.mark.parametrize("mode", ["native", "python", "xla"])
def test_a_product_and_its_transpose_in_a_step(mode):
    x, w = T.matrices("x", "w")
    h, _ = theano.scan(
        lambda h, w: T.tanh(h.dot(w) + w.T.dot(h.T).T), outputs_info=x, non_sequences=w, n_steps=3
    )
    function = theano.function([x, w], h[-1], mode=MODES[mode])
    assert repeated_products(function) == []
    value, weight = networks.array(2, 2, seed=0), networks.array(2, 2, seed=1)
    expected = value
    for _ in range(3):
        expected = np.tanh(2 * expected @ weight)
    np.testing.assert_allclose(function(value, weight), expected, rtol=1e-10)
