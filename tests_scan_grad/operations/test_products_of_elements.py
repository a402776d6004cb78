"""Products of elements are differentiated as often as one likes, with zeros among the elements."""

import itertools

import numpy as np
import pytest

import theano
import theano.tensor as T

VECTORS = {
    "no zero": [2.0, -1.5, 3.0, 0.5],
    "one zero": [2.0, 0.0, 3.0, 0.5],
    "two zeros": [2.0, 0.0, 3.0, 0.0],
    "three zeros": [0.0, 0.0, 3.0, 0.0],
    "one element": [0.0],
    "no element": [],
}
MODES = ["FAST_RUN", "FAST_COMPILE"]


def derivative(values, *positions):
    """The derivative of the product of a vector's elements by those at some positions."""
    if len(set(positions)) < len(positions):
        return 0.0
    return float(np.prod(np.delete(values, positions)))


def derivatives(values, order):
    n = len(values)
    found = [derivative(values, *at) for at in itertools.product(range(n), repeat=order)]
    return np.reshape(found, (n,) * order)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("values", VECTORS.values(), ids=VECTORS)
def test_rop_and_second_gradient(values, mode):
    x, v = T.dvectors("x", "v")
    value = T.prod(x)
    gradient = theano.grad(value, x)
    second = [
        theano.grad((gradient * v).sum(), x),
        theano.Rop(gradient, x, v),
    ]
    direction = np.arange(1.0, len(values) + 1)
    f = theano.function([x, v], [gradient, theano.Rop(value, x, v), *second], mode=mode)
    found = f(values, direction)
    np.testing.assert_allclose(found[0], derivatives(values, 1))
    np.testing.assert_allclose(found[1], derivatives(values, 1) @ direction)
    for result in found[2:]:
        np.testing.assert_allclose(result, derivatives(values, 2) @ direction, atol=1e-12)


@pytest.mark.parametrize("values", VECTORS.values(), ids=VECTORS)
def test_third_gradient(values):
    x, u, v = T.dvectors("x", "u", "v")
    first = theano.grad(T.prod(x), x)
    second = theano.grad((first * u).sum(), x)
    third = theano.grad((second * v).sum(), x, disconnected_inputs="ignore")
    along, other = np.arange(1.0, len(values) + 1), np.arange(2.0, len(values) + 2)
    expected = derivatives(values, 3) @ other @ along
    found = theano.function([x, u, v], third)(values, along, other)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_hessian():
    x = T.dvector("x")
    values = VECTORS["two zeros"]
    f = theano.function([x], T.hessian(T.prod(x) ** 2 + T.prod(x), x))
    first, second = derivatives(values, 1), derivatives(values, 2)
    expected = 2 * np.outer(first, first) + (2 * np.prod(values) + 1) * second
    np.testing.assert_allclose(f(values), expected, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1, -1, (0, 2), (1, 2), (0, 1, 2), None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes(axis, keepdims, dtype):
    rng = np.random.default_rng(3)
    values = rng.integers(-2, 3, (2, 3, 4)).astype(dtype)
    direction, weights = rng.normal(size=(2, 2, 3, 4)).astype(dtype)
    x, v, w = (T.tensor3(name, dtype=dtype) for name in "xvw")
    value = T.prod(x, axis=axis, keepdims=keepdims)
    gradient = theano.grad(value.sum(), x)
    second = theano.grad((gradient * w).sum(), x)
    rop = theano.Rop(value, x, v)
    assert value.dtype == gradient.dtype == second.dtype == rop.dtype == dtype
    found = theano.function([x, v, w], [rop, gradient, second])(values, direction, weights)

    axes = tuple(range(3)) if axis is None else tuple(np.atleast_1d(axis) % 3)
    others = [k for k in range(3) if k not in axes]
    expected = np.zeros((2, 2, 3, 4))
    for at in np.ndindex(*(values.shape[k] for k in others)):
        index = [slice(None)] * 3
        for k, position in zip(others, at, strict=True):
            index[k] = position
        group = values[tuple(index)]
        flat = group.ravel().astype("float64")
        along = weights[tuple(index)].ravel()
        expected[(0, *index)] = derivatives(flat, 1).reshape(group.shape)
        expected[(1, *index)] = (derivatives(flat, 2) @ along).reshape(group.shape)
    by_rop = (expected[0] * direction).sum(axes, keepdims=keepdims)
    for result, wanted in zip(found, [by_rop, *expected], strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-4)


def test_in_a_loop():
    x, v = T.dvectors("x", "v")
    states, _ = theano.scan(
        lambda h, x: (h * T.prod(x + h, axis=0)) / 10, T.arange(3.0), non_sequences=x
    )
    cost = states.sum()
    gradient = theano.grad(cost, x)
    f = theano.function([x, v], [theano.grad((gradient * v).sum(), x), theano.Rop(gradient, x, v)])
    values, direction = np.array([0.0, -1.0, 0.0, 2.0]), np.array([1.0, 2.0, -1.0, 0.5])
    expected = sum(h / 10 * derivatives(values + h, 2) @ direction for h in range(3))
    for found in f(values, direction):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_of_integers_and_without_zeros():
    i, x = T.lvector("i"), T.dvector("x")
    assert T.prod(i).dtype == "int64"
    assert theano.function([i], T.prod(i))([2, 3, -4]) == -24
    assert (theano.grad(T.prod(i) * 1.0, i).eval({i: [2, 3]}) == 0).all()
    gradient = theano.grad(T.prod(x, no_zeros_in_input=True), x)
    np.testing.assert_allclose(
        theano.grad(gradient[0], x).eval({x: [2.0, 3.0, 4.0]}), [0, 4, 3], atol=1e-12
    )


def test_the_gradient_of_a_logarithm_divides_by_no_product_that_underflows():
    x = T.dvector("x")
    states, _ = theano.scan(lambda x: T.log(T.prod(x)), non_sequences=x, n_steps=2)
    values = np.full(400, 0.1)
    for cost, scale in ((T.log(T.prod(x)), 1), (states.sum(), 2)):
        found = theano.function([x], theano.grad(cost, x))(values)
        np.testing.assert_allclose(found, scale * 10.0)
