"""While the flag ``profile`` is set, operations of a gradient name the line that they are of."""

import inspect

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.gradient import DisconnectedInputError
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.step.products import products_among
from theano.source_locations.lines import Place, nearest_place, users_place


@pytest.fixture
def profiled():
    with theano.config.change_flags(profile=True):
        yield


def line_of(function, text):
    """Return the place of the line of a function of this file that contains a text."""
    lines, first = inspect.getsourcelines(function)
    (place,) = [k for k, line in enumerate(lines) if text in line]
    return f"{__file__}:{first + place}"


def places_of_products(f):
    """Return the places from which the products of a compiled function come."""
    nodes = f.maker.fgraph.toposort()
    steps = [s for node in nodes if isinstance(node.op, Scan) for s in node.op.fgraph.toposort()]
    products = products_among([*nodes, *steps])
    return {nearest_place(node) for node in products}


def layers(x, W, V):
    hidden = T.tanh(x.dot(W))
    return hidden.dot(V)


def test_each_layer_has_its_gradient(profiled):
    x, W, V = T.matrix("x"), T.matrix("W"), T.matrix("V")
    cost = T.sqr(layers(x, W, V)).sum()
    gradients = theano.grad(cost, [W, V])
    f = theano.function([x, W, V], [cost, *gradients])
    first, second = line_of(layers, "x.dot(W)"), line_of(layers, "hidden.dot(V)")
    assert places_of_products(f) == {
        Place(line, of_gradient) for line in (first, second) for of_gradient in (False, True)
    }


def step(x, h, W, U):
    projected = x.dot(W)
    recurrent = h.dot(U)
    return T.tanh(projected + recurrent)


def loop_cost(x, W, U):
    h, _ = theano.scan(step, x, T.zeros((x.shape[1], 3)), [W, U], name="rnn")
    return T.sqr(h[-1]).sum()


def test_products_of_a_loop_and_those_that_left_it(profiled):
    x, W, U = T.tensor3("x"), T.matrix("W"), T.matrix("U")
    cost = loop_cost(x, W, U)
    f = theano.function([x, W, U], [cost, *theano.grad(cost, [W, U])])
    # two terms whose cotangent is one variable, of which each has its own line
    expected = {line_of(step, "projected = x"), line_of(step, "recurrent = h")}
    assert places_of_products(f) == {Place(line, g) for line in expected for g in (False, True)}


def test_what_is_computed_again_is_no_gradient(profiled):
    x = T.matrix("x")
    h = T.tanh(x)
    variables = theano.gof.graph.ancestors([theano.grad(h.sum(), x)])
    nodes = [v.owner for v in variables if v.owner is not None and v.owner.op == T.tanh]
    assert len(nodes) == 2 and not any(users_place(node).of_gradient for node in nodes)


def test_gradients_of_gradients(profiled):
    x, W = T.matrix("x"), T.matrix("W")
    penalty = T.sqr(theano.grad(T.tanh(x.dot(W)).sum(), x)).sum()
    f = theano.function([x, W], theano.grad(penalty, W))
    assert all(place.line.startswith(__file__) for place in places_of_products(f))
    values = [np.random.default_rng(k).normal(size=(3, 3)) for k in range(2)]
    with theano.config.change_flags(profile=False):
        plain = theano.grad(T.sqr(theano.grad(T.tanh(x.dot(W)).sum(), x)).sum(), W)
        g = theano.function([x, W], plain)
    np.testing.assert_array_equal(f(*values), g(*values))


def test_errors_and_disconnected_gradients_are_the_same(profiled):
    x, y = T.vector("x"), T.vector("y")
    with pytest.raises(DisconnectedInputError, match="does not depend on y"):
        theano.grad(x.sum(), [x, y])
    gx, gy = theano.grad(x.sum(), (x, y), disconnected_inputs="ignore")
    assert gy.eval({y: np.ones(2, y.dtype)}).tolist() == [0, 0]
    assert gx.eval({x: np.ones(2, x.dtype)}).tolist() == [1, 1]
    chosen = theano.grad(T.max(x * T.cast(x.argmax(), x.dtype)), x)
    assert chosen.type == x.type


def test_unprofiled_gradients_are_as_ever():
    x, W, U = T.tensor3("x"), T.matrix("W"), T.matrix("U")
    gradient = theano.grad(loop_cost(x, W, U), U)
    assert not users_place(gradient.owner).of_gradient


class SlopeRefused(theano.Op):
    """The number itself; its slope is another operation, which refuses what is below zero."""

    __props__ = ("slope",)

    def __init__(self, slope=False):
        self.slope = slope

    def make_node(self, x):
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        if self.slope and inputs[0] < 0:
            raise ValueError("below zero")
        outputs[0][0] = np.array(inputs[0])

    def grad(self, inputs, gradients):
        return [gradients[0] * SlopeRefused(slope=True)(inputs[0])]


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_messages_name_the_line_of_a_steps_gradient_and_that_which_it_is_of(mode):
    x, start = T.vector("x"), T.scalar("start")
    values, _ = theano.scan(lambda e, s: SlopeRefused()(s * e), x, start)
    made = line_of(SlopeRefused, "theano.Apply(self")
    slope = theano.grad(values[-1], start)
    asked = inspect.currentframe().f_lineno - 1
    f = theano.function([x, start], slope, mode=mode)
    np.testing.assert_allclose(f([4.0, 2.0], 1.0), 4 * 2 * 4 * 8)
    with pytest.raises(ValueError, match="below zero") as caught:
        f([4.0, 2.0], -1.0)
    named = f"Created at: {__file__}:{asked}, as the gradient of {made}"
    assert named in str(caught.value)
