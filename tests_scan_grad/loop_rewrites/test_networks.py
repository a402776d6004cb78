"""The loops of recurrent networks after the rewrites: what is in their steps, and the results."""

import numpy as np
import pytensor
import pytest

import theano
import theano.tensor as T
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import (
    REFERENCE,
    gradient_function,
    loops,
    products_in_loops,
    products_outside,
    pytensor_scan,
    python_mode,
    theano_scan,
    weight_accumulators,
)


def check_against_pytensor(build, **options):
    """Compile a network's gradient both ways; the results must agree. Returns ours."""
    ours = build(theano_scan, **options)
    theirs = build(pytensor_scan, **options)
    function = gradient_function(ours)
    reference = pytensor.function(
        theirs.inputs, [theirs.cost, *pytensor.grad(theirs.cost, theirs.weights)], mode=REFERENCE
    )
    for got, expected in zip(function(*ours.values), reference(*theirs.values), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
    return function


ALL = [
    (networks.gated_rnn, {}),
    (networks.gated_rnn, {"returned": ("h", "r", "z", "n")}),
    (networks.gated_rnn, {"returned": ("h", "n", "z", "r")}),
    (networks.lstm, {}),
    (networks.lstm, {"peepholes": True}),
    *((networks.plain_rnn, {"product": product}) for product in networks.PRODUCTS),
    *((networks.plain_rnn, {"product": product, "vectors": True}) for product in networks.PRODUCTS),
    (networks.weight_used_twice, {}),
    (networks.bidirectional, {}),
    (networks.stacked, {}),
    (networks.attention, {}),
    (networks.tied_weights, {}),
]


@pytest.mark.parametrize(
    ("build", "options"), ALL, ids=lambda value: getattr(value, "__name__", value and str(value))
)
def test_no_accumulator_of_a_weight_is_left_in_a_loop(build, options):
    function = check_against_pytensor(build, **options)
    assert weight_accumulators(function) == []


@pytest.mark.parametrize("returned", [("h",), ("h", "r", "z", "n"), ("h", "n", "z", "r")])
def test_gated_rnn(returned):
    function = gradient_function(networks.gated_rnn(theano_scan, returned))
    assert products_in_loops(function) == [2, 2]
    assert products_outside(function) == 3


@pytest.mark.parametrize("returned", [("h",), ("h", "r", "z", "n")])
def test_gated_rnn_without_merging(returned):
    mode = python_mode(excluding=("MergeDots",))
    function = gradient_function(networks.gated_rnn(theano_scan, returned), mode)
    assert products_in_loops(function) == [3, 3]
    assert products_outside(function) == 3


def test_gated_rnn_whose_state_has_a_known_shape():
    network = networks.gated_rnn(theano_scan, h0=T.zeros(networks.STATE))
    function = gradient_function(network)
    assert products_in_loops(function) == [2, 2]


@pytest.mark.parametrize("returned", [("h",), ("h", "r", "z", "n")])
def test_gated_rnn_computes_no_activation_twice(returned):
    function = gradient_function(networks.gated_rnn(theano_scan, returned))
    forward, backward = loops(function)
    assert activations(forward) == 3
    assert activations(backward) == 0
    assert activations(function.maker) == 0


def activations(holder) -> int:
    """Count the sigmoids and hyperbolic tangents that a loop's step (or a function) computes."""
    graph = holder.op.fn.maker.fgraph if hasattr(holder, "op") else holder.fgraph
    names = [type(inner.op).__name__ for node in graph.toposort() for inner in scalar_nodes(node)]
    return sum(name in ("Sigmoid", "Tanh") for name in names)


def scalar_nodes(node) -> list:
    """The scalar operations that an elementwise node applies."""
    scalar_op = getattr(node.op, "scalar_op", None)
    if scalar_op is None:
        return []
    if hasattr(scalar_op, "fgraph"):
        return list(scalar_op.fgraph.toposort())
    return [
        scalar_op.make_node(*(v.type.to_scalar_type()() for v in [_tensor(i) for i in node.inputs]))
    ]


def _tensor(variable):
    return pytensor.tensor.as_tensor_variable(variable)


@pytest.mark.parametrize("peepholes", [False, True])
def test_lstm_with_concatenated_gates(peepholes):
    function = gradient_function(networks.lstm(theano_scan, peepholes))
    assert products_in_loops(function) == [1, 1]
    assert products_outside(function) == 1


@pytest.mark.parametrize("product", networks.PRODUCTS)
@pytest.mark.parametrize("vectors", [False, True])
def test_plain_rnn(product, vectors):
    function = gradient_function(networks.plain_rnn(theano_scan, product, vectors))
    assert products_in_loops(function) == [1, 1]
    assert products_outside(function) == 1


def test_weight_used_twice():
    function = gradient_function(networks.weight_used_twice(theano_scan))
    assert products_in_loops(function) == [2, 2]
    assert products_outside(function) == 2


def test_input_projections_of_stacked_layers_leave_the_loops():
    function = gradient_function(networks.stacked(theano_scan, layers=3))
    assert products_in_loops(function) == [1] * 6
    # an input projection, the gradients of two weights, and of the layer below for two of them
    assert products_outside(function) == 3 * 3 + 2


def test_output_layer_in_the_step_is_computed_outside():
    function = gradient_function(networks.tied_weights(theano_scan))
    assert products_in_loops(function) == [1, 1]
    # the output layer, its gradient, and those of the two weights
    assert products_outside(function) == 4


@pytest.mark.parametrize("save", ["none", "auto", "all"])
def test_policy(save):
    network = networks.gated_rnn(theano_scan)
    with theano.config.change_flags(**{"scan.save": save}):
        function = gradient_function(network, python_mode(excluding=("MergeDots",)))
    assert products_in_loops(function) == [3, 3]
    # products computed again follow from sequences, so they leave the backward loop too
    assert products_outside(function) == (6 if save == "none" else 3)
    saved = loops(function)[0].op.info.n_nit_sot
    assert saved == 0 if save == "none" else saved >= 3
