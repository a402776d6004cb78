"""Draws of NumPy's `Generator` in native code are those of PyTensor's `perform`, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import theano
from theano.link.native import report

NATIVE = theano.compile.mode.get_mode("NATIVE")
BIT_GENERATORS = ("PCG64", "MT19937", "SFC64", "PCG64DXSM", "Philox")
STEPS = 3


@dataclass
class Family:
    """A random variable, and how its parameters are made of numbers between 0 and 1."""

    variable: Callable
    parameters: tuple[Callable, ...]
    dtypes: tuple[str, ...] = ("float64", "float32")


def real(x):
    return 8 * x - 4


def positive(x):
    # now and then small, where distributions are drawn in another way
    return np.where(x < 0.3, x**3 + 1e-9, 20 * x)


def chance(x):
    return np.where(x < 0.2, x, 0.999 * x)


def mean_of_counts(x):
    return np.where(x < 0.3, 0 * x, np.where(x < 0.6, 5 * x, 200 * x))


def count(x):
    return np.where(x < 0.5, 30 * x, 5000 * x).astype("int64")


FAMILIES = {
    "uniform": Family(pt.random.uniform, (lambda x: -x, lambda x: 4 * x)),
    "normal": Family(pt.random.normal, (real, positive)),
    "lognormal": Family(pt.random.lognormal, (lambda x: x, lambda x: x)),
    "exponential": Family(pt.random.exponential, (positive,)),
    "gamma": Family(lambda a, b, **k: pt.random.gamma(a, scale=b, **k), (positive, positive)),
    "invgamma": Family(pt.random.invgamma, (positive, positive)),
    "beta": Family(pt.random.beta, (positive, positive)),
    "weibull": Family(pt.random.weibull, (lambda x: x + 0.5,)),
    "logistic": Family(pt.random.logistic, (real, positive)),
    "laplace": Family(pt.random.laplace, (real, positive)),
    "vonmises": Family(pt.random.vonmises, (real, positive)),
    "wald": Family(pt.random.wald, (positive, positive)),
    "triangular": Family(pt.random.triangular, (lambda x: -x, lambda x: x, lambda x: x + 1)),
    "halfnormal": Family(pt.random.halfnormal, (real, positive)),
    "t": Family(pt.random.t, (positive, real, positive)),
    "poisson": Family(pt.random.poisson, (mean_of_counts,)),
    "geometric": Family(pt.random.geometric, (lambda x: chance(x) + 1e-4,)),
    "negative_binomial": Family(
        pt.random.negative_binomial, (positive, lambda x: chance(x) + 1e-3)
    ),
    "bernoulli": Family(pt.random.bernoulli, (chance,)),
    "binomial": Family(pt.random.binomial, (count, chance)),
    "beta_binomial": Family(pt.random.betabinom, (count, positive, positive)),
    "hypergeometric": Family(
        pt.random.hypergeometric, (count, count, lambda x: 0 * count(x) + (x > 0.5)), ("int64",)
    ),
    "integers": Family(
        pt.random.integers,
        (lambda x: -count(x), lambda x: (x * 2.0 ** (30 * x)).astype("int64") + 1),
        ("int64", "int32"),
    ),
}
# the dimensions of the first parameter, of the others, and whether there is a size
FORMS = {
    "numbers": (0, 0, False),
    "numbers, and a size": (0, 0, True),
    "a vector and numbers": (1, 0, False),
    "a matrix and vectors": (2, 1, False),
    "vectors, and a size": (1, 1, True),
}


@dataclass
class Case:
    """A function that draws, and its parameters' types."""

    function: Callable
    generator: object
    dtypes: list[str]
    ndims: list[int]


def generator_of(kind: str, seed: int) -> np.random.Generator:
    generator = np.random.Generator(getattr(np.random, kind)(seed))
    if seed % 2:
        # half a word is left
        generator.integers(9, dtype="uint32")
    return generator


def drawing(family: Family, form: str, dtype: str, in_loop: bool, mode) -> Case:
    first, others, sized = FORMS[form]
    ndims = [first if k == 0 else others for k in range(len(family.parameters))]
    dtypes = []
    for make in family.parameters:
        whole = make(np.array([0.5])).dtype.kind == "i"
        dtypes.append("int64" if whole and dtype.startswith("f") else dtype)
    given = [pt.tensor(dtype=d, shape=(None,) * n) for d, n in zip(dtypes, ndims, strict=True)]
    size = (2, 3) if sized else None
    generator = pytensor.shared(generator_of("PCG64", 0))
    if in_loop:

        def step(rng, *parameters):
            following, draws = family.variable(
                *parameters, size=size, rng=rng, return_next_rng=True
            )
            return following, draws

        last, draws = pytensor.scan(
            step,
            outputs_info=[generator, None],
            non_sequences=given,
            n_steps=STEPS,
            return_updates=False,
        )
    else:
        last, draws = family.variable(*given, size=size, rng=generator, return_next_rng=True)
    function = pytensor.function(given, draws, updates={generator: last}, mode=mode)
    return Case(function, generator, dtypes, ndims)


def check(family: Family, form: str, dtype: str, in_loop: bool, calls: int) -> None:
    native = drawing(family, form, dtype, in_loop, NATIVE)
    found = report(native.function)
    assert [loop.reason for loop in found.loops] == [None] * in_loop, found
    by_python = {str(one).split(":")[0].split("{")[0] for one in found.calls}
    assert by_python <= {"WordsOfGenerator", "GeneratorOfWords"}, found
    python = drawing(family, form, dtype, in_loop, "FAST_COMPILE")
    rng = np.random.default_rng(len(form))
    for call in range(calls):
        kind = BIT_GENERATORS[call % len(BIT_GENERATORS)]
        values = [
            np.asarray(make(rng.uniform(size=(4, 3)[2 - ndim :]))).astype(d)
            for make, d, ndim in zip(family.parameters, native.dtypes, native.ndims, strict=True)
        ]
        results = []
        for case in (native, python):
            case.generator.set_value(generator_of(kind, call))
            results.append((case.function(*values), case.generator.get_value()))
        (ours, our_generator), (theirs, their_generator) = results
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs, strict=True)
        state, expected = our_generator.bit_generator.state, their_generator.bit_generator.state
        np.testing.assert_equal(state, expected)


@pytest.mark.parametrize("name", FAMILIES)
def test_draws_in_a_loop(name):
    family = FAMILIES[name]
    check(family, "a vector and numbers", family.dtypes[0], in_loop=True, calls=10)


@pytest.mark.parametrize("name", FAMILIES)
def test_draws_outside_of_loops(name):
    family = FAMILIES[name]
    check(family, "vectors, and a size", family.dtypes[-1], in_loop=False, calls=10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FAMILIES)
def test_draws_of_all_forms(name, form):
    family = FAMILIES[name]
    for dtype in family.dtypes:
        for in_loop in (False, True):
            check(family, form, dtype, in_loop, calls=10)
