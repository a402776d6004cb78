"""Generators of NumPy's in native code: shared, kept, exchanged, and of bits that C does not know."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.tensor.random.type import random_generator_type
from pytensor.tensor.variable import TensorConstant

import theano
from tests_scan_grad.fresh_process import printed_by
from tests_scan_grad.native.lowering.test_generator_samples import (
    BIT_GENERATORS,
    NATIVE,
    generator_of,
)
from theano.link.native import report
from theano.tensor.numpy_samplers.generator_words import with_words, words_of


def test_generators_of_two_kinds_are_exchanged():
    first = pytensor.shared(np.random.Generator(np.random.PCG64(1)))
    second = pytensor.shared(np.random.Generator(np.random.MT19937(2)))

    def step(one, other):
        after, drawn = pt.random.normal(rng=one, return_next_rng=True)
        return other, after, drawn

    one, other, drawn = pytensor.scan(
        step, outputs_info=[first, second, None], n_steps=3, return_updates=False
    )
    function = pytensor.function([], drawn, updates={first: one, second: other}, mode=NATIVE)
    numbers = [
        np.random.Generator(np.random.PCG64(1)),
        np.random.Generator(np.random.MT19937(2)),
    ]
    for _ in range(3):
        expected = []
        for _ in range(3):
            expected.append(numbers[0].normal())
            numbers.reverse()
        np.testing.assert_array_equal(function(), expected)
    for variable, generator in zip((first, second), numbers, strict=True):
        found = variable.get_value().bit_generator
        assert type(found) is type(generator.bit_generator)
        np.testing.assert_equal(found.state, generator.bit_generator.state)


def test_threads_that_come_first_together_share_one_table():
    script = (
        "import threading, numpy as np\n"
        "from theano.tensor.numpy_samplers.generator_words import words_of\n"
        "start, found = threading.Barrier(8), []\n"
        "def first():\n"
        "    start.wait()\n"
        "    found.append(int(words_of(np.random.default_rng(1))[2]))\n"
        "threads = [threading.Thread(target=first) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "print(len(set(found)))"
    )
    assert printed_by(script) == ["1"]


def test_words_of_more_generators_than_are_kept_in_mind():
    generators = [generator_of(BIT_GENERATORS[k % 5], k) for k in range(200)]
    words = [words_of(one) for one in generators]
    for one, state in zip(generators, words, strict=True):
        expected = copy.deepcopy(one).integers(9, size=3, dtype="uint32")
        one.random(7)
        assert with_words(one, state) is one
        np.testing.assert_array_equal(one.integers(9, size=3, dtype="uint32"), expected)
    # where a generator was, there may be another one now
    for seed in range(300):
        kind = BIT_GENERATORS[seed % 5]
        np.testing.assert_array_equal(
            with_words(generator_of(kind, 7), words_of(generator_of(kind, seed))).random(3),
            generator_of(kind, seed).random(3),
        )


def test_threads_that_share_a_generator_draw_different_bits():
    generator = pytensor.shared(np.random.default_rng(3))
    following, draws = pt.random.uniform(size=(5,), rng=generator, return_next_rng=True)
    several = theano.function([], draws, updates=[(generator, following)], mode=NATIVE)

    def step(rng):
        return pt.random.uniform(rng=rng, return_next_rng=True)

    last, one_by_one = pytensor.scan(
        step, outputs_info=[generator, None], n_steps=5, return_updates=False
    )
    in_a_loop = theano.function([], one_by_one, updates=[(generator, last)], mode=NATIVE)
    with ThreadPoolExecutor(8) as threads:
        calls = [threads.submit(f) for _ in range(200) for f in (several, in_a_loop)]
    drawn = np.concatenate([call.result() for call in calls])
    expected = np.random.default_rng(3).uniform(size=2000)
    np.testing.assert_array_equal(np.sort(drawn), np.sort(expected))


def test_a_generator_that_is_used_twice_draws_the_same_twice():
    generator = pytensor.shared(np.random.default_rng(3))

    def step(rng):
        following, first = pt.random.normal(rng=rng, return_next_rng=True)
        _, same = pt.random.normal(rng=rng, return_next_rng=True)
        _, other = pt.random.uniform(rng=following, return_next_rng=True)
        return following, first, same, other

    last, *draws = pytensor.scan(
        step, outputs_info=[generator, None, None, None], n_steps=4, return_updates=False
    )
    function = pytensor.function([], draws, updates={generator: last}, mode=NATIVE)
    assert [loop.reason for loop in report(function).loops] == [None]
    first, same, other = function()
    np.testing.assert_array_equal(first, same)
    numbers = np.random.default_rng(3)
    for one, after in zip(first, other, strict=True):
        assert one == numbers.normal()
        assert after == copy.deepcopy(numbers).uniform()
    assert generator.get_value().bit_generator.state == numbers.bit_generator.state


def test_a_generator_without_update_stays():
    generator = pytensor.shared(np.random.default_rng(3))
    following, draw = pt.random.normal(rng=generator, return_next_rng=True)
    function = pytensor.function([], [draw, following], mode=NATIVE)
    values = {float(function()[0]) for _ in range(3)}
    assert values == {np.random.default_rng(3).normal()}


def test_words_of_a_constant_generator_are_no_constant():
    # their addresses would be another process's, which reads the graph from the disk
    generator = random_generator_type.make_constant(np.random.default_rng(3))
    following, first = pt.random.normal(rng=generator, return_next_rng=True)
    mean = pt.dscalar()
    _, second = pt.random.normal(mean, 1, rng=following, return_next_rng=True)
    function = theano.function([mean], [first, second], mode=NATIVE)
    graph = function.maker.fgraph
    assert not any(
        v.type.dtype == "uint64" for v in graph.variables if isinstance(v, TensorConstant)
    )
    numbers = np.random.default_rng(3)
    assert [float(one) for one in function(0.0)] == [numbers.normal(), numbers.normal()]


class OwnBits(np.random.PCG64):
    """A bit generator that is none of NumPy's: its state may lie elsewhere."""


def test_python_draws_from_a_bit_generator_that_c_does_not_know():
    generator = pytensor.shared(np.random.Generator(OwnBits(3)))

    def step(rng):
        return pt.random.normal(rng=rng, return_next_rng=True)

    last, draws = pytensor.scan(
        step, outputs_info=[generator, None], n_steps=4, return_updates=False
    )
    following, more = pt.random.gamma(2, scale=1, rng=last, return_next_rng=True)
    function = pytensor.function([], [draws, more], updates={generator: following}, mode=NATIVE)
    numbers = np.random.default_rng(3)
    for _ in range(2):
        found, one = function()
        np.testing.assert_array_equal(found, numbers.normal(size=4))
        assert one == numbers.gamma(2, 1)
    assert isinstance(generator.get_value().bit_generator, OwnBits)
