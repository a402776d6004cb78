"""`FAST_COMPILE` leaves no operator that PyTensor made from a graph, and those of users alone."""

import numpy as np
import pytensor.tensor as pt
import pytest
import scipy.special
from pytensor.compile.builders import OpFromGraph as PyTensorOpFromGraph

import theano
import theano.tensor as T

X = np.random.default_rng(0).normal(size=(3, 4))

OPERATORS = {
    "logsumexp": (lambda x: pt.logsumexp(x, axis=1), lambda x: scipy.special.logsumexp(x, axis=1)),
    "softmax": (
        lambda x: pt.special.softmax(x, axis=1),
        lambda x: scipy.special.softmax(x, axis=1),
    ),
    "einsum": (lambda x: pt.einsum("ij,kj->ik", x, x), lambda x: x @ x.T),
    "diag": (lambda x: pt.diag(x[0]), lambda x: np.diag(x[0])),
    "kron": (lambda x: pt.linalg.kron(x, x), lambda x: np.kron(x, x)),
}


def loops_in(function):
    nodes = function.maker.fgraph.toposort()
    return [node.op for node in nodes if isinstance(node.op, theano.scan_module.scan_op.Scan)]


def graphs_in(function):
    """The operators of graphs that a function runs, also in the steps of its loops."""
    nodes = function.maker.fgraph.toposort()
    yield from (node.op for node in nodes if isinstance(node.op, PyTensorOpFromGraph))
    for loop in loops_in(function):
        yield from graphs_in(loop.fn)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_of_pytensor_become_graphs(name):
    build, expected = OPERATORS[name]
    x = T.dmatrix("x")
    gradient = theano.grad((build(x) ** 2).sum(), x)
    fast, full = (
        theano.function([x], [build(x), gradient], mode=mode)
        for mode in ("FAST_COMPILE", "FAST_RUN")
    )
    assert not list(graphs_in(fast))
    value, slope = fast(X)
    np.testing.assert_allclose(value, expected(X), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(slope, full(X)[1], rtol=1e-12, atol=1e-13)


def test_in_steps():
    x = T.dmatrix("x")
    states, _ = theano.scan(
        lambda row, state: pt.logsumexp(state + row) + pt.special.softmax(row, axis=-1),
        sequences=x,
        outputs_info=T.zeros((4,)),
    )
    function = theano.function([x], states[-1], mode="FAST_COMPILE")
    assert loops_in(function)
    assert not list(graphs_in(function))
    state = np.zeros(4)
    for row in X:
        state = scipy.special.logsumexp(state + row) + scipy.special.softmax(row)
    np.testing.assert_allclose(function(X), state, rtol=1e-12)


def test_operators_of_users_stay():
    x, y = T.dvectors("x", "y")
    op = theano.OpFromGraph([x, y], [x * y + 1])
    function = theano.function([x, y], op(x, y), mode="FAST_COMPILE")
    assert op in list(graphs_in(function))
    np.testing.assert_array_equal(function([1.0, 2.0], [3.0, 4.0]), [4.0, 9.0])
