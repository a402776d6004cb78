"""Values of a step that its gradient has the forward loop save."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import theano
import theano.sparse
import theano.tensor as T
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import loops, products, theano_scan
from tests_scan_grad.loop_runs import ONLY_UNIFIED
from theano.scan_module.gradient import saved_values


def forward_and_backward(network, save: str):
    """The forward and the backward loop of a gradient, as the gradient builds them."""
    with theano.config.change_flags(**{"scan.save": save}):
        gradients = theano.grad(network.cost, network.weights)
    function = theano.function(network.inputs, gradients, mode=ONLY_UNIFIED)
    forward, backward = loops(function)
    return forward.op, backward.op


def products_in(op) -> int:
    return products(op.fgraph)


@pytest.mark.parametrize(
    "save, saved, backward_products",
    # three products of back-propagation and three of weight gradients; three computed again
    [("auto", 3, 6), ("none", 0, 9)],
)
def test_gated_rnn_saves_its_gates(save, saved, backward_products):
    forward, backward = forward_and_backward(networks.gated_rnn(theano_scan), save)
    assert forward.info.n_nit_sot == saved
    assert products_in(forward) == 3
    assert products_in(backward) == backward_products


def test_save_all_leaves_no_forward_activation_to_the_backward_loop():
    forward, backward = forward_and_backward(networks.gated_rnn(theano_scan), "all")
    assert forward.info.n_nit_sot > 3
    activations = [
        node
        for node in backward.fgraph.toposort()
        if getattr(getattr(node.op, "scalar_op", None), "name", None) in ("sigmoid", "tanh")
    ]
    assert not activations
    assert products_in(backward) == 6


@pytest.mark.parametrize("returned", ["hrzn", "hnzr", "hzr"])
def test_what_is_returned_is_not_saved_again(returned):
    network = networks.gated_rnn(theano_scan, returned=returned)
    forward, backward = forward_and_backward(network, "auto")
    # h is the state; the other three gates are traces, returned or saved
    assert forward.info.n_nit_sot == 3
    assert products_in(backward) == 6


@pytest.mark.parametrize("save", ["auto", "all", "none"])
def test_sparse_matrices_that_a_step_makes_are_not_saved(save):
    x, h0 = T.matrix("x"), T.matrix("h0")

    def step(h, x):
        return T.tanh(theano.sparse.dot(theano.sparse.csr_from_dense(x * h), h))

    with theano.config.change_flags(**{"scan.save": save}):
        h, _ = theano.scan(step, outputs_info=h0, non_sequences=x, n_steps=3)
        gradients = theano.grad(h.sum(), [x, h0])
    unrolled = [h0]
    for _ in range(3):
        unrolled.append(step(unrolled[-1], x))
    expected = theano.grad(sum(value.sum() for value in unrolled[1:]), [x, h0])
    f = theano.function([x, h0], [*gradients, *expected])
    found = f([[0.6, 0.1], [0.2, 0.5]], [[0.7, -0.3], [0.4, 0.9]])
    np.testing.assert_allclose(found[:2], found[2:])


@pytest.mark.parametrize(
    ("device", "with_product", "saved"),
    [("cpu", False, 0), ("xla:cpu", False, 1), ("xla:cpu", True, 0)],
)
def test_functions_that_xla_takes_long_for_are_saved_unless_there_are_products(
    monkeypatch, device, with_product, saved
):
    monkeypatch.setattr(saved_values, "config", SimpleNamespace(device=device))
    x, h0, a, w = T.matrix("x"), T.vector("h0"), T.vector("a"), T.matrix("w")
    h, _ = theano.scan(
        lambda x, h, a, w: a * T.log1p(T.sqr(h)) + (x.dot(w) if with_product else x),
        sequences=[x],
        outputs_info=[h0],
        non_sequences=[a, w],
    )
    gradients = theano.grad(h.sum(), [a, h0])
    function = theano.function(
        [x, h0, a, w], gradients, mode=ONLY_UNIFIED, on_unused_input="ignore"
    )
    forward, _ = loops(function)
    assert forward.op.info.n_nit_sot == saved
