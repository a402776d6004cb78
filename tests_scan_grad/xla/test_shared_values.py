"""Values of shared variables live on the device, and users see what Theano 1.0 showed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import theano
import theano.tensor as T

jax = pytest.importorskip("jax")

START = np.arange(12.0).reshape(3, 4)


@pytest.fixture
def w():
    return theano.shared(START, name="w")


def doubling(w, **settings):
    return theano.function([], w.sum(), updates=[(w, 2 * w)], mode="XLA", **settings)


def storage(variable):
    return variable.container.storage[0]


def test_an_update_stays_on_the_device_and_takes_the_old_memory(w):
    f = doubling(w)
    f()
    before = storage(w)
    assert isinstance(before, jax.Array) and before.dtype == "float64"
    assert f() == 2 * START.sum()
    assert before.is_deleted()
    np.testing.assert_array_equal(w.get_value(), 4 * START)


def test_a_value_that_is_only_read_is_moved_once(w):
    f = theano.function([], w.sum(), mode="XLA")
    f()
    moved = storage(w)
    f()
    assert storage(w) is moved and isinstance(moved, jax.Array)


def test_get_value_gives_what_may_be_written_to(w):
    doubling(w)()
    for borrow in (False, True):
        value = w.get_value(borrow=borrow)
        assert type(value) is np.ndarray and value.flags.writeable
        value[...] = 7
    np.testing.assert_array_equal(w.get_value(), 2 * START)


@pytest.mark.parametrize("borrow", [False, True])
def test_the_internal_value_is_the_devices_and_outlives_the_next_call(w, borrow):
    f = doubling(w)
    f()
    internal = w.get_value(borrow=borrow, return_internal_type=True)
    assert isinstance(internal, jax.Array) and internal.dtype == "float64"
    f()
    np.testing.assert_array_equal(np.asarray(internal), 2 * START)


@pytest.mark.parametrize("borrow", [False, True])
def test_set_value_takes_arrays_of_both_kinds(w, borrow):
    f = doubling(w)
    f()
    w.set_value(START + 1, borrow=borrow)
    assert f() == (START + 1).sum()
    given = w.get_value(return_internal_type=True)
    w.set_value(given, borrow=borrow)
    f()
    np.testing.assert_array_equal(np.asarray(given), 2 * (START + 1))
    with pytest.raises(TypeError):
        w.set_value(np.zeros(3))


def test_what_the_caller_does_to_a_borrowed_array_later_does_not_matter():
    start = START.copy()
    w = theano.shared(start, borrow=True)
    f = doubling(w)
    f()
    start[...] = 0
    assert f() == 2 * START.sum()


def test_two_variables_with_one_new_value_have_memory_of_their_own(w):
    other, old = theano.shared(START), theano.shared(START)
    new = w + 1
    f = theano.function([], [], updates=[(w, new), (other, new), (old, w)], mode="XLA")
    for _ in range(3):
        f()
    np.testing.assert_array_equal(w.get_value(), START + 3)
    np.testing.assert_array_equal(other.get_value(), START + 3)
    np.testing.assert_array_equal(old.get_value(), START + 2)


def test_a_failed_call_leaves_the_value(w):
    k = T.lscalar("k")
    f = theano.function([k], [], updates=[(w, w * w[k, 0])], mode="XLA")
    f(1)
    with pytest.raises(IndexError, match="dimension 0 has length 3"):
        f(3)
    np.testing.assert_array_equal(w.get_value(), 4 * START)


def test_functions_of_other_engines_read_and_update_the_value(w):
    f = doubling(w)
    native = theano.function([], w.sum(), updates=[(w, w + 1)], mode="NATIVE")
    python = theano.function([], w.sum(), mode=theano.Mode("py", "fast_compile"))
    f()
    assert native() == 2 * START.sum()
    assert f() == (2 * START + 1).sum()
    assert python() == 2 * (2 * START + 1).sum()


def test_pickled_values_and_functions_need_no_device(w):
    f = doubling(w)
    f()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(w)).get_value(), 2 * START)
    f()
    g = pickle.loads(pickle.dumps(f))
    assert g() == f() == 4 * START.sum()


def test_a_functions_own_state_is_kept():
    x, total = T.scalar("x"), T.scalar("total")
    f = theano.function([x, theano.In(total, value=0.0, update=total + x)], total, mode="XLA")
    assert [float(f(k)) for k in (1.0, 2.0, 3.0)] == [0, 1, 3]
    assert float(f[total]) == 6


def test_zero_and_sync(w):
    f = doubling(w)
    f()
    f.sync_shared()
    w.zero()
    assert f() == 0


def test_the_caller_may_change_what_it_passed(w):
    x = T.matrix("x")
    f = theano.function([x], [], updates=[(w, x)], mode="XLA")
    passed = START + 5
    f(passed)
    passed[...] = 0
    np.testing.assert_array_equal(w.get_value(), START + 5)


def test_results_may_be_written_to(w):
    f = theano.function([], [w, 2 * w], mode="XLA")
    for result in f():
        result += 1
    np.testing.assert_array_equal(f()[0], START)
    np.testing.assert_array_equal(f()[1], 2 * START)


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "uint16", "int64", "bool"]
)
def test_dtypes_stay(dtype):
    w = theano.shared(START.astype(dtype))
    f = theano.function([], w[::-1], updates=[(w, w[:, ::-1])], mode="XLA")
    assert f().dtype == w.get_value().dtype == storage(w).dtype == dtype


def test_jax_keeps_the_settings_of_the_program():
    theano.function([], theano.shared(START).sum(), mode="XLA")()
    assert jax.numpy.asarray(1.5).dtype == "float32"
