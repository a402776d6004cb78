"""Prepared calls of functions that sample from shared generators: they are as the first ones."""

import sys
import threading

import numpy as np
import pytensor.tensor as pt
import pytest

import theano
import theano.tensor as T
from theano.tensor.numpy_samplers.generator_samples import WordsOfGenerator

BIT_GENERATORS = [
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.MT19937,
    np.random.SFC64,
    np.random.Philox,
]
CALLS = 12


def generator(seed=1, bits=np.random.PCG64):
    return np.random.Generator(bits(seed))


def normals(rng, loc, scale, size=5):
    """Return the generator after samples, and the samples."""
    return pt.random.normal(loc, scale, size=(size,), rng=rng, return_next_rng=True)


def sampling(rng, size=5):
    loc, scale = T.dscalar("loc"), T.dscalar("scale")
    after, sampled = normals(rng, loc, scale, size)
    return theano.function([loc, scale], sampled, updates={rng: after}, mode="NATIVE")


def prepared(function, *arguments):
    """Return the results of calls of which the last ones are prepared."""
    made = []
    for _ in range(CALLS):
        made.append(function(*arguments))
        for unit in function.vm.units:
            if hasattr(unit.run, "native"):
                unit.run.native.optimize()
    assert function._prepared is not None
    return made


def same_state(rng, other):
    """Return whether the next samples of a shared generator are those of another one."""
    bits = [each.bit_generator.state for each in (rng.get_value(borrow=True), other)]
    return str(bits[0]) == str(bits[1])


@pytest.mark.parametrize("bits", BIT_GENERATORS)
def test_samples_and_states_are_numpys(bits):
    rng, alone = theano.shared(generator(3, bits)), generator(3, bits)
    for sampled in prepared(sampling(rng), 1.0, 2.0):
        np.testing.assert_array_equal(sampled, alone.normal(1.0, 2.0, 5))
    assert same_state(rng, alone)


def test_half_a_word_is_kept_between_calls():
    rng, alone = theano.shared(generator()), generator()
    after, sampled = pt.random.integers(0, 9, size=(3,), rng=rng, return_next_rng=True)
    f = theano.function([], sampled, updates={rng: after}, mode="NATIVE")
    for sampled in prepared(f):
        np.testing.assert_array_equal(sampled, alone.integers(0, 9, 3))
    for _ in range(3):
        np.testing.assert_array_equal(
            rng.get_value(borrow=True).integers(9, size=1, dtype="uint32"),
            alone.integers(9, size=1, dtype="uint32"),
        )
        np.testing.assert_array_equal(f(), alone.integers(0, 9, 3))


def test_generators_and_other_states_advance_together():
    first, second = theano.shared(generator(1)), theano.shared(generator(2))
    total = theano.shared(np.zeros(4), name="total")
    x = T.dvector("x")
    after, sampled = normals(first, x, 1.0, 4)
    # drawn on from the state after the samples before
    last, more = normals(after, 0.0, 1.0, 2)
    other, third = pt.random.exponential(2.0, size=(4,), rng=second, return_next_rng=True)
    f = theano.function(
        [x],
        [sampled + third, more],
        updates={first: last, total: total + third, second: other},
        mode="NATIVE",
    )
    x_value, sums = np.arange(4.0), np.zeros(4)
    alone, beyond = generator(1), generator(2)
    for both, two in prepared(f, x_value):
        drawn, further = alone.normal(x_value, 1.0, 4), alone.normal(0.0, 1.0, 2)
        exponential = beyond.exponential(2.0, 4)
        sums += exponential
        np.testing.assert_array_equal(both, drawn + exponential)
        np.testing.assert_array_equal(two, further)
    np.testing.assert_array_equal(total.get_value(), sums)
    assert same_state(first, alone) and same_state(second, beyond)


@pytest.mark.parametrize("bits", BIT_GENERATORS)
def test_another_generator_takes_the_place_of_one(bits):
    rng = theano.shared(generator())
    f = sampling(rng)
    prepared(f, 0.0, 1.0)
    rng.set_value(generator(5, bits))
    alone = generator(5, bits)
    for sampled in prepared(f, 0.0, 1.0):
        np.testing.assert_array_equal(sampled, alone.normal(0.0, 1.0, 5))


def test_an_error_leaves_the_generator():
    rng, alone = theano.shared(generator()), generator()
    f = sampling(rng)
    with pytest.raises(ValueError) as first:
        f(0.0, -1.0)
    for _ in prepared(f, 0.0, 1.0):
        alone.normal(0.0, 1.0, 5)
    with pytest.raises(ValueError) as later:
        f(0.0, -1.0)
    assert str(later.value) == str(first.value) and "scale < 0" in str(later.value)
    assert same_state(rng, alone)
    np.testing.assert_array_equal(f(0.0, 1.0), alone.normal(0.0, 1.0, 5))


def test_results_are_the_callers_own():
    rng = theano.shared(generator())
    f = sampling(rng)
    made = prepared(f, 0.0, 1.0) + [f(0.0, 1.0) for _ in range(3)]
    copies = [each.copy() for each in made]
    f(0.0, 1.0)
    for each, copy in zip(made, copies, strict=True):
        np.testing.assert_array_equal(each, copy)


def test_threads_never_get_the_same_samples():
    rng = theano.shared(generator())
    f = sampling(rng)
    seen = [tuple(each) for each in prepared(f, 0.0, 1.0)]

    def draw(into):
        into.extend(tuple(f(0.0, 1.0)) for _ in range(200))

    made = [[] for _ in range(8)]
    threads = [threading.Thread(target=draw, args=(into,)) for into in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen += [each for into in made for each in into]
    assert len(set(seen)) == len(seen) == CALLS + 1600


def test_nothing_is_leaked():
    rng = theano.shared(generator())
    f = sampling(rng)
    prepared(f, 0.0, 1.0)
    value = rng.get_value(borrow=True)
    before = sys.getrefcount(value), sys.getrefcount(f._prepared)
    for _ in range(500):
        f(0.0, 1.0)
    assert (sys.getrefcount(value), sys.getrefcount(f._prepared)) == before
    words = [v for v in f.vm.storage_map if v.owner and v.owner.op == WordsOfGenerator()]
    assert [f.vm.storage_map[each] for each in words] == [[None]]


def test_generators_that_are_passed_or_stay_are_not_prepared():
    rng, alone = theano.shared(generator()), generator()
    passed = rng.type("passed")
    _, sampled = normals(passed, 0.0, 1.0)
    f = theano.function([passed], sampled, mode="NATIVE")
    for _ in range(CALLS):
        np.testing.assert_array_equal(f(generator()), generator().normal(0.0, 1.0, 5))
    _, sampled = normals(rng, 0.0, 1.0)
    stays = theano.function([], sampled, mode="NATIVE")
    for _ in range(CALLS):
        np.testing.assert_array_equal(stays(), generator().normal(0.0, 1.0, 5))
    assert f._prepared is None and stays._prepared is None and same_state(rng, alone)
