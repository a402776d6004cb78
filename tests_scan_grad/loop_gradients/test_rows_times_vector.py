"""Gradients of loops that multiply rows of tensors with a vector: no outer product is stored."""

from functools import partial

import numpy as np
import pytest
from pytensor.tensor.math import Dot

import theano
import theano.tensor as T
from tests_scan_grad.native.lowering.lowering_checks import numbers
from theano.scan_module.scan_op import Scan

# of a state (3,), a tensor (2, 4, 3) and a vector (3,)
STEPS = {
    "by a vector": lambda h, z, v: h + T.dot(T.tanh(z + h), v).sum(axis=0).mean() * v,
    "by the state": lambda h, z, v: v + T.dot(T.tanh(z * v), h).sum(axis=0).mean() * h,
    "of four dimensions": lambda h, z, v: h + T.dot(T.tanh(z[None] + h), v).mean() * v,
    "by a column": lambda h, z, v: h + T.dot(T.tanh(z + h), v[:, None]).mean() * v,
}
# whose rows a reshape does not keep, so that they are differentiated as PyTensor does
OTHERS = {
    "of other rows": lambda h, z, v: (
        h + T.dot(T.tanh(z.dimshuffle(2, 0, 1) + h.mean()).reshape((8, 3)), v).sum() * v
    ),
}


def cost(step, h0, z, v):
    states, _ = theano.scan(step, outputs_info=h0, non_sequences=[z, v], n_steps=3)
    return (states[-1] ** 2).sum()


def arguments():
    return numbers(3) / 2, numbers(2, 4, 3) / 3, numbers(3) / 4


def gradient_loops(step):
    inputs = T.dvector("h0"), T.dtensor3("z"), T.dvector("v")
    f = theano.function(inputs, theano.grad(cost(step, *inputs), list(inputs)))
    loops = [node.op for node in f.maker.fgraph.toposort() if isinstance(node.op, Scan)]
    return [op for op in loops if "grad_of" in (op.name or "")]


@pytest.mark.parametrize("step", [*STEPS.values(), *OTHERS.values()], ids=[*STEPS, *OTHERS])
def test_gradients(step):
    theano.gradient.verify_grad(partial(cost, step), list(arguments()), rng=np.random)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_no_product_of_the_backward_loop_is_an_outer_product(step):
    [backward] = gradient_loops(step)
    products = [node for node in backward.fgraph.toposort() if isinstance(node.op, Dot)]
    assert products
    for product in products:
        assert product.inputs[0].type.shape[1] != 1


@pytest.mark.parametrize("name", ["by a vector", "by the state"])
def test_second_gradients(name):
    h0, z, v = T.dvector("h0"), T.dtensor3("z"), T.dvector("v")
    direction = numbers(3)
    value = cost(STEPS[name], h0, z, v)
    slope = theano.grad((theano.grad(value, v) * direction).sum(), v)
    first, second = (theano.function([h0, z, v], f) for f in (theano.grad(value, v), slope))
    start, tensor, vector = arguments()
    small = 1e-5
    above, below = (first(start, tensor, vector + k * direction) for k in (small, -small))
    np.testing.assert_allclose(
        second(start, tensor, vector), (above - below) / (2 * small), rtol=1e-5, atol=1e-8
    )
