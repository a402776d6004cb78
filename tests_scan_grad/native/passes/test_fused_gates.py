"""Steps with gates that are slices of one product: how many passes over memory they take."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import python_mode
from tests_scan_grad.native.passes.statements import kinds_of, loops_after_passes

STEPS, BATCH, WIDTH = 4, 3, 5


def gate(p, k, n):
    return p[:, k * n : (k + 1) * n]


def lstm(x_t, h, c, u, n):
    p = x_t + T.dot(h, u)
    i, f, o = (T.nnet.sigmoid(gate(p, k, n)) for k in range(3))
    c = f * c + i * T.tanh(gate(p, 3, n))
    return o * T.tanh(c), c


def gru(x_t, h, u, n):
    p = x_t[:, : 2 * n] + T.dot(h, u[:, : 2 * n])
    r, z = T.nnet.sigmoid(gate(p, 0, n)), T.nnet.sigmoid(gate(p, 1, n))
    c = T.tanh(x_t[:, 2 * n :] + T.dot(r * h, u[:, 2 * n :]))
    return z * h + (1 - z) * c


# the step, how many gates, how many states
CELLS = {"lstm": (lstm, 4, 2), "gru": (gru, 3, 1)}


def gradient_of(name, static, mode):
    """Return the cost and gradients of a network of such steps as a function, and arrays for it."""
    step, gates, states = CELLS[name]
    shapes = [(STEPS, BATCH, gates * WIDTH), (WIDTH, gates * WIDTH), *[(BATCH, WIDTH)] * states]
    x, u, *starts = (
        T.TensorType("float64", shape=shape if static else (None,) * len(shape))()
        for shape in shapes
    )
    n = WIDTH if static else starts[0].shape[1]
    rows, _ = theano.scan(
        lambda *values: step(*values, n), [x], outputs_info=starts, non_sequences=[u]
    )
    cost = ((rows[0] if states > 1 else rows) ** 2).sum()
    function = theano.function([x, u, *starts], [cost, *T.grad(cost, [x, u, *starts])], mode=mode)
    rng = np.random.default_rng(len(name))
    return function, [rng.normal(size=shape) for shape in shapes]


@pytest.mark.parametrize("static", [False, True], ids=["dynamic", "static"])
@pytest.mark.parametrize("name", CELLS)
def test_few_maps_a_step(name, static):
    function, _ = gradient_of(name, static, python_mode())
    forward, backward = (list(p.values())[-1] for p in loops_after_passes(function).values())
    assert kinds_of(forward).count("map") <= (1 if name == "lstm" else 2)
    assert kinds_of(backward).count("map") <= 3
    assert "combine" not in kinds_of(backward)


@pytest.mark.parametrize("static", [False, True], ids=["dynamic", "static"])
@pytest.mark.parametrize("name", CELLS)
def test_values_and_gradients(name, static):
    function, arrays = gradient_of(name, static, "FAST_RUN")
    reference, _ = gradient_of(name, static, python_mode())
    for ours, theirs in zip(function(*arrays), reference(*arrays), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


# slices of a row of 12, and what the cost is of: parts that are added to zeros
PARTS = {
    "all of it": lambda p, n: [p[:, :n], p[:, n : 2 * n], p[:, 2 * n :]],
    "from the second on": lambda p, n: [p[:, n : 2 * n], p[:, 2 * n : 3 * n]],
    "a gap": lambda p, n: [p[:, :n], p[:, 2 * n : 3 * n]],
    "overlapping": lambda p, n: [p[:, : 2 * n], p[:, n : 3 * n]],
    "the same twice": lambda p, n: [p[:, :n], p[:, :n]],
    "from behind": lambda p, n: [p[:, :-n], p[:, -n:]],
    "backwards": lambda p, n: [p[:, n:0], p[:, :n], p[:, 2 * n : n], p[:, n : 2 * n]],
    "rows": lambda p, n: [p[:1], p[1:]],
    "every other": lambda p, n: [p[:, ::2], p[:, 1::2]],
}


@pytest.mark.parametrize("width", [0, 1, 4, 7])
@pytest.mark.parametrize("parts", PARTS)
def test_gradients_of_slices(parts, width):
    x, h0, n = T.dtensor3("x"), T.dmatrix("h0"), T.lscalar("n")

    def step(x_t, h, n):
        slices = PARTS[parts](T.sin(x_t * h), n)
        return sum((T.sqr(s) * (k + 1)).sum() for k, s in enumerate(slices)) * h

    def results(mode):
        rows, _ = theano.scan(step, [x], outputs_info=[h0], non_sequences=[n])
        cost = rows[-1].sum()
        return theano.function([x, h0, n], [cost, *T.grad(cost, [x, h0])], mode=mode)

    rng = np.random.default_rng(width)
    arrays = rng.normal(size=(3, 2, 12)), rng.normal(size=(2, 12)), width
    for ours, theirs in zip(
        results("FAST_RUN")(*arrays), results(python_mode())(*arrays), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
