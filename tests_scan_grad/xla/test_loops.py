"""Loops of mode 'XLA': every kind of state, sequences, lengths, nested loops, errors."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.loop_runs import unrewritten_mode
from tests_scan_grad.xla.loop_programs import (
    agree,
    compiled_texts,
    computations,
    loop_bodies,
    loops_on_host,
)
from theano.compile.mode import get_mode

jax = pytest.importorskip("jax")

RNG = np.random.default_rng(4)
X = RNG.standard_normal((6, 3))
W = 0.5 * RNG.standard_normal((3, 3))
LENGTHS = (1, 2, 3)


def scanned(step, **kwargs):
    """The outputs of a loop as a list."""
    outputs, _ = theano.scan(step, return_list=True, **kwargs)
    return outputs


def test_a_state_with_one_tap_at_lengths_from_none_up():
    x, h0, w, n = T.dmatrix("x"), T.dvector("h0"), T.dmatrix("w"), T.lscalar("n")
    (h,) = scanned(
        lambda x, h, w: T.tanh(x + h.dot(w)),
        sequences=[x],
        outputs_info=[h0],
        non_sequences=[w],
        n_steps=n,
    )
    gradients = theano.grad((h**2).sum(), [x, h0, w])
    f = agree([x, h0, w, n], [h, *gradients], *((X, X[0], W, k) for k in LENGTHS))
    # PyTensor's reference gives results of no step as many dimensions of length 0
    results = [np.asarray(result) for result in f(X, X[0], W, 0)]
    assert [result.shape for result in results] == [(0, 3), (6, 3), (3,), (3, 3)]
    assert not any(result.any() for result in results)


def test_no_step_leaves_what_was_there():
    x, n = T.dmatrix("x"), T.lscalar("n")
    total = theano.shared(np.ones(3), "total")
    (squares, h), updates = theano.scan(
        lambda x, h: ([x**2, h + x], {total: total + x}),
        sequences=[x],
        outputs_info=[None, x[0]],
        n_steps=n,
    )
    f = theano.function([x, n], [squares, h], updates=updates, mode="XLA")
    results = f(X, 0)
    assert [np.shape(result) for result in results] == [(0, 3), (0, 3)]
    np.testing.assert_array_equal(total.get_value(), np.ones(3))


@pytest.mark.parametrize("read", (slice(None), slice(-1, None), slice(-2, None), slice(-4, None)))
def test_states_with_several_taps_and_traces_of_which_few_rows_are_read(read):
    x, h0, w = T.dmatrix("x"), T.dmatrix("h0"), T.dmatrix("w")
    h, squares = scanned(
        lambda x, before, long_before, w: (T.tanh(x + before.dot(w) + long_before), before**2),
        sequences=[x],
        outputs_info=[{"initial": h0, "taps": [-1, -3]}, None],
        non_sequences=[w],
    )
    agree([x, h0, w], [h[read], squares[read]], (X, X[:3], W))


def test_gradients_of_near_and_far_taps():
    x, h0 = T.dmatrix("x"), T.dmatrix("h0")
    for taps in ([-1, -2], [-6], [-3, -6]):
        (h,) = scanned(
            lambda x, *taps: T.tanh(x + 0.5 * sum(taps)),
            sequences=[x],
            outputs_info=[{"initial": h0, "taps": taps}],
        )
        reach = -min(taps)
        gradients = theano.grad((h**2).sum() + h[-1].sum(), [x, h0])
        agree([x, h0], gradients, (X, X[:reach]), (X[:1], X[:reach]))


def test_traces_of_all_steps_and_of_the_last_ones():
    x = T.dmatrix("x")
    squares, sums = scanned(lambda x: [x**2, x.sum()], sequences=[x])
    agree([x], [squares, squares[-1], sums[-2:], sums[::-1]], (X,), (X[:2],))


def test_sequences_with_taps_backwards_and_of_other_lengths():
    x, y = T.dmatrix("x"), T.dmatrix("y")
    for backwards in (False, True):
        (s,) = scanned(
            lambda before, now, after, y: before * now - after + y,
            sequences=[{"input": x, "taps": [-1, 0, 2]}, y],
            go_backwards=backwards,
        )
        agree([x, y], [s, *theano.grad((s**2).sum(), [x, y])], (X, X[:2]))


def test_a_truncated_gradient():
    x, h0 = T.dmatrix("x"), T.dvector("h0")
    (h,) = scanned(
        lambda x, h: T.tanh(x + h), sequences=[x], outputs_info=[h0], truncate_gradient=2
    )
    agree([x, h0], theano.grad(h[-1].sum(), [x, h0]), (X, X[0]))


def test_shared_variables_that_the_step_updates():
    n = T.lscalar("n")
    count = theano.shared(np.int64(3), "count")
    total = theano.shared(np.zeros(3), "total")
    vector = theano.shared(X[0], "vector")
    outputs, updates = theano.scan(
        lambda: (count * 2, {count: count + 1, total: total + count * vector}), n_steps=n
    )
    agree([n], [outputs], (1,), (3,), updates=list(updates.items()))


def test_lengths_that_the_step_is_given_are_known_in_it():
    x, k = T.dvector("x"), T.lscalar("k")
    (h,) = scanned(
        lambda h, x, k: h + x[:k].sum() * T.ones((k,)).sum(),
        outputs_info=[T.zeros((), "float64")],
        non_sequences=[x, k],
        n_steps=3,
    )
    agree([x, k], [h], (X[0], 2), (X[0], 1))


def test_integers_and_numbers_keep_their_types():
    i = T.ivector("i")
    counts, means = scanned(
        lambda i, count: [T.cast(count + i, "int32"), T.cast(i, "float32") / 3],
        sequences=[i],
        outputs_info=[T.constant(1, dtype="int32"), None],
    )
    agree([i], [counts, means], (np.arange(4, dtype="int32"),))


def test_loops_that_neither_engine_lowers_run_by_python_on_the_host():
    x, ends = T.dvector("x"), T.lvector("ends")
    (s,) = scanned(
        lambda end, s, x: T.tanh(s * x[:end].sum()),
        sequences=[ends],
        outputs_info=[T.ones((), "float64")],
        non_sequences=[x],
        mode=get_mode("XLA"),
    )
    outputs = [s, theano.grad(s.sum(), x)]
    ours = theano.function([x, ends], outputs, mode="XLA")
    reference = theano.function([x, ends], outputs, mode=unrewritten_mode())
    for result, wanted in zip(ours(X[0], [1, 3, 2]), reference(X[0], [1, 3, 2]), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-12)
    reasons = loops_on_host(ours)
    assert len(reasons) == 2
    assert all("differs between steps" in reason for reason in reasons)


def test_what_the_host_returned_is_not_written_again():
    generator = pytensor.shared(np.random.default_rng(2))

    def step(rng):
        after, number = pt.random.normal(rng=rng, return_next_rng=True)
        return after, pt.kve(0.5, abs(number))

    last, drawn = pytensor.scan(
        step, outputs_info=[generator, None], n_steps=4, return_updates=False
    )
    f = theano.function([], drawn, updates=[(generator, last)], mode="XLA")
    first = f()
    kept = first.copy()
    assert not np.array_equal(f(), kept)
    np.testing.assert_array_equal(first, kept)


@pytest.mark.parametrize(
    "values, error, message",
    (
        ((X, -1), IndexError, "negative number of step"),
        ((X, 7), ValueError, "required number of steps is 7"),
    ),
)
def test_numbers_of_steps_that_cannot_be(values, error, message):
    x, n = T.dmatrix("x"), T.lscalar("n")
    (s,) = scanned(lambda x, s: T.tanh(s + x), sequences=[x], outputs_info=[x[0]], n_steps=n)
    f = theano.function([x, n], s, mode="XLA")
    with pytest.raises(error, match=message):
        f(*values)


def test_loops_inside_loops_and_their_gradients():
    x, w = T.dmatrix("x"), T.dmatrix("w")

    def step(x, h, w):
        inner = scanned(lambda x_k, g: T.tanh(x_k + g.sum()), sequences=[x], outputs_info=[h[0]])[0]
        power = scanned(lambda p, w: p.dot(w), outputs_info=[h], non_sequences=[w], n_steps=2)[0]
        return T.tanh(power[-1] + inner[-1])

    (h,) = scanned(step, sequences=[x], outputs_info=[x[0]], non_sequences=[w])
    agree([x, w], [h, *theano.grad((h**2).sum(), [x, w])], (X[:3], W))


def test_an_index_out_of_range_in_some_step_is_an_error():
    x, i = T.dmatrix("x"), T.lvector("i")
    (sums,) = scanned(
        lambda i, s, x: s + x[i], sequences=[i], outputs_info=[x[0]], non_sequences=[x]
    )
    f = theano.function([x, i], sums, mode="XLA")
    np.testing.assert_allclose(f(X, [1, -6, 5])[-1], 2 * X[0] + X[1] + X[5])
    assert loops_on_host(f) == []
    with pytest.raises(IndexError):
        f(X, [1, 6, 0])


@pytest.mark.skipif(
    jax.__version_info__ < (0, 12), reason="older XLA fuses across barriers (JAX 0.10.2 does)"
)
def test_a_step_computes_a_sine_once():
    x, a = T.matrix("x"), T.vector("a")
    h, _ = theano.scan(lambda x, h, a: T.sin(a * h + x), x, T.zeros_like(a), non_sequences=a)
    f = agree([x, a], [h, *theano.grad(h.sum(), [x, a])], [np.ones((9, 3)), np.ones(3)])
    (text,) = compiled_texts(f)
    assert text.count(" sine(") == 1 and text.count(" cosine(") == 1


def test_steps_are_counted_as_xla_makes_vectors_of_what_reads_their_rows():
    x, h0 = T.dmatrix("x"), T.dvector("h0")
    (h,) = scanned(lambda x, h: T.tanh(x + h), sequences=[x], outputs_info=[h0])
    f = agree([x, h0], [h[-1]], (X, X[0]))
    (body,) = loop_bodies(compiled_texts(f)[0])
    assert "s64[]" in "".join(body) and "s32[]" not in "".join(body)


@pytest.mark.parametrize("axis", (0, 1, None))
@pytest.mark.parametrize("shape", ((64, 256), (100, 96), (75, 111)))
def test_sums_of_a_step_in_a_wider_type_are_of_halves(axis, shape):
    x, h0 = T.fmatrix("x"), T.fscalar("h0")
    (h,) = scanned(
        lambda n, h, x: T.sum((x + h) * n, axis=axis).max() * np.float32(2.0**-20),
        sequences=[T.arange(1, 3).astype("float32")],
        outputs_info=[h0],
        non_sequences=[x],
    )
    f = theano.function([x, h0], h, mode="XLA")
    # in float32 the ones would be lost next to the others
    values = np.ones(shape, "float32")
    values[0, 0], values[-1, 0], values[0, -1], values[-1, -1] = (
        2.0**24,
        -(2.0**24),
        -(2.0**24),
        2.0**24,
    )
    exact, expected = np.float32(0), []
    for n in (1, 2):
        sums = ((values + exact) * np.float32(n)).astype("float64").sum(axis)
        exact = np.float32(np.float32(np.max(sums)) * np.float32(2.0**-20))
        expected.append(exact)
    for _ in range(2):
        np.testing.assert_allclose(f(values, np.float32(0)), expected, rtol=1e-6)
    if jax.__version_info__ < (0, 12):
        # older XLA makes other parts of it
        return
    parts = ["".join(lines) for lines in computations(compiled_texts(f)[0]).values()]
    widened = "f64[{},{}]".format(*shape)
    one_by_one = [part for part in parts if " reduce(" in part and widened in part]
    # 111 and 75 have no halves
    assert bool(one_by_one) == (shape == (75, 111))


def test_a_row_that_is_added_to_zeros_is_added_to_what_they_are_added_to():
    table, places, h0 = T.dmatrix("table"), T.lvector("places"), T.dvector("h0")
    (h,) = scanned(
        lambda k, h, table: 0.5 * h + table[k],
        sequences=[places],
        outputs_info=[h0],
        non_sequences=[table],
    )
    gradients = theano.grad(T.sqr(h[-1]).sum(), [table, h0])
    f = agree([table, places, h0], gradients, (X, np.array([5, 0, -1, 0]), X[0]))
    assert not any(
        " add(" in line and "f64[6,3]" in line
        for lines in computations(compiled_texts(f)[0]).values()
        for line in lines
    )
