"""Structure of the programs of loops: one while per loop, without copies of traces in it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.networks import STEPS, gated_rnn, lstm
from tests_scan_grad.xla.loop_programs import compiled_texts, computations, loop_bodies

jax = pytest.importorskip("jax")

# Shapes of traces, whatever the order of their dimensions.
TRACE = rf"f64\[({STEPS}|{STEPS + 1}),\d+,\d+\]"


def scan(*args, **kwargs):
    return theano.scan(*args, **kwargs)[0]


def program_of(network):
    """The text of the one program of a network's cost and gradient."""
    gradients = theano.grad(network.cost, network.weights)
    f = theano.function(network.inputs, [network.cost, *gradients], mode="XLA")
    f(*network.values)
    (text,) = compiled_texts(f)
    return text


@pytest.mark.parametrize("build", (gated_rnn, lstm))
def test_a_gradient_is_two_loops_that_copy_no_trace(build):
    text = program_of(build(scan))
    bodies = loop_bodies(text)
    assert len(bodies) == 2
    for body in bodies:
        copied = [line for line in body if re.search(rf"= {TRACE}\S* copy", line)]
        assert not copied, copied
    # nor is any reversed for the backward loop, but what a product outside reads
    main = next(lines for name, lines in computations(text).items() if "main" in name)
    assert sum("reverse" in line.split(" = ")[0] for line in main) <= 2


def test_products_of_the_gradient_of_weights_are_outside_the_loops():
    text = program_of(gated_rnn(scan))
    contracting_rows = re.compile(r"dot\(.*lhs_contracting_dims=\{0\}.*rhs_contracting_dims=\{0\}")
    inside = [line for body in loop_bodies(text) for line in body if contracting_rows.search(line)]
    assert not inside
    outside = [line for line in text.splitlines() if contracting_rows.search(line)]
    # on GPUs XLA makes one of the two that share an operand
    assert len(outside) == (2 if jax.default_backend() == "gpu" else 3)


def test_a_loop_of_which_only_the_last_value_is_read_keeps_no_trace():
    x = T.dmatrix("x")
    h = scan(lambda x, h: T.tanh(x + h), sequences=[x], outputs_info=[x[0]])
    f = theano.function([x], h[-1], mode="XLA")
    f(np.ones((STEPS, 3)))
    (body,) = loop_bodies(compiled_texts(f)[0])
    assert not any("dynamic-update-slice" in line for line in body)


def test_large_transposes_are_not_written_before_a_loop():
    size = 960
    h0, w, n = T.dvector("h0"), T.dmatrix("w"), T.lscalar("n")
    h = scan(lambda h, w: T.tanh(h.dot(w)), outputs_info=[h0], non_sequences=[w], n_steps=n)
    f = theano.function([h0, w, n], theano.grad(h[-1].sum(), h0), mode="XLA")
    generator = np.random.default_rng(1)
    start, weights = generator.standard_normal(size), generator.standard_normal((size, size)) / 30
    found = f(start, weights, 2)
    first = np.tanh(start @ weights)
    second = np.tanh(first @ weights)
    backward = ((1 - second**2) @ weights.T * (1 - first**2)) @ weights.T
    np.testing.assert_allclose(found, backward, rtol=1e-9, atol=1e-12)
    text = compiled_texts(f)[0]
    main = next(lines for name, lines in computations(text).items() if "main" in name)
    written = [
        line for line in main if re.search(rf"= f64\[{size},{size}\]\S* (copy|fusion)", line)
    ]
    assert not written, written
