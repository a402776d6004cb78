"""Samples of NumPy's `Generator` in native code are those of PyTensor's `perform`, to the bit."""

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
    """A random variable, and how its parameters are made from numbers between 0 and 1."""

    variable: Callable
    parameters: tuple[Callable, ...]
    dtypes: tuple[str, ...] = ("float64", "float32")
    # how many dimensions of each parameter belong to one draw
    ndims: tuple[int, ...] = (0, 0, 0)


def real(x):
    return 8 * x - 4


def positive(x):
    # now and then small, where distributions are drawn in another way
    return np.where(x < 0.3, x**3 + 1e-9, 20 * x)


def exponent(x):
    # now and then one that NumPy computes in another way, for all samples if they share it
    short = np.array([0.5, 1.0, 2.0])[(100 * np.mean(x)).astype(int) % 3]
    return np.where(np.max(x) < 0.5, short, 3 * x + 0.1)


def chance(x):
    return np.where(x < 0.2, x, 0.999 * x)


def mean_of_counts(x):
    return np.where(x < 0.3, 0 * x, np.where(x < 0.6, 5 * x, 200 * x))


def chances(x):
    return x / x.sum(-1, keepdims=True) * 0.999


def alphas(x):
    # half of them all small, which NumPy draws in another way
    return np.where(x.mean() < 0.5, 0.09 * x, 9 * x)


def count(x):
    return np.where(x < 0.5, 30 * x, 5000 * x).astype("int64")


FAMILIES = {
    "uniform": Family(pt.random.uniform, (lambda x: -x, lambda x: 4 * x)),
    "normal": Family(pt.random.normal, (real, positive)),
    "lognormal": Family(pt.random.lognormal, (lambda x: x, lambda x: x)),
    "exponential": Family(pt.random.exponential, (positive,)),
    "gamma": Family(lambda a, b, **k: pt.random.gamma(a, scale=b, **k), (positive, positive)),
    "invgamma": Family(pt.random.invgamma, (lambda x: x + 1, positive)),
    "beta": Family(pt.random.beta, (positive, positive)),
    "weibull": Family(pt.random.weibull, (lambda x: x + 0.5,)),
    "logistic": Family(pt.random.logistic, (real, positive)),
    "laplace": Family(pt.random.laplace, (real, positive)),
    "vonmises": Family(pt.random.vonmises, (real, positive)),
    "wald": Family(pt.random.wald, (positive, positive)),
    "triangular": Family(pt.random.triangular, (lambda x: -x, lambda x: x, lambda x: x + 1)),
    "halfnormal": Family(pt.random.halfnormal, (real, positive)),
    "t": Family(pt.random.t, (positive, real, positive)),
    "cauchy": Family(pt.random.cauchy, (real, positive)),
    "halfcauchy": Family(pt.random.halfcauchy, (real, positive)),
    "gumbel": Family(pt.random.gumbel, (real, positive)),
    "pareto": Family(pt.random.pareto, (exponent, positive)),
    "gengamma": Family(pt.random.gengamma, (positive, exponent, positive)),
    "truncexpon": Family(pt.random.truncexpon, (positive, real, positive), ("float64",)),
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
    "dirichlet": Family(pt.random.dirichlet, (alphas,), ndims=(1,)),
    "multinomial": Family(pt.random.multinomial, (count, chances), ndims=(0, 1)),
    "categorical": Family(pt.random.categorical, (chances,), ndims=(1,)),
}
PERMUTATIONS = {
    "vectors": Family(pt.random.permutation, (lambda x: 100 * x,), ("int32",), ndims=(1,)),
    "matrices": Family(pt.random.permutation, (lambda x: 100 * x,), ("float64",), ndims=(2,)),
    "numbers": Family(
        pt.random.permutation, (lambda x: np.max(50 * x).astype("int64"),), ("int64",)
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
    batches = [first if k == 0 else others for k in range(len(family.parameters))]
    ndims = [ndim + own for ndim, own in zip(batches, family.ndims, strict=False)]
    dtypes = []
    for make in family.parameters:
        whole = make(np.full((2, 2), 0.5)).dtype.kind == "i"
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
            np.asarray(make(rng.uniform(size=(4, 3, 3)[3 - ndim :]))).astype(d)
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


WITHOUT_SAMPLES = {
    "integers": lambda k, **of: pt.random.integers(0, k, size=(0,), **of),
    "choice": lambda k, **of: pt.random.choice(pt.zeros(k), size=(k,), **of),
    "normal": lambda k, **of: pt.random.normal(0, k - 1.0, size=(0, 3), **of),
    "normal, arrays": lambda k, **of: pt.random.normal(0, pt.ones(1) - 2 + k, size=(0, 1), **of),
    "poisson": lambda k, **of: pt.random.poisson(k + 0.5, size=(0,), **of),
    "dirichlet": lambda k, **of: pt.random.dirichlet(pt.ones(3) + k, size=(0,), **of),
    "multinomial": lambda k, **of: pt.random.multinomial(k, pt.ones(2) / 2, size=(0,), **of),
    "permutation": lambda k, **of: pt.random.permutation(pt.zeros(k), **of),
    "categorical": lambda k, **of: pt.random.categorical(pt.ones(2) / 2, size=(k, 2), **of),
}


@pytest.mark.parametrize("name", WITHOUT_SAMPLES)
def test_no_samples(name):
    results = []
    for mode in (NATIVE, "FAST_COMPILE"):
        k = pt.lscalar()
        generator = pytensor.shared(np.random.default_rng(4))
        following, found = WITHOUT_SAMPLES[name](k, rng=generator, return_next_rng=True)
        function = pytensor.function([k], found, updates={generator: following}, mode=mode)
        try:
            drawn = function(0)
        except ValueError as error:
            drawn = str(error).split("\n")[0]
        results.append((drawn, generator.get_value().bit_generator.state))
    np.testing.assert_equal(*results)


@pytest.mark.parametrize("of", PERMUTATIONS)
@pytest.mark.parametrize("in_loop", [False, True])
def test_permutations(of, in_loop):
    family = PERMUTATIONS[of]
    check(family, "numbers", family.dtypes[0], in_loop, calls=10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FAMILIES)
def test_draws_of_all_forms(name, form):
    family = FAMILIES[name]
    for dtype in family.dtypes:
        for in_loop in (False, True):
            check(family, form, dtype, in_loop, calls=10)


# parameters at which NumPy or SciPy refuses to draw, and some next to them at which it does not
EDGES = {
    "uniform": [(1, 0), (0.0, -0.0), (0, np.inf), (-1e308, 1e308), (0, np.nan), (1, 1)],
    "normal": [(0, -1), (0, -0.0), (0, np.nan), (np.inf, 1)],
    "lognormal": [(0, -1), (0, 0)],
    "exponential": [(-1,), (-0.0,), (0,), (np.nan,)],
    "gamma": [(-1, 1), (1, -1), (0, 1), (1, 0), (np.nan, 1)],
    "invgamma": [(-1, 1), (1, -1), (2, 3)],
    "beta": [(0, 1), (1, -1), (np.nan, 1), (1e-300, 1e-300)],
    "weibull": [(-1,), (0,)],
    "logistic": [(0, -1), (0, 0)],
    "laplace": [(0, -1), (0, 0)],
    "vonmises": [(0, -1), (0, 0), (0, 1e9), (np.nan, 1)],
    "wald": [(0, 1), (1, 0), (1, -1)],
    "triangular": [(1, 0, 2), (0, 3, 2), (1, 1, 1), (0, 0, 1), (np.nan, 1, 2)],
    "halfnormal": [(3, 0), (0, -1), (0, np.nan), (np.nan, 1)],
    "t": [(0, 0, 1), (1, 0, -1), (2, 5, 0), (np.nan, 0, 1), (-1, 0, 0), (np.nan, 0, 0)],
    "cauchy": [(1, 0), (0, -1), (np.nan, 1), (0, np.nan), (0, -0.0)],
    "halfcauchy": [(1, 0), (0, -1), (np.nan, 1)],
    "gumbel": [(1, 0), (0, -1), (np.nan, 1)],
    "pareto": [(1, 0), (0, 1), (-1, 1), (1, -1), (1, 1), (2, 1), (np.nan, 1), (1e-3, 1)],
    "gengamma": [
        (1, 1, 0),
        (1, 0, 1),
        (-1, -1, 1),
        (1, 1, -1),
        (1, -1, 1),
        (1, np.inf, 1),
        (1, 2, 1),
        (1, 0.5, 1),
    ],
    "truncexpon": [(0, 0, 1), (-1, 0, 1), (1, 0, -1), (1, 2, 0), (1e3, 0, 1), (np.nan, 0, 1)],
    "poisson": [(-1,), (np.nan,), (1e19,), (0,), (1e18,)],
    "geometric": [(0,), (1.1,), (np.nan,), (1,)],
    "negative_binomial": [(0, 0.5), (1, 0), (1, 1.1), (1e10, 1e-15), (3, 1), (np.inf, 1)],
    "bernoulli": [(-0.1,), (1.1,), (np.nan,), (0,), (1,)],
    "binomial": [
        (2**63 - 1, 0.5),
        (2**53 + 1, 1e-15),
        (-1, 0.5),
        (3, -0.1),
        (3, 1.1),
        (3, np.nan),
        (0, 0.5),
    ],
    "beta_binomial": [(-1, 1, 1), (1, 0, 1), (1, 1, 0), (0, 1, 1)],
    "hypergeometric": [(-1, 1, 1), (1, 1, 3), (10**9, 1, 1), (1, 1, -1), (0, 0, 0), (5, 5, 0)],
    "integers": [(1, 1), (2, 1), (-(2**63), 2**63 - 1), (0, 2**32), (0, 2**32 + 1), (4, 5)],
}


@pytest.mark.parametrize("name", EDGES)
def test_parameters_at_the_edge(name):
    family = FAMILIES[name]
    cases = [
        drawing(family, "numbers", family.dtypes[0], False, m) for m in (NATIVE, "FAST_COMPILE")
    ]
    for given in EDGES[name]:
        values = [np.asarray(v, d) for v, d in zip(given, cases[0].dtypes, strict=True)]
        found = []
        for case in cases:
            case.generator.set_value(generator_of("PCG64", 1))
            before = case.generator.get_value().bit_generator.state
            try:
                with np.errstate(all="ignore"):
                    drawn = case.function(*values)
            except (ValueError, OverflowError) as error:
                assert case.generator.get_value().bit_generator.state == before
                # NumPy's own words; what follows them names the operation
                drawn = type(error), str(error).split("\n")[0]
            found.append((drawn, case.generator.get_value().bit_generator.state))
        np.testing.assert_equal(*found, err_msg=f"{name}{given}")


def test_each_random_variable_of_pytensor_is_native():
    from pytensor.tensor.random import basic
    from pytensor.tensor.random.op import RandomVariable

    from theano.link.native.lowering.operations.sampling.generator_samples import NATIVE_DRAWS

    classes = {
        kind
        for kind in vars(basic).values()
        if isinstance(kind, type)
        and issubclass(kind, RandomVariable)
        and "Scipy" not in kind.__name__
    } - {RandomVariable}
    assert classes
    assert not classes - set(NATIVE_DRAWS)


COMPOSED = {
    "chisquare": lambda rng: pt.random.chisquare(3.5, size=(4,), rng=rng, return_next_rng=True),
    "choice": lambda rng: pt.random.choice(
        np.arange(9.0), size=(5,), rng=rng, return_next_rng=True
    ),
    "choice by probability": lambda rng: pt.random.choice(
        np.arange(4.0), size=(5,), p=[0.1, 0.2, 0.3, 0.4], rng=rng, return_next_rng=True
    ),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_draws_that_pytensor_composes(name):
    results = []
    for mode in (NATIVE, "FAST_COMPILE"):
        generator = pytensor.shared(np.random.default_rng(4))
        following, draws = COMPOSED[name](generator)
        function = pytensor.function([], draws, updates={generator: following}, mode=mode)
        results.append((function(), function(), generator.get_value().bit_generator.state))
        if mode is NATIVE:
            by_python = {str(one).split(":")[0].split("{")[0] for one in report(function).calls}
            assert by_python <= {"WordsOfGenerator", "GeneratorOfWords"}
    np.testing.assert_equal(*results)
