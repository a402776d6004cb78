"""Results that nothing reads, which are computed only where that may raise an error."""

from __future__ import annotations

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.traversal import explicit_graph_inputs

import theano
import theano.tensor as T
from tests_scan_grad.native.loops import compiled, numbers
from theano.link.native import source


def inside_an_operation(inputs, outputs):
    """The results of an operation of several."""
    return OpFromGraph(inputs, outputs)(*inputs)


def text_of(outputs):
    """The C text of a function of some results."""
    return source(compiled(list(explicit_graph_inputs(outputs)), outputs))


@pytest.mark.parametrize(
    ("dead", "sign"),
    [
        (lambda x: pt.argmax(x, axis=1), "runtime->argmax("),
        (lambda x: pt.round(x, mode="half_away_from_zero").sum(axis=1), "__builtin_round("),
        (lambda x: pt.dot(x.T, x), "runtime->gemm_"),
        (lambda x: pt.set_subtensor(pt.dot(x.T, x)[0], 1), "runtime->gemm_"),
    ],
    ids=["argmax", "map and reduction", "product", "changed in part"],
)
def test_results_that_a_graph_does_not_use(dead, sign):
    x = pt.dmatrix("x")
    both = inside_an_operation([x], [pt.exp(x), dead(x)])
    assert sign in text_of(both)
    assert sign not in text_of(both[:1])
    values = numbers(4, 3)
    np.testing.assert_allclose(compiled([x], both[0])(values), np.exp(values))


def test_in_the_step_of_a_loop():
    x = pt.dmatrix("x")

    def step(row, state):
        square = pt.outer(row, row)
        new, _ = inside_an_operation([row, state], [state + row, pt.dot(square, square)])
        return new

    states, _ = theano.scan(step, sequences=[x], outputs_info=[pt.zeros(3)])
    function = theano.function([x], states, mode="NATIVE")
    assert "runtime->gemm_" not in source(function)
    values = numbers(5, 3)
    np.testing.assert_allclose(function(values), values.cumsum(axis=0))


def test_what_may_be_refused_is_looked_at():
    x, k = pt.dmatrix("x"), pt.lvector("k")
    first, _ = inside_an_operation([x, k], [pt.exp(x), x[k]])
    function = compiled([x, k], first)
    values = numbers(4, 3)
    np.testing.assert_allclose(function(values, [0, 3]), np.exp(values))
    with pytest.raises(IndexError):
        function(values, [4])


def test_cross_entropies_look_for_no_best_class():
    x, b, y = T.matrix("x"), T.vector("b"), T.lvector("y")
    cost, softmax, best = T.nnet.crossentropy_softmax_argmax_1hot_with_bias(x, b, y)
    sign = "runtime->argmax("
    assert sign in source(theano.function([x, b, y], [cost, softmax, best], mode="NATIVE"))
    function = theano.function([x, b, y], [cost, softmax], mode="NATIVE")
    assert sign not in source(function)
    scores, bias, classes = numbers(5, 7), numbers(7, seed=1), np.array([0, 6, 3, 3, 1])
    raised = np.exp(scores + bias)
    shares = raised / raised.sum(axis=1, keepdims=True)
    found = function(scores, bias, classes)
    np.testing.assert_allclose(found[0], -np.log(shares[np.arange(5), classes]))
    np.testing.assert_allclose(found[1], shares)
