"""Sums that users write as loops: they are computed outside, or left alone and right."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import (
    gradient_function,
    loops,
    products_in_loops,
    products_outside,
    python_mode,
    theano_scan,
)

STEPS = 5
A = np.random.default_rng(0).standard_normal((STEPS, 3, 4))
B = np.random.default_rng(1).standard_normal((STEPS, 4, 2))
START = np.random.default_rng(2).standard_normal((3, 2))
TOTAL = START + np.einsum("tik,tkj->ij", A, B)


def accumulate(
    increment, start, sequences, read=lambda outputs: outputs[-1], until=None, **options
):
    """The last value of a loop that adds ``increment`` to its state in each step."""

    def step(*arguments):
        *slices, total = arguments
        new = increment(total, *slices)
        return (new, theano.scan_module.until(until(*slices))) if until else new

    outputs, _ = theano.scan(
        step, sequences=sequences, outputs_info=[start], mode=python_mode(), **options
    )
    return read(outputs)


def compiled(inputs, output, **options):
    return theano.function(inputs, output, mode=python_mode(**options))


@pytest.fixture
def symbols():
    return T.tensor3("a"), T.tensor3("b"), T.matrix("start")


@pytest.mark.parametrize(
    "increment",
    [
        lambda w, a, b: w + a.dot(b),
        lambda w, a, b: a.dot(b) + w,
        lambda w, a, b: w + a @ b,
        lambda w, a, b: w + T.dot(b.T, a.T).T,
        lambda w, a, b: w - (-a).dot(b),
        lambda w, a, b: w + 2 * a.dot(b) - a.dot(b),
        lambda w, a, b: w + a.dot(b).reshape((2, 3)).reshape((3, 2)),
    ],
)
def test_one_product_outside(symbols, increment):
    a, b, start = symbols
    function = compiled([a, b, start], accumulate(increment, start, [a, b]))
    np.testing.assert_allclose(function(A, B, START), TOTAL, rtol=1e-12)
    assert products_outside(function) >= 1
    assert loops(function) == []


def test_read_behind_the_first_row(symbols):
    """``scan`` itself reads ``[1:]``; a user may cut again."""
    a, b, start = symbols
    total = accumulate(lambda w, a, b: w + a.dot(b), start, [a, b], read=lambda o: o[0:][-1])
    function = compiled([a, b, start], total)
    np.testing.assert_allclose(function(A, B, START), TOTAL, rtol=1e-12)
    assert loops(function) == []


def test_an_add_of_three_terms_keeps_them_all(symbols):
    a, b, start = symbols
    c, d = T.tensor3("c"), T.tensor3("d")
    total = accumulate(lambda w, a, b, c, d: T.add(w, a.dot(b), c.dot(d)), start, [a, b, c, d])
    function = compiled([a, b, c, d, start], total)
    expected = START + 2 * (TOTAL - START)
    np.testing.assert_allclose(function(A, B, A, B, START), expected, rtol=1e-12)
    assert loops(function) == []


def test_until(symbols):
    a, b, start = symbols
    stop = T.vector("stop")
    total = accumulate(
        lambda w, a, b, stop: w + a.dot(b),
        start,
        [a, b, stop],
        until=lambda a, b, stop: stop > 0,
    )
    function = compiled([a, b, stop, start], total)
    assert products_in_loops(function) == [0]
    for last in range(STEPS):
        stops = (np.arange(STEPS) >= last).astype("float64")
        expected = START + np.einsum("tik,tkj->ij", A[: last + 1], B[: last + 1])
        np.testing.assert_allclose(function(A, B, stops, START), expected, rtol=1e-12)


def test_scaled_products_and_elementwise_terms(symbols):
    a, b, start = symbols
    scale = T.vector("scale")
    total = accumulate(lambda w, a, b, scale: w + scale * a.dot(b), start, [a, b, scale])
    function = compiled([a, b, scale, start], total)
    scales = np.arange(1.0, STEPS + 1)
    expected = START + np.einsum("t,tik,tkj->ij", scales, A, B)
    np.testing.assert_allclose(function(A, B, scales, START), expected, rtol=1e-12)
    assert loops(function) == []


def test_batched_products():
    a, b, start = T.tensor4("a"), T.tensor4("b"), T.tensor3("start")
    function = compiled([a, b, start], accumulate(lambda w, a, b: w + a @ b, start, [a, b]))
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((STEPS, 2, 3, 4)), rng.standard_normal((STEPS, 2, 4, 5))
    initial = rng.standard_normal((2, 3, 5))
    expected = initial + np.einsum("tbik,tbkj->bij", left, right)
    np.testing.assert_allclose(function(left, right, initial), expected, rtol=1e-12)
    assert loops(function) == []


def test_outer_products():
    a, b, start = T.matrix("a"), T.matrix("b"), T.matrix("start")
    function = compiled([a, b, start], accumulate(lambda w, a, b: w + T.outer(a, b), start, [a, b]))
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((STEPS, 3)), rng.standard_normal((STEPS, 4))
    initial = rng.standard_normal((3, 4))
    expected = initial + left.T @ right
    np.testing.assert_allclose(function(left, right, initial), expected, rtol=1e-12)
    assert loops(function) == [] and products_outside(function) == 1


def test_products_with_vectors_of_matrices_at_hand():
    a, b, start = T.tensor3("a"), T.matrix("b"), T.vector("start")
    function = compiled([a, b, start], accumulate(lambda w, a, b: w + a.dot(b), start, [a, b]))
    found = function(A, B[:, :, 0], START[:, 0])
    np.testing.assert_allclose(found, TOTAL[:, 0], rtol=1e-12)
    assert loops(function) == [] and products_outside(function) == 1


def test_products_with_vectors_keep_no_matrix_for_it():
    """Of a matrix that only the step has, the products are kept: a vector in each step."""
    a, b, start = T.tensor3("a"), T.matrix("b"), T.vector("start")

    def step(a, b, h, total):
        seen = T.tanh(a + h)
        return T.tanh(h + b.sum()), total + seen.dot(b)

    (_, totals), _ = theano.scan(
        step, sequences=[a, b], outputs_info=[T.zeros(()), start], mode=python_mode()
    )
    function = compiled([a, b, start], totals[-1])
    (loop,) = loops(function)
    assert max(output.type.ndim for output in loop.outputs) <= 2
    h, expected = 0.0, START[:, 0]
    for left, right in zip(A, B[:, :, 0], strict=True):
        expected = expected + np.tanh(left + h) @ right
        h = np.tanh(h + right.sum())
    np.testing.assert_allclose(function(A, B[:, :, 0], START[:, 0]), expected, rtol=1e-12)


def test_rows_scattered_by_index():
    indices, rows, start = T.lmatrix("indices"), T.tensor3("rows"), T.matrix("start")
    total = accumulate(
        lambda w, index, row: w + T.inc_subtensor(T.zeros_like(start)[index], row),
        start,
        [indices, rows],
    )
    function = compiled([indices, rows, start], total)
    rng = np.random.default_rng(0)
    where, what = rng.integers(0, 6, (STEPS, 3)), rng.standard_normal((STEPS, 3, 2))
    initial = rng.standard_normal((6, 2))
    expected = initial.copy()
    np.add.at(expected, where.ravel(), what.reshape(-1, 2))
    np.testing.assert_allclose(function(where, what, initial), expected, rtol=1e-12)
    assert loops(function) == []


@pytest.mark.parametrize("steps", [1, 3, 5])
def test_number_of_steps(symbols, steps):
    a, b, start = symbols
    n = T.iscalar("n")
    total = accumulate(lambda w, a, b: w + a.dot(b), start, [a, b], n_steps=n)
    function = compiled([a, b, start, n], theano.grad(total.sum(), a))
    slope = np.zeros_like(A)
    slope[:steps] = B[:steps].sum(axis=2)[:, None, :]
    np.testing.assert_allclose(function(A, B, START, steps), slope, rtol=1e-12)


def test_operands_that_change_shape_stay(symbols):
    a, b, start = symbols
    lengths = T.lvector("lengths")
    total = accumulate(
        lambda w, a, b, length: w + a[:, :length].dot(b[:length]), start, [a, b, lengths]
    )
    function = compiled([a, b, lengths, start], total)
    assert products_in_loops(function) == [1]
    ends = [1, 4, 0, 2, 3]
    expected = START + sum(A[t, :, :end] @ B[t, :end] for t, end in enumerate(ends))
    np.testing.assert_allclose(function(A, B, ends, START), expected, rtol=1e-12)


def test_a_sum_whose_steps_are_read_stays(symbols):
    a, b, start = symbols
    totals = accumulate(lambda w, a, b: w + a.dot(b), start, [a, b], read=lambda o: o)
    function = compiled([a, b, start], totals)
    assert len(loops(function)) == 1
    expected = START + np.cumsum(np.einsum("tik,tkj->tij", A, B), axis=0)
    np.testing.assert_allclose(function(A, B, START), expected, rtol=1e-12)


def test_a_sum_that_the_step_reads_stays(symbols):
    a, b, start = symbols

    def step(a, b, w, s):
        new = w + a.dot(b)
        return new, s + w.sum()

    (w, s), _ = theano.scan(
        step, sequences=[a, b], outputs_info=[start, T.zeros(())], mode=python_mode()
    )
    function = compiled([a, b, start], [w[-1], s[-1]])
    got, reads = function(A, B, START)
    np.testing.assert_allclose(got, TOTAL, rtol=1e-12)
    before = START + np.cumsum(np.einsum("tik,tkj->tij", A, B), axis=0)
    np.testing.assert_allclose(reads, START.sum() + before[:-1].sum(), rtol=1e-12)
    assert len(loops(function)) == 1


def test_excluded_by_name(symbols):
    a, b, start = symbols
    total = accumulate(lambda w, a, b: w + a.dot(b), start, [a, b])
    function = compiled(
        [a, b, start], total, excluding=("PushOutDotAccumulate", "HoistFromSequences")
    )
    assert products_in_loops(function) == [1]
    np.testing.assert_allclose(function(A, B, START), TOTAL, rtol=1e-12)


@pytest.mark.parametrize("network", [networks.gated_rnn, networks.lstm, networks.tied_weights])
def test_blocks_of_steps(network):
    """With a bound on memory the loop runs in blocks, each of which adds one product."""
    built = network(theano_scan)
    expected = gradient_function(built)(*built.values)
    one_step = 1 / 2**20  # a bound below one step's operands: blocks of one step
    for bound in (one_step, 200 / 2**20, 1):
        with theano.config.change_flags(**{"scan.push_out_memory": bound}):
            function = gradient_function(built)
        names = [node.op.name for node in loops(function)]
        assert any(name.startswith("blocks_of_grad_of") for name in names)
        for got, value in zip(function(*built.values), expected, strict=True):
            np.testing.assert_allclose(got, value, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("read", [(0, 1), (0,), (1,)])
def test_another_state_becomes_what_the_sum_becomes(read):
    def step(row, total, other):
        new = total + row.dot(row)
        return new, new

    x = T.matrix("x")
    outputs, _ = theano.scan(step, x, [T.zeros(()), T.ones(())], mode=python_mode())
    last = compiled([x], [outputs[k][-1] for k in read])
    np.testing.assert_allclose(last(A[0]), [np.sum(A[0] ** 2)] * len(read))


def test_elements_read_by_two_arrays_of_indices_are_added_up():
    """An element of each row is no row of an array: how all steps read them has no rule."""
    x, a = T.tensor3("x"), T.lmatrix("a")
    total, _ = theano.scan(
        lambda x_t, a_t, h: h + x_t[T.arange(a_t.shape[0]), a_t],
        sequences=[x, a],
        outputs_info=T.zeros((a.shape[1],)),
    )
    f = theano.function([x, a], [total[-1], theano.grad((total[-1] ** 2).sum(), x)])
    places = np.array([[0, 3, 1], [2, 2, 0], [1, 1, 1], [3, 0, 2], [0, 0, 0]])
    steps, rows = np.arange(STEPS)[:, None], np.arange(3)
    right = A[steps, rows, places].sum(axis=0)
    gradient = np.zeros_like(A)
    gradient[steps, rows, places] = 2 * right
    for found, expected in zip(f(A, places), [right, gradient], strict=True):
        np.testing.assert_allclose(found, expected)
