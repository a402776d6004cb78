"""Draws of PyMC's distributions are those of PyMC, and which of them the native engine makes."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")

from pymc.pytensorf import collect_default_updates, reseed_rngs  # noqa: E402

import theano  # noqa: E402
import theano.pymc  # noqa: E402
from theano.link.native import report  # noqa: E402

ROWS = np.array([0.2, 0.5, 1.5])
CHANCES = np.array([0.2, 0.3, 0.5])

DISTRIBUTIONS = {
    "AsymmetricLaplace": lambda: pm.AsymmetricLaplace.dist(kappa=2, mu=0, b=ROWS),
    "BetaBinomial": lambda: pm.BetaBinomial.dist(n=20, alpha=2, beta=ROWS),
    "Bernoulli": lambda: pm.Bernoulli.dist(p=CHANCES),
    "Beta": lambda: pm.Beta.dist(ROWS, 1e-3, size=(40, 3)),
    "Binomial": lambda: pm.Binomial.dist(n=[3, 5, 100], p=CHANCES),
    "Categorical": lambda: pm.Categorical.dist(p=CHANCES, size=20),
    "ChiSquared": lambda: pm.ChiSquared.dist(nu=3, size=5),
    "Dirichlet": lambda: pm.Dirichlet.dist(a=ROWS, size=4),
    "DirichletMultinomial": lambda: pm.DirichletMultinomial.dist(n=9, a=ROWS),
    "DiscreteUniform": lambda: pm.DiscreteUniform.dist([-3, 0, 5], 7, size=(9, 3)),
    "ExGaussian": lambda: pm.ExGaussian.dist(mu=0, sigma=1, nu=ROWS),
    "Exponential": lambda: pm.Exponential.dist(lam=ROWS),
    "Gamma": lambda: pm.Gamma.dist(ROWS, 2.0),
    "GARCH11": lambda: pm.GARCH11.dist(
        omega=0.1, alpha_1=0.2, beta_1=0.3, initial_vol=1.0, steps=20
    ),
    "Geometric": lambda: pm.Geometric.dist(p=CHANCES),
    "HalfNormal": lambda: pm.HalfNormal.dist(ROWS),
    "HyperGeometric": lambda: pm.HyperGeometric.dist(N=50, k=np.array([3, 20, 49]), n=10),
    "InverseGamma": lambda: pm.InverseGamma.dist(2 + ROWS, 2.0),
    "Laplace": lambda: pm.Laplace.dist(0, ROWS),
    "LogNormal": lambda: pm.LogNormal.dist(0, ROWS),
    "Logistic": lambda: pm.Logistic.dist(0, ROWS),
    "HalfCauchy": lambda: pm.HalfCauchy.dist(ROWS),
    "Cauchy": lambda: pm.Cauchy.dist(0, ROWS),
    "Gumbel": lambda: pm.Gumbel.dist(0, ROWS, size=(4, 3)),
    "Kumaraswamy": lambda: pm.Kumaraswamy.dist(ROWS, 2.0),
    "Moyal": lambda: pm.Moyal.dist(0, ROWS, size=(4, 3)),
    "Moyal, of one": lambda: pm.Moyal.dist(0.5, 2.0),
    "Pareto": lambda: pm.Pareto.dist(ROWS, 2.0, size=(4, 3)),
    "Rice": lambda: pm.Rice.dist(b=ROWS, sigma=2.0, size=(4, 3)),
    "Rice, of one": lambda: pm.Rice.dist(b=np.float64(1.5), sigma=2.0),
    "SkewNormal": lambda: pm.SkewNormal.dist(3 * ROWS - 2, 0, 1.5, size=(4, 3)),
    "SkewNormal, with one shape": lambda: pm.SkewNormal.dist(np.float64(1.7), 0, 1.5, size=40),
    "SkewNormal, of one": lambda: pm.SkewNormal.dist(np.float64(1.7), 0, ROWS),
    "Weibull": lambda: pm.Weibull.dist(2.0, ROWS),
    "Mixture": lambda: pm.Mixture.dist(CHANCES, [pm.Normal.dist(m, 1) for m in (0, 3, 9)]),
    "MvNormal": lambda: pm.MvNormal.dist(ROWS, np.eye(3) + 0.2, size=4),
    "MvStudentT": lambda: pm.MvStudentT.dist(nu=4, mu=ROWS, scale=np.eye(3) + 0.2),
    "Multinomial": lambda: pm.Multinomial.dist(n=12, p=CHANCES, size=3),
    "NegativeBinomial": lambda: pm.NegativeBinomial.dist(mu=ROWS, alpha=2),
    "Normal": lambda: pm.Normal.dist(ROWS, 2, size=(4, 3)),
    "Poisson": lambda: pm.Poisson.dist(50 * ROWS),
    "RandomWalk": lambda: pm.RandomWalk.dist(
        innovation_dist=pm.Normal.dist(0, 1), init_dist=pm.Normal.dist(0, 5), steps=12
    ),
    "StudentT": lambda: pm.StudentT.dist(nu=3, mu=0, sigma=ROWS),
    "Triangular": lambda: pm.Triangular.dist(lower=0, c=ROWS, upper=2),
    "Uniform": lambda: pm.Uniform.dist(-ROWS, ROWS),
    "VonMises": lambda: pm.VonMises.dist(0, ROWS),
    "Wald": lambda: pm.Wald.dist(mu=ROWS, lam=2, alpha=0.3),
    "ZeroInflatedPoisson": lambda: pm.ZeroInflatedPoisson.dist(psi=0.4, mu=3, size=9),
    "ZeroSumNormal": lambda: pm.ZeroSumNormal.dist(sigma=1, shape=5),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_native_draws_are_those_of_pymc(name):
    drawn, results = DISTRIBUTIONS[name](), []
    updates = collect_default_updates([drawn])
    for mode in (theano.Mode("native", "fast_run"), "FAST_COMPILE"):
        reseed_rngs(list(updates), 3)
        function = pytensor.function([], drawn, updates=updates, mode=mode)
        values = [function() for _ in range(3)]
        states = [rng.get_value().bit_generator.state for rng in updates]
        results.append((values, states))
        if not isinstance(mode, str):
            found = report(function)
            by_python = {str(one).split(":")[0].split("{")[0] for one in found.calls}
            assert by_python <= {"WordsOfGenerator", "GeneratorOfWords"}, found
            assert all(loop.reason is None for loop in found.loops), found
    (ours, our_states), (theirs, their_states) = results
    np.testing.assert_equal(our_states, their_states)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-15)


PARAMETERS = {
    "Moyal": (pm.Moyal, (lambda x: x - 0.5, lambda x: 3 * x)),
    "Rice": (lambda b, sigma, **k: pm.Rice.dist(b=b, sigma=sigma, **k), (lambda x: 4 * x,) * 2),
    "SkewNormal": (pm.SkewNormal, (lambda x: 9 * x - 4, lambda x: x, lambda x: 3 * x)),
}


@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize("form", [(0, None), (0, (2, 3)), (1, None), (1, (2, 3)), (2, None)])
@pytest.mark.parametrize("name", PARAMETERS)
def test_draws_of_pymcs_own_have_the_same_bits(name, form, in_loop):
    made, maps = PARAMETERS[name]
    ndim, size = form
    given = [pt.tensor(dtype="float64", shape=(None,) * ndim) for _ in maps]
    generator = pytensor.shared(np.random.default_rng(0))

    def drawn(rng, *parameters):
        draw = getattr(made, "dist", made)(*parameters, size=size, rng=rng)
        return draw.owner.outputs

    if in_loop:
        last, samples = pytensor.scan(
            drawn,
            outputs_info=[generator, None],
            non_sequences=given,
            n_steps=3,
            return_updates=False,
        )
    else:
        last, samples = drawn(generator, *given)
    functions = [
        pytensor.function(given, samples, updates={generator: last}, mode=mode)
        for mode in (theano.Mode("native", "fast_run"), "FAST_COMPILE")
    ]
    found = report(functions[0])
    assert not any("RV" in str(one) or "_rv" in str(one) for one in found.calls), found
    assert all(loop.reason is None for loop in found.loops), found
    numbers = np.random.default_rng(1)
    for seed in range(20):
        values = [change(numbers.uniform(size=(2, 3)[2 - ndim :])) for change in maps]
        results = []
        for function in functions:
            generator.set_value(np.random.default_rng(seed))
            results.append((function(*values), generator.get_value().bit_generator.state))
        np.testing.assert_equal(*results)
