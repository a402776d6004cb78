"""Calls that are made again: the caller's arrays, results, errors and shared variables stay right."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.link.xla import repeated

pytest.importorskip("jax")

# below and above what is copied in any case, and handed over
SIZES = (3, 100_000, 300_000)


def aligned(size: int) -> np.ndarray:
    """Numbers that begin where XLA reads arrays in place."""
    memory = np.zeros(size * 8 + 64, "uint8")
    begin = -memory.__array_interface__["data"][0] % 64
    found = memory[begin : begin + size * 8].view("float64")
    found[:] = np.arange(size)
    return found


@pytest.fixture
def doubled():
    x = T.dvector("x")
    return theano.function([x], [x * 2, x], mode="XLA")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("place", [aligned, lambda size: aligned(size + 1)[1:]], ids=["64", "8"])
def test_the_caller_writes_into_his_array_after_the_call(doubled, size, place):
    given, kept = place(size), []
    for k in range(5):
        given[:] = k
        kept.append(doubled(given))
        given[:] = -1
    for k, (twice, same) in enumerate(kept):
        assert (twice == 2 * k).all() and (same == k).all()


@pytest.mark.parametrize("place", [aligned, lambda size: aligned(size + 1)[1:]], ids=["64", "8"])
def test_arguments_that_are_no_megabyte_are_called_with_from_their_own_memory(doubled, place):
    for _ in range(6):
        doubled(place(10_000))
    (known,) = doubled.vm._repeated._known.values()
    assert [fill[2].nbytes for fill in known.fills] == [80_000]


@pytest.mark.parametrize("size", SIZES)
def test_results_may_be_written_to_and_are_no_others_memory(size):
    x = T.dvector("x")
    f = theano.function([x], [x + 1, x + 1, x - 1], mode="XLA")
    given = np.zeros(size)
    for _ in range(4):
        results = f(given)
        for k, one in enumerate(results):
            one += k
        assert [one[0] for one in results] == [1, 2, 1]
        assert not any(np.shares_memory(results[0], one) for one in [*results[1:], given])
    assert (given == 0).all()


@pytest.mark.parametrize("size", SIZES)
def test_a_result_that_is_a_new_value_is_the_callers_own(size):
    x, w = T.dvector("x"), theano.shared(np.zeros(size), "w")
    f = theano.function([x], [w + x, w + x], updates=[(w, w + x)], mode="XLA")
    for k in range(4):
        for one in f(np.ones(size)):
            assert (one == k + 1).all()
            one[:] = -7
        assert (w.get_value() == k + 1).all()


def test_a_result_outlives_its_function():
    x = T.dvector("x")
    f = theano.function([x], x + 1, mode="XLA")
    kept = [f(np.full(200_000, float(k))) for k in range(5)]
    del f
    assert [one.sum() for one in kept] == [200_000 * (k + 1) for k in range(5)]


def test_arguments_of_all_shapes_and_layouts(doubled):
    table = np.arange(60.0).reshape(6, 10)
    for _ in range(3):
        for given in (table[0], table[:, 3], table[2, ::-2], np.empty(0), table.ravel()):
            twice, same = doubled(given)
            np.testing.assert_array_equal(twice, 2 * given)
            np.testing.assert_array_equal(same, given)
    assert (table == np.arange(60.0).reshape(6, 10)).all()


def test_a_longer_argument_takes_other_memory(doubled):
    for size in (3, 70_000, 3, 200_000, 70_000, 3, 200_000):
        for k in range(3):
            assert (doubled(np.full(size, float(k)))[0] == 2 * k).all()


def test_types_stay_declared_whatever_the_settings_of_jax():
    x, n = T.dvector("x"), T.lscalar("n")
    f = theano.function([x, n], [x / 3, n + 2**40], mode="XLA")
    for _ in range(4):
        third, large = f(np.ones(2), 5)
        assert third.dtype == "float64" and third[0] == 1 / 3 and large == 2**40 + 5


def test_a_static_value_decides_the_program_each_time():
    n, x = T.lscalar("n"), T.dvector("x")
    powers, _ = theano.scan(
        lambda h, x: h * x, outputs_info=T.ones_like(x), non_sequences=x, n_steps=n
    )
    f = theano.function([x, n], powers[-1], mode="XLA")
    for _ in range(3):
        for steps in (1, 4, 2):
            np.testing.assert_allclose(f(np.full(3, 2.0), steps), 2.0**steps)


def test_values_that_decide_programs_are_not_all_remembered(monkeypatch):
    monkeypatch.setattr(repeated, "MOST_KNOWN", 5)
    lengths, x = T.lvector("lengths"), T.dvector("x")
    powers, _ = theano.scan(
        lambda h, x: h * x,
        outputs_info=T.ones_like(x),
        non_sequences=x,
        n_steps=lengths.max(),
    )
    f = theano.function([x, lengths], powers[-1], mode="XLA")
    for k in range(12):
        np.testing.assert_allclose(f(np.full(3, 2.0), [k % 3, k % 4, 5]), 32)
    assert 0 < len(f.vm._repeated._known) <= 5


def test_programs_that_were_dropped_are_made_again():
    x = T.dvector("x")
    with theano.change_flags({"xla.programs": 2}):
        f = theano.function([x], x.sum(), mode="XLA")
    with pytest.warns(UserWarning, match="is dropped"):
        for _ in range(3):
            for size in (2, 3, 4, 4, 4):
                assert f(np.ones(size)) == size
    assert len(f.vm._repeated._known) <= 3


def test_errors_are_raised_in_every_call_and_leave_shared_variables():
    x, i = T.dvector("x"), T.lscalar("i")
    w = theano.shared(np.zeros(3), "w")
    f = theano.function([x, i], x[i], updates=[(w, w + x[i])], mode="XLA")
    for k in range(4):
        assert f(np.arange(3.0), 2) == 2
        with pytest.raises(IndexError, match="out of bounds"):
            f(np.arange(3.0), 3)
        assert (w.get_value() == 2 * (k + 1)).all()


def test_shared_variables_are_set_and_moved_between_calls():
    x = T.dvector("x")
    w = theano.shared(np.zeros(2), "w")
    train = theano.function([x], w.sum(), updates=[(w, w + x)], mode="XLA")
    by_host = theano.function([], w * 2, updates=[(w, w + 1)], mode="NATIVE")
    expected = 0.0
    for k in range(12):
        assert train(np.ones(2)) == 2 * expected
        expected += 1
        if k % 3 == 2:
            assert (by_host() == 2 * expected).all()
            expected += 1
        if k % 4 == 3:
            w.set_value(np.full(2, 10.0))
            expected = 10.0
        assert (w.get_value() == expected).all()


def test_values_of_other_types_are_taken_as_in_the_first_call():
    x = T.dvector("x")
    f = theano.function([x], x * 2, mode="XLA")
    for given in ([1.0, 2.0], np.ones(2, "float32"), np.ones(2), [3, 4], np.ones(2)):
        np.testing.assert_array_equal(f(given), 2 * np.asarray(given, "float64"))
    f.trust_input = True
    assert f(np.ones(2)).dtype == f(np.ones(2, "float32")).dtype == "float64"
