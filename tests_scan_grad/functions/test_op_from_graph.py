"""`OpFromGraph`: operators made from a graph, and the gradients that users give them."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano import OpFromGraph
from theano.gof.null_type import NullType
from theano.gradient import DisconnectedType

X, Y = np.array([1.0, 2.0]), np.array([3.0, 5.0])


def gradients(op):
    x, y = T.dvectors("x", "y")
    wanted = theano.grad(op(x, y).sum(), [x, y])
    return theano.function([x, y], wanted, on_unused_input="ignore")(X, Y)


def product(**overrides):
    x, y = T.dvectors("x", "y")
    return OpFromGraph([x, y], [x * y], **overrides)


def as_operator(of):
    given = [T.dvector() for _ in range(3)]
    return OpFromGraph(given, of(given[:2], given[2:]))


def scaled(inputs, gradients):
    (x, y), (g,) = inputs, gradients
    return [g * y * 2, g * x * 3]


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize(
    "overrides",
    [
        {"grad_overrides": scaled},
        {"grad_overrides": as_operator(scaled)},
        {"lop_overrides": lambda inputs, outputs, gradients: scaled(inputs, gradients)},
        {"grad_overrides": [lambda i, g: g[0] * i[1] * 2, lambda i, g: [g[0] * i[0] * 3]]},
    ],
)
def test_gradients_that_users_give(overrides, inline):
    for found, expected in zip(
        gradients(product(inline=inline, **overrides)), (2 * Y, 3 * X), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_a_list_may_leave_some_to_the_graph():
    op = product(grad_overrides=["default", lambda inputs, gradients: gradients[0] * 7])
    for found, expected in zip(gradients(op), (Y, [7, 7]), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_gradients_that_are_undefined_or_none():
    op = product(grad_overrides=[NullType("no")(), DisconnectedType()()])
    x, y = T.dvectors("x", "y")
    dx, dy = theano.grad(
        op(x, y).sum(),
        [x, y],
        null_gradients="return",
        disconnected_inputs="ignore",
        return_disconnected="Disconnected",
    )
    assert isinstance(dx.type, NullType) and isinstance(dy.type, DisconnectedType)


def test_an_output_that_nothing_uses_has_a_gradient_of_zero():
    x = T.dvector("x")
    op = OpFromGraph(
        [x], [x * 2, x * 3], grad_overrides=lambda inputs, gradients: [gradients[0] + gradients[1]]
    )
    np.testing.assert_array_equal(theano.grad(op(x)[1].sum(), x).eval({x: X}), [1, 1])


def test_rop_overrides():
    op = product(rop_overrides=lambda inputs, d: [d[0] * inputs[1] * 2 + inputs[0] * d[1] * 3])
    x, y, u, v = T.dvectors("x", "y", "u", "v")
    f = theano.function([x, y, u, v], theano.Rop(op(x, y), [x, y], [u, v]))
    np.testing.assert_array_equal(f(X, Y, X, Y), X * Y * 2 + X * Y * 3)


@pytest.mark.parametrize(
    ("overrides", "kind", "message"),
    [
        ({"grad_overrides": scaled, "lop_overrides": scaled}, ValueError, "mutually exclusive"),
        ({"grad_overrides": [scaled]}, ValueError, "expected 2 overrides, got 1"),
        ({"grad_overrides": 3}, TypeError, "'default', a callable.*got 3"),
        ({"rop_overrides": ["defualt"]}, TypeError, "got 'defualt'"),
    ],
)
def test_what_is_no_override(overrides, kind, message):
    with pytest.raises(kind, match=message):
        product(**overrides)


def test_the_graph_inside_needs_no_test_values():
    x, y = T.dscalars("x", "y")
    op = OpFromGraph([x], [x**3])
    y.tag.test_value = np.array(2.0)
    with theano.change_flags(compute_test_value="raise"):
        result = op(y)
        assert result.tag.test_value == 8
        assert theano.grad(result, y).tag.test_value == 12


def test_copies_with_another_shared_variable_keep_the_gradient():
    w, x = theano.shared(2.0, "w"), T.dscalar("x")
    op = OpFromGraph([x], [x * w], grad_overrides=[lambda inputs, gradients: gradients[0] * 5])
    y = theano.clone(op(x), {w: theano.shared(3.0)})
    assert theano.function([x], y)(2.0) == 6
    assert theano.function([x], theano.grad(y, x), on_unused_input="ignore")(2.0) == 5
