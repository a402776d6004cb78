"""Choices without replacement in native code are those of PyTensor's `perform`, to the bit."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import theano
from theano.link.native import report

NATIVE = theano.compile.mode.get_mode("NATIVE")

CHOICES = {
    # of how many, how many, of what
    "few": (7, (3,), "vector"),
    "all": (5, (5,), "vector"),
    "none": (5, (0,), "vector"),
    "one": (4, (), "vector"),
    "in a table": (60, (2, 4), "vector"),
    "rows": (60, (3, 2), "matrix"),
    "few of many": (20_001, (300,), "vector"),
    "many of many": (20_001, (900,), "vector"),
    "few of very many": (10**12, (5,), "number"),
    "of a number": (30, (4,), "number"),
}


def probabilities(kind, count):
    """Of so many: none, all about as probable, or few of them nearly certain and some never drawn."""
    if kind == "none":
        return None
    numbers = np.random.default_rng(1).uniform(size=count)
    if kind == "very different":
        numbers = numbers**40
        numbers[1::5] = 0
    return numbers / numbers.sum()


@pytest.mark.parametrize("kind", ["none", "alike", "very different"])
@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize("name", CHOICES)
def test_choices_without_replacement(name, in_loop, kind):
    count, size, of = CHOICES[name]
    if kind != "none" and (count > 10**6 or (kind == "very different" and name == "all")):
        pytest.skip("a number of choices has no probabilities of such a kind")
    values = np.random.default_rng(0).normal(size=(min(count, 10**5), 2))
    a = {"vector": values[:, 0], "matrix": values, "number": count}[of]
    p = probabilities(kind, min(count, 10**5))

    def sampled(rng):
        return pt.random.choice(a, size=size, replace=False, p=p, rng=rng, return_next_rng=True)

    results = []
    for mode in (NATIVE, "FAST_COMPILE"):
        generator = pytensor.shared(np.random.default_rng(4))
        if in_loop:
            last, found = pytensor.scan(
                sampled, outputs_info=[generator, None], n_steps=3, return_updates=False
            )
        else:
            last, found = sampled(generator)
        function = pytensor.function([], found, updates={generator: last}, mode=mode)
        results.append((function(), function(), generator.get_value().bit_generator.state))
        if mode is NATIVE:
            by_python = {str(one).split(":")[0].split("{")[0] for one in report(function).calls}
            assert by_python <= {"WordsOfGenerator", "GeneratorOfWords"}, report(function)
            assert all(loop.reason is None for loop in report(function).loops)
    np.testing.assert_equal(*results)


def test_more_choices_than_there_are_are_refused():
    size = pt.lscalar()
    generator = pytensor.shared(np.random.default_rng(4))
    _, chosen = pt.random.choice(
        4, size=(size,), replace=False, rng=generator, return_next_rng=True
    )
    function = pytensor.function([size], chosen, mode=NATIVE)
    assert sorted(function(4)) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="larger sample than population"):
        function(5)


def test_choices_by_what_are_no_probabilities_are_refused():
    p = pt.dvector()
    results = []
    for mode in (NATIVE, "FAST_COMPILE"):
        generator = pytensor.shared(np.random.default_rng(4))
        last, chosen = pt.random.choice(
            4, size=(2,), replace=False, p=p, rng=generator, return_next_rng=True
        )
        function = pytensor.function([p], chosen, updates={generator: last}, mode=mode)
        for given in (
            [0.2, 0.2, 0.3, 0.3],
            [0.2, 0.2, 0.3, 0.3 + 5e-9],
            [0.2, 0.2, 0.3, 0.2],
            [0, 0, 0, 1],
            [-0.1, 0.5, 0.3, 0.3],
            [np.nan, 0.4, 0.3, 0.3],
        ):
            try:
                results.append(function(np.array(given)).tolist())
            except ValueError as error:
                results.append(str(error).split("\n")[0])
    half = len(results) // 2
    assert results[:half] == results[half:]
    assert sum(isinstance(found, str) for found in results[:half]) == 4
