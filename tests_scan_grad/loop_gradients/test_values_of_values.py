"""Derivatives of several values at once, of which one is computed from another."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.scan_module.scan_op import Scan

MODES = ["FAST_COMPILE", "FAST_RUN"]


def without_rule(x):
    return T.opt.Assert()(x, x.shape[0] > 0)


def loop(x, start, nested):
    """A state whose first rows are asserted, which has no forward rule, so that Rop goes back twice."""

    def step(x, h):
        if nested:
            inner, _ = theano.scan(lambda s: T.sin(s), outputs_info=h, n_steps=2)
            h = inner[-1]
        return T.tanh(x + h)

    return theano.scan(step, x, {"initial": without_rule(start), "taps": [-2]})[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("of", [lambda y: T.switch(y < 0, y, y), T.sin, lambda y: y[::-1]])
def test_tangents(of, nested, mode):
    x, start, v = T.dmatrices("x", "start", "v")
    y = loop(x, start, nested)
    values = [of(y), y, of(of(y)).sum()]
    together = theano.Rop(values, x, v)
    alone = [theano.Rop(value, x, v) for value in values]
    function = theano.function([x, start, v], [*together, *alone], mode=mode)
    rng = np.random.default_rng(0)
    found = function(rng.normal(size=(5, 3)), rng.normal(size=(2, 3)), rng.normal(size=(5, 3)))
    for both, one in zip(found[:3], found[3:], strict=True):
        assert np.abs(one).max() > 0.01
        np.testing.assert_allclose(both, one, rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [list, tuple])
def test_cotangents_add_up(kind, mode):
    x, u, v = T.dvectors("x", "u", "v")
    y = T.tanh(x)
    found = theano.Lop(kind([T.sin(y), y]), x, kind([u, v]))
    function = theano.function([x, u, v], found, mode=mode)
    values = np.array([0.1, -0.5]), np.array([1.0, 2.0]), np.array([3.0, -1.0])
    tanh = np.tanh(values[0])
    expected = (values[1] * np.cos(tanh) + values[2]) * (1 - tanh**2)
    np.testing.assert_allclose(function(*values), expected, rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_tangents_with_respect_to_several_of_which_one_has_the_gradient_of_another(mode):
    """The gradient of the second is what the gradient of the first is computed from."""
    x, s, z, ds, dz = T.dvectors("x", "s", "z", "ds", "dz")
    (_, b), _ = theano.scan(
        lambda x, s1, s2, z: (s1 + x - s2, z - s2),
        x,
        [{"initial": without_rule(s), "taps": [-1, -2]}, z],
    )
    tangent = theano.Rop(b[-1], [s, z, x], [ds, dz, T.zeros_like(x)])
    function = theano.function([x, s, z, ds, dz], tangent, mode=mode, on_unused_input="ignore")
    found = function([1.0], [2.0, 3.0], [4.0, 5.0], [0.1, 0.2], [0.3, 0.4])
    np.testing.assert_allclose(found, [0.2, 0.3], rtol=1e-12)


def test_tangent_of_what_does_not_depend_on_it():
    x, s, v = T.dmatrices("x", "s", "v")
    rows = loop(x, s, nested=False)
    with pytest.raises(theano.gradient.DisconnectedInputError):
        theano.Rop([rows.sum(), s], x, v)
    # as Theano 1.0.5: what an operator computes has a derivative of zero
    for options in ({}, {"disconnected_outputs": "ignore"}):
        zero = theano.Rop([rows.sum(), s.sum()], x, v, **options)[1]
        assert zero.eval({s: np.ones((2, 1))}) == 0


@pytest.mark.parametrize("mode", MODES)
def test_tangents_with_respect_to_two_operands_of_a_sum(mode):
    """They have one gradient, which goes back twice."""
    s, a, b, ds, da, db = T.dvectors("s", "a", "b", "ds", "da", "db")
    (first, second), _ = theano.scan(
        lambda s2, s1, a, b: (s1 - s2, T.tanh(a + b)),
        outputs_info=[{"initial": without_rule(s), "taps": [-2, -1]}, a],
        non_sequences=b,
        n_steps=1,
    )
    tangent = theano.Rop(first[-1] + second.sum(), [s, a, b], [ds, da, db])
    function = theano.function([s, a, b, ds, da, db], tangent, mode=mode, on_unused_input="ignore")
    found = function([0.0, 0.0], [0.1], [0.2], [1.0, 3.0], [5.0], [7.0])
    np.testing.assert_allclose(found, 2 + 12 * (1 - np.tanh(0.3) ** 2), rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_a_value_that_is_named_twice_counts_twice(mode):
    x, u, v = T.dvectors("x", "u", "v")
    y = T.sin(x)
    function = theano.function([x, u, v], theano.Lop([y, y], x, [u, v]), mode=mode)
    np.testing.assert_allclose(function([0.5], [2.0], [3.0]), 5 * np.cos([0.5]), rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_tangents_of_a_step_that_reads_several_steps_back_are_one_loop_forward(mode):
    start, v = T.dvectors("start", "v")
    rows, _ = theano.scan(
        lambda before, last: T.sin(before) + last,
        outputs_info={"initial": start, "taps": [-2, -1]},
        n_steps=4,
    )
    function = theano.function([start, v], theano.Rop(rows[-1], start, v), mode=mode)
    loops = [node for node in function.maker.fgraph.apply_nodes if isinstance(node.op, Scan)]
    assert len(loops) == 1
    s, d = np.array([0.1, 0.2]), np.array([1.0, 2.0])
    values, tangents = list(s), list(d)
    for _ in range(4):
        tangents.append(np.cos(values[-2]) * tangents[-2] + tangents[-1])
        values.append(np.sin(values[-2]) + values[-1])
    np.testing.assert_allclose(function(s, d), tangents[-1], rtol=1e-12)
    with pytest.raises(
        ValueError, match="read 2 steps back, so that its initial value needs 2 rows"
    ):
        function(s[:1], d[:1])


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN"])
def test_a_step_that_returns_a_tap_which_it_overwrites(mode):
    """The step of the second gradient returns a row twice, and once as what becomes of it."""
    start = T.fmatrix("start")

    def step(before, last):
        return T.tanh(before - last), T.switch(T.lt(before, 0), before, before)

    states = dict(initial=start, taps=[-2, -1])
    (found, kept), _ = theano.scan(step, outputs_info=[states, None], n_steps=2)
    cost = (T.sin(found) * np.arange(2, dtype="float32")[:, None]).sum() + T.sin(kept).sum()
    gradient = T.grad(cost, start)
    second = T.grad((gradient * np.float32([[0.3], [0.7]])).sum(), start)
    value = np.float32([[0.1, -0.2, 0.3], [0.5, 0.4, -0.6]])
    compiled = theano.function([start], second, mode=mode)
    slope = theano.function([start], gradient, mode="FAST_RUN")
    moved = 1e-2 * np.float32([[0.3], [0.7]]) * np.ones_like(value)
    expected = (slope(value + moved) - slope(value - moved)) / 2e-2
    for _ in range(2):
        np.testing.assert_allclose(compiled(value), expected, rtol=1e-2, atol=2e-3)
