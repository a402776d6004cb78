"""Results of loops without steps, which have the shapes that rows would have."""

import numpy as np
import pytest

import theano
import theano.tensor as T


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", "XLA"])
@pytest.mark.parametrize("static", [False, True])
def test_rows_keep_their_lengths(mode, static):
    x = T.TensorType("float64", shape=(0 if static else None,))("x")
    w = T.dmatrix("w")
    (rows, column, number, state), _ = theano.scan(
        lambda x, h, w: [w * x, w.sum(axis=1, keepdims=True), x, h + w],
        x,
        [None, None, None, T.zeros_like(w)],
        w,
    )
    function = theano.function([x, w], [rows, column, number, state], mode=mode)
    shapes = [value.shape for value in function(np.zeros(0), np.ones((2, 3)))]
    assert shapes == [(0, 2, 3), (0, 2, 1), (0,), (0, 2, 3)]


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", "XLA"])
def test_gradients_of_what_was_never_computed(mode):
    x, w = T.dvector("x"), T.dmatrix("w")
    rows, _ = theano.scan(lambda x, w: T.exp(w * x), x, non_sequences=w)
    gradients = theano.grad(rows.sum(), [x, w])
    function = theano.function([x, w], gradients, mode=mode)
    of_x, of_w = function(np.zeros(0), np.ones((2, 3)))
    assert of_x.shape == (0,)
    np.testing.assert_array_equal(of_w, np.zeros((2, 3)))


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", "XLA"])
def test_gradients_of_a_sequence_that_is_too_short(mode):
    """Its lengths are numbers whose places PyTensor gives to other numbers."""
    x = T.dmatrix("x")
    sums, _ = theano.scan(lambda row: (row * row).sum(), {"input": x, "taps": [-1]})
    function = theano.function([x], theano.grad((sums**2).sum(), x), mode=mode)
    np.testing.assert_array_equal(function(np.ones((1, 2))), np.zeros((1, 2)))
    np.testing.assert_array_equal(function(np.ones((2, 2))), [[8, 8], [0, 0]])


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", "XLA"])
def test_lengths_that_a_step_asks_for(mode):
    """Of a row that is stacked, which is filled to its own shape, and of a vector by its length."""
    x, _w = T.dmatrices("x", "w")
    (stacked, counted), _ = theano.scan(
        lambda row: (T.stack([row, row]), T.zeros(row.shape[0] + 1) + row.sum()), x
    )
    function = theano.function([x], [stacked, counted], mode=mode)
    assert [value.shape for value in function(np.zeros((0, 3)))] == [(0, 2, 3), (0, 4)]


@pytest.mark.parametrize("mode", ["FAST_COMPILE", theano.Mode("py", None)])
def test_a_length_that_only_a_step_tells_is_zero(mode):
    n = T.lvector("n")
    rows, _ = theano.scan(lambda n: T.nonzero(T.arange(n))[0].dimshuffle("x", 0), n)
    function = theano.function([n], rows, mode=mode)
    assert function([])[:, :, :0].shape[0] == 0
    assert function([4]).shape == (1, 1, 3)


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", theano.Mode("py", None)])
@pytest.mark.parametrize("n_steps", [None, 0, "n"])
def test_a_shared_variable_that_no_step_changes_keeps_its_value(n_steps, mode):
    x, n, counted = T.dvector("x"), T.lscalar("n"), theano.shared(np.array([3.0, 4.0]))
    rows, updates = theano.scan(
        lambda x: (x, {counted: counted * 2}), x, n_steps=n if n_steps == "n" else n_steps
    )
    f = theano.function([x, n], rows, updates=updates, mode=mode, on_unused_input="ignore")
    assert f(np.zeros(0), 0).shape == (0,)
    np.testing.assert_array_equal(counted.get_value(), [3, 4])


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "FAST_RUN", "XLA"])
def test_a_loop_of_constants_without_steps_has_its_columns(mode):
    """One of PyTensor's rewrites makes it, in the second gradient, and another would compute it at once."""
    x, w = T.dtensor3("x"), T.dmatrix("w")
    doubled, _ = theano.scan(lambda x, w: w + w, x, non_sequences=w, n_steps=0)
    gradient = T.grad(T.sin(doubled).sum(), w)
    second = T.grad((gradient * np.ones((2, 3))).sum(), w)
    function = theano.function([x, w], [doubled, gradient, second], mode=mode)
    found = function(np.ones((2, 2, 3)), np.ones((2, 3)))
    assert [value.shape for value in found] == [(0, 2, 3), (2, 3), (2, 3)]
    assert not found[1].any() and not found[2].any()
