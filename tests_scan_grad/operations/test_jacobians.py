"""Jacobians and Hessians: all rows at once are the rows of the loop, and those of differences."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.gradient import DisconnectedInputError, hessian, jacobian
from theano.ifelse import ifelse
from theano.pytensor_internals.graphs.scan import Scan

RNG = np.random.default_rng(11)
SIZE = 4
X, W = RNG.uniform(0.2, 0.9, SIZE), RNG.normal(size=(3, SIZE))
M = RNG.normal(size=(SIZE, SIZE)) + SIZE * np.eye(SIZE)
PLACES = np.array([2, 0, 2])


def matrix_of(x):
    return T.outer(x, x) + M


def states(x, **options):
    return theano.scan(
        lambda h, x: T.tanh(x * h + T.dot(M / 9, h)),
        outputs_info=[x],
        non_sequences=[x],
        n_steps=3,
        **options,
    )[0]


def own_graph(x):
    v = T.dvector("v")
    return theano.compile.builders.OpFromGraph([v], [T.exp(v) * v.sum()])(x)


FIELDS = {
    "elementwise": lambda x: T.exp(x) * T.sin(x) + x[0],
    "itself": lambda x: x,
    "product": lambda x: T.tanh(T.dot(W, x)),
    "products of rows": lambda x: T.dot(T.tanh(T.dot(matrix_of(x), W.T)), T.exp(T.dot(W, x))),
    "products of matrices": lambda x: T.dot(matrix_of(x), T.dot(matrix_of(2 * x), W.T)).flatten(),
    "product of vectors": lambda x: x * T.dot(x, x**2),
    "reductions": lambda x: T.stack([x.sum(), (x**2).mean(), T.prod(x), x.max()]),
    "reductions of matrices": lambda x: matrix_of(x).prod(axis=0) / matrix_of(x).sum(axis=1),
    "norm": lambda x: x / T.sqrt((x**2).sum()),
    "parts": lambda x: T.stack([x[1] * x[0], x[-1], x[1:3].sum(), x[::-1][0] ** 2]),
    "slices": lambda x: T.exp(x[1:]) * x[:-1],
    "written": lambda x: T.set_subtensor(T.inc_subtensor(x[1:], x[:-1] ** 2)[0], x[2] * 3) ** 2,
    "gathered": lambda x: T.exp(x)[PLACES] * x[PLACES + 1],
    "gathered rows": lambda x: matrix_of(x)[PLACES].sum(axis=1) * matrix_of(x)[PLACES, PLACES],
    "scattered": lambda x: T.inc_subtensor(T.zeros((SIZE,))[PLACES], x[:3] ** 2) * x,
    "masked": lambda x: T.exp(x[T.gt(x, 0.1).nonzero()]),
    "joined": lambda x: T.concatenate([x[:2] ** 2, [1.0], x, T.dot(W, x)]),
    "stacked": lambda x: T.stack([x, x**2, T.ones_like(x)]).T.flatten(),
    "reshaped": lambda x: T.dot(T.outer(x, x**2).reshape((2, 2 * SIZE)), T.ones((2 * SIZE,))),
    "diagonals": lambda x: T.diag(matrix_of(x)) * T.dot(T.diag(x), x),
    "inverse": lambda x: T.dot(T.nlinalg.matrix_inverse(matrix_of(x)), x),
    "determinant": lambda x: x * T.nlinalg.det(matrix_of(x)),
    "solution": lambda x: T.slinalg.solve(matrix_of(x), x),
    "cumulated": lambda x: T.cumsum(x) * T.cumprod(x + 1),
    "softmax": lambda x: T.nnet.softmax(T.dot(matrix_of(x), W.T)).flatten(),
    "chosen elements": lambda x: T.switch(T.gt(x, 0.5), x**2, T.exp(x)),
    "chosen": lambda x: ifelse(T.gt(x[0], 0.1), T.exp(x) * x, x**3),
    "sorted": lambda x: T.sort(x) * x,
    "clipped": lambda x: theano.gradient.grad_clip(x, -0.5, 0.5) ** 2 * 3,
    "with a constant part": lambda x: theano.gradient.disconnected_grad(x) * T.exp(x),
    "loop": lambda x: states(x)[-1],
    "rows of a loop": lambda x: (states(x) ** 2).sum(axis=1),
    "until": lambda x: theano.scan(
        lambda h: (h * 1.5, theano.scan_module.until(h.sum() > 20)), outputs_info=[x], n_steps=30
    )[0][-1],
    "graph": own_graph,
    "one element": lambda x: x[:1] ** 2,
    "no element": lambda x: x[:0] ** 2,
}
# by definition not the derivatives of what they compute
SHAPED = {"clipped", "with a constant part"}


def compiled(x, outputs):
    return theano.function([x], outputs)


def loops(function):
    return [node for node in function.maker.fgraph.apply_nodes if isinstance(node.op, Scan)]


def differences(field, at, step=1e-6):
    """The Jacobian by central differences."""
    return np.stack(
        [
            (field(at + step * unit) - field(at - step * unit)) / (2 * step)
            for unit in np.eye(len(at))
        ],
        axis=1,
    )


@pytest.mark.parametrize("name", FIELDS)
def test_rows_at_once_are_those_of_the_loop(name):
    x = T.dvector("x")
    y = FIELDS[name](x)
    rows = jacobian(y, x)
    # PyTensor's loop takes no variable twice
    one_by_one = rows if y is x else jacobian(y, x, vectorize=False)
    at_once, values = compiled(x, rows), compiled(x, [y, one_by_one])
    found = at_once(X)
    assert found.dtype == np.float64 and rows.type.ndim == 2
    np.testing.assert_allclose(found, values(X)[1], rtol=1e-10, atol=1e-13)
    if name not in SHAPED:
        slopes = differences(lambda at: values(at)[0], X)
        np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "name", [name for name in FIELDS if "loop" not in name and name != "until"]
)
def test_no_loop_is_left(name):
    x = T.dvector("x")
    assert not loops(compiled(x, jacobian(FIELDS[name](x), x)))


@pytest.mark.parametrize(
    "name", ["elementwise", "products of matrices", "inverse", "loop", "gathered", "written"]
)
def test_jacobians_of_jacobians(name):
    x = T.dvector("x")
    first = jacobian(FIELDS[name](x), x)
    second = jacobian(first.flatten(), x)
    third = jacobian(second.sum(axis=0), x)
    f = compiled(x, [first.flatten(), second, second.sum(axis=0), third])
    _, second, _, third = f(X)
    np.testing.assert_allclose(second, differences(lambda at: f(at)[0], X), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(third, differences(lambda at: f(at)[2], X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["elementwise", "products of rows", "loop", "norm", "until"])
def test_hessians(name):
    x = T.dvector("x")
    cost = (FIELDS[name](x) ** 2).sum()
    (at_once,), one_by_one = hessian(cost, [x]), hessian(cost, x, vectorize=False)
    f = compiled(x, [theano.grad(cost, x), at_once, one_by_one])
    _, found, expected = f(X)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found, differences(lambda at: f(at)[0], X), rtol=1e-5, atol=1e-6)


def test_variables_of_any_rank_and_those_that_do_not_count():
    x, m, s, other = T.dvector("x"), T.dmatrix("m"), T.dscalar("s"), T.dmatrix("other")
    y = T.tanh(T.dot(m, x)) * s
    with pytest.raises(DisconnectedInputError):
        jacobian(y, [x, other])
    for vectorize in (True, False):
        rows = jacobian(y, (x, m, s, other), disconnected_inputs="ignore", vectorize=vectorize)
        assert isinstance(rows, tuple)
        found = theano.function([x, m, s, other], rows)(X, W, 2.0, np.ones((2, 5)))
        slope = 2 * (1 - np.tanh(W @ X) ** 2)
        np.testing.assert_allclose(found[0], slope[:, None] * W)
        np.testing.assert_allclose(found[1], np.einsum("i,ij,k->ijk", slope, np.eye(3), X))
        np.testing.assert_allclose(found[2], np.tanh(W @ X))
        np.testing.assert_array_equal(found[3], np.zeros((3, 2, 5)))


def test_what_is_taken_for_a_constant():
    x = T.dvector("x")
    middle = x**2
    for vectorize in (True, False):
        rows = jacobian(middle * x, x, consider_constant=[middle], vectorize=vectorize)
        np.testing.assert_allclose(compiled(x, rows)(X), np.diag(X**2))


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_other_dtypes(dtype):
    x = T.vector("x", dtype=dtype)
    rows = jacobian(T.exp(x) * x.sum(), x)
    expected = jacobian(T.exp(x) * x.sum(), x, vectorize=False)
    assert rows.dtype == expected.dtype
    given = np.arange(3).astype(dtype)
    np.testing.assert_allclose(compiled(x, rows)(given), compiled(x, expected)(given), rtol=1e-5)


def test_known_lengths():
    x = T.TensorType("float64", shape=(3,))("x")
    rows = jacobian(x**2, x)
    assert rows.type.shape == (3, 3)
    np.testing.assert_array_equal(compiled(x, rows)([1.0, 2.0, 3.0]), np.diag([2.0, 4.0, 6.0]))


class Twice(theano.Op):
    """An operation of a user's, which knows no batches."""

    __props__ = ()
    itypes = (T.dvector,)
    otypes = (T.dvector,)

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = 2 * inputs[0]

    def grad(self, inputs, gradients):
        return [Twice()(gradients[0])]


def test_an_operation_without_a_form_for_several_rows_is_called_for_each():
    x = T.dvector("x")
    f = compiled(x, jacobian(Twice()(x) ** 2, x))
    assert loops(f)
    np.testing.assert_allclose(f(X), np.diag(8 * X))
