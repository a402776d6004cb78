"""Values that are computed before a loop: invariants, and products of sequences."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import loops, products_in_loops, products_outside, python_mode


def test_a_step_that_is_the_same_each_time_keeps_its_initial_rows():
    start, w = T.vector("start"), T.vector("w")
    states, _ = theano.scan(
        lambda state, w: T.tanh(w),
        outputs_info=[start],
        non_sequences=[w],
        n_steps=3,
        mode=python_mode(),
    )
    function = theano.function([start, w], states, mode=python_mode(), on_unused_input="ignore")
    given = np.array([0.5, 1.0])
    np.testing.assert_allclose(function(np.zeros(2), given), [np.tanh(given)] * 3, rtol=1e-12)


def test_an_invariant_product_is_computed_once():
    x, u, v = T.matrix("x"), T.matrix("u"), T.matrix("v")
    outputs, _ = theano.scan(
        lambda x, h, u, v: T.tanh(x + h.dot(u.dot(v))),
        sequences=[x],
        outputs_info=[T.zeros(3)],
        non_sequences=[u, v],
        mode=python_mode(),
    )
    function = theano.function([x, u, v], outputs[-1], mode=python_mode())
    assert products_in_loops(function) == [1]
    assert products_outside(function) == 1


@pytest.mark.parametrize(
    "shape, ndim",
    [
        (lambda w: T.stack([w.shape[0], w.shape[1]]), 2),
        (lambda w: w.shape[:-1], 2),
        (lambda w: (w.shape[0] * w.shape[1]).dimshuffle("x"), 1),
        (lambda w: T.stack([w.shape[2], w.shape[1], w.shape[0]])[1:], 2),
    ],
)
def test_lists_of_lengths_are_made_in_the_step(shape, ndim):
    x, w = T.matrix("x"), T.tensor3("w")
    outputs, _ = theano.scan(
        lambda row, w: (row.sum() * w.sum(axis=2)).reshape(shape(w), ndim=ndim).sum(axis=0),
        sequences=[x],
        non_sequences=[w],
        mode=python_mode(),
    )
    function = theano.function([x, w], outputs.sum(), mode=python_mode())
    (loop,) = loops(function)
    assert all(v.type.ndim == 0 for v in loop.inputs if v.type.dtype == "int64")
    assert function(np.ones((2, 3)), np.ones((2, 3, 4))) == 144.0


def test_numbers_of_a_matrix_that_a_loop_is_given():
    x, numbers = T.vector("x"), T.lmatrix("numbers")
    computed = numbers * 2
    given = [computed[0, 1], computed[1, 0], computed[1, 1]]
    states, _ = theano.scan(
        lambda row, h, a, b, c: T.tanh(row * a + h * b) - h * c, [x], T.zeros(()), given
    )
    function = theano.function([x, numbers], states)
    np.testing.assert_allclose(function([0.5], [[0, 1], [2, 3]]), [np.tanh(1.0)], rtol=1e-6)


def test_a_check_stays_in_the_step():
    """A loop of no steps checks nothing."""
    n, w = T.iscalar("n"), T.vector("w")
    checked = T.opt.Assert("w must not be empty")(w, w.shape[0] > 0)
    outputs, _ = theano.scan(
        lambda total, w: total + checked.sum(),
        outputs_info=[T.zeros(())],
        non_sequences=[w],
        n_steps=n,
        mode=python_mode(),
    )
    function = theano.function([n, w], outputs.sum(), mode=python_mode())
    assert function(2, [1.0, 2.0]) == 9.0


def test_a_map_needs_no_loop():
    x, w = T.matrix("x"), T.vector("w")
    outputs, _ = theano.map(lambda row, w: (row * w).sum(), x, non_sequences=[w])
    function = theano.function([x, w], outputs, mode=python_mode())
    assert loops(function) == []
    given = np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(function(given, [1.0, 2.0]), given @ [1.0, 2.0])


def test_a_jacobian_runs_the_loop_once_and_makes_no_memory_for_gradients_that_it_does_not_give():
    """The gradient by the matrix, of every step, is in the loop that each row of it goes back by."""
    x, start, w = T.matrix("x"), T.vector("start"), T.matrix("w")
    h, _ = theano.scan(lambda x, h, w: T.tanh(x + h.dot(w)), x, start, w)
    slope = theano.grad((h**2).sum(), start)
    jacobian = theano.gradient.jacobian(h[-1], start, vectorize=False)
    function = theano.function([x, start, w], [slope, jacobian], mode=python_mode())
    made = [v for node in function.maker.fgraph.toposort() for v in node.outputs]
    assert not [v for v in made if v.type.ndim > 2]
    # the states of the loop, and of its gradient
    assert sum(node.op.info.n_sit_sot for node in loops(function)) == 2
    rng = np.random.default_rng(0)
    given = rng.normal(size=(4, 3)), rng.normal(size=3), rng.normal(size=(3, 3))
    state, expected = given[1], np.eye(3)
    for row in given[0]:
        state = np.tanh(row + state @ given[2])
        expected = (1 - state**2)[:, None] * (given[2].T @ expected)
    np.testing.assert_allclose(function(*given)[1], expected, rtol=1e-10)


@pytest.mark.parametrize(
    "reads", [lambda W, d: W, lambda W, d: W * T.exp(d)], ids=["as-given", "hoisted"]
)
def test_an_invariant_that_turns_out_to_be_a_row(reads):
    w, d, h0 = T.vector("w"), T.dscalar("d"), T.matrix("h0")
    W = T.unbroadcast(w.dimshuffle("x", 0), 0)
    with theano.config.change_flags(on_opt_error="raise", cache_optimizations=False):
        h, _ = theano.scan(
            lambda h, W, d, twice: h * twice + reads(W, d),
            outputs_info=h0,
            non_sequences=[W, d, T.constant(2.0)],
            n_steps=3,
            strict=True,
        )
        gradients = T.grad(h[-1].sum(), [h0, w], disconnected_inputs="ignore")
        f = theano.function([h0, w, d], [h[-1], *gradients], on_unused_input="ignore")
    values = np.ones((1, 3)), np.arange(3.0), 0.0
    last, of_start, of_row = f(*values)
    np.testing.assert_allclose(last, 8 + 7 * values[1][None])
    np.testing.assert_allclose(of_start, np.full((1, 3), 8.0))
    np.testing.assert_allclose(of_row, np.full(3, 7.0))
