"""Gradients of logarithms of sums of exponentials in loops: by one exponential of each element."""

from functools import partial

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor.graph.traversal import toposort
from pytensor.scalar.basic import EQ, Exp
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.math import Max

import theano
import theano.tensor as T
from tests_scan_grad.native.lowering.lowering_checks import numbers
from theano.scan_module.scan_op import Scan

STEPS = {
    "along rows": lambda u, h, w: u + pt.logsumexp(h[:, None] + w, axis=0),
    "along columns": lambda u, h, w: u + pt.logsumexp(h + w, axis=1),
    "along both": lambda u, h, w: u + pt.logsumexp(h[None] + w),
    "of one another": lambda u, h, w: u + pt.logsumexp(w + pt.logsumexp(h + w, axis=1), axis=0),
    "of two": lambda u, h, w: pt.logaddexp(u, h),
    "of a row and a matrix": lambda u, h, w: pt.logaddexp(h, w, u[0]).sum(axis=0) / 3,
}


def cost(step, x, h0, w):
    states, _ = theano.scan(step, sequences=x, outputs_info=h0, non_sequences=w)
    return (states[-1] ** 2).sum()


def cost_of(step):
    inputs = T.dmatrix("x"), T.dvector("h0"), T.dmatrix("w")
    return inputs, cost(step, *inputs)


def arguments():
    return numbers(4, 3), numbers(3), numbers(3, 3) / 2


@pytest.mark.parametrize("name", STEPS)
def test_gradients(name):
    theano.gradient.verify_grad(partial(cost, STEPS[name]), list(arguments()), rng=np.random)


@pytest.mark.parametrize("name", STEPS)
def test_second_gradients(name):
    (x, h0, w), cost = cost_of(STEPS[name])
    direction = numbers(3)
    slope = theano.grad((theano.grad(cost, h0) * direction).sum(), h0)
    first, second = (theano.function([x, h0, w], f) for f in (theano.grad(cost, h0), slope))
    values, start, weights = arguments()
    small = 1e-5
    above, below = (
        first(values, start + change * direction, weights) for change in (small, -small)
    )
    np.testing.assert_allclose(
        second(values, start, weights), (above - below) / (2 * small), rtol=1e-5, atol=1e-8
    )


def nodes_of_steps(function):
    """The nodes of each loop's step, those inside operators that are graphs among them."""
    for node in function.maker.fgraph.toposort():
        if isinstance(node.op, Scan):
            yield list(_all_nodes(node.op.fgraph.outputs))


def _all_nodes(outputs):
    for node in toposort(outputs):
        yield node
        inner = getattr(node.op, "fgraph", None)
        if inner is not None:
            yield from _all_nodes(inner.outputs)


@pytest.mark.skipif(not hasattr(pt.special, "LogSumExp"), reason="3.0 has no such operator")
@pytest.mark.parametrize("name", ["along rows", "of two"])
def test_the_loop_of_the_gradient_takes_one_exponential_of_each_element(name):
    inputs, cost = cost_of(STEPS[name])
    f = theano.function(inputs, theano.grad(cost, list(inputs[:2])), on_unused_input="ignore")
    _, backward = nodes_of_steps(f)
    kinds = [type(node.op.scalar_op) for node in backward if isinstance(node.op, Elemwise)]
    assert kinds.count(Exp) == (1 if name == "along rows" else 2) and EQ not in kinds
    assert not any(isinstance(node.op, Max) for node in backward if isinstance(node.op, CAReduce))


def test_where_everything_is_minus_infinity_elsewhere_the_gradient_is_finite():
    inputs, cost = cost_of(STEPS["along rows"])
    f = theano.function(inputs, theano.grad(cost, inputs[1]), on_unused_input="ignore")
    values, start, weights = arguments()
    weights[0, 1] = -np.inf
    assert np.isfinite(f(values, start, weights)).all()
