"""Models of the kinds that PyMC's gallery has, of rows that are independent: regressions, mixtures, survival."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pymc as pm
import pytensor.tensor as pt

MODELS: dict[str, Callable[[], None]] = {}


def models(build: Callable[[], None]) -> Callable[[], None]:
    """Add a model to the table, by the words of its name."""
    MODELS[build.__name__.replace("_", " ")] = build
    return build


def random() -> np.random.Generator:
    """Return the generator of made-up data, the same for each model."""
    return np.random.default_rng(11)


# ---- hierarchies ----


@models
def varying_slopes_with_correlation():
    r = random()
    group, x = r.integers(0, 20, 400), r.normal(size=400)
    y = 1 + 0.5 * x + r.normal(size=20)[group] + 0.3 * r.normal(size=400)
    chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1))
    offsets = pm.Normal("offsets", shape=(20, 2))
    mean = pm.Normal("mean", 0, 2, shape=2)
    effects = mean + offsets @ chol.T
    pm.Normal("y", effects[group, 0] + effects[group, 1] * x, pm.HalfNormal("noise"), observed=y)


@models
def batting_averages():
    r = random()
    at_bats = r.integers(20, 500, 60)
    mean, certainty = pm.Beta("mean", 2, 5), pm.Pareto("certainty", 1.5, 1)
    rates = pm.Beta("rates", mean * certainty, (1 - mean) * certainty, shape=60)
    pm.Binomial("hits", at_bats, rates, observed=r.binomial(at_bats, 0.27))


@models
def nested_schools_and_classes():
    r = random()
    school_of = r.integers(0, 8, 40)
    class_of = r.integers(0, 40, 600)
    school = pm.Normal("school", 0, pm.HalfNormal("between"), shape=8)
    room = pm.Normal("room", school[school_of], pm.HalfNormal("within"), shape=40)
    pm.StudentT(
        "score", nu=4, mu=room[class_of], sigma=pm.HalfNormal("s"), observed=r.normal(size=600)
    )


# ---- regressions ----


@models
def robust_regression():
    r = random()
    x = r.normal(size=300)
    line = pm.Normal("a", 0, 10) + pm.Normal("b", 0, 10) * x
    nu = pm.Gamma("nu", 2, 0.1)
    y = 1 + 2 * x + r.standard_t(3, size=300)
    pm.StudentT("y", nu=nu, mu=line, sigma=pm.HalfNormal("s"), observed=y)


@models
def horseshoe():
    r = random()
    x = r.normal(size=(100, 30))
    tau, local = pm.HalfCauchy("tau", 0.1), pm.HalfCauchy("local", 1, shape=30)
    slab = pm.InverseGamma("slab", 2, 2)
    shrunk = pm.math.sqrt(slab) * local / pm.math.sqrt(slab + tau**2 * local**2)
    slopes = tau * shrunk * pm.Normal("z", shape=30)
    pm.Normal("y", x @ slopes, pm.HalfNormal("s"), observed=x[:, 0] + r.normal(size=100))


@models
def quantile_regression():
    r = random()
    x = r.uniform(0, 5, 200)
    line = pm.Normal("a") + pm.Normal("b") * x
    pm.AsymmetricLaplace(
        "y", kappa=3.0, mu=line, b=pm.HalfNormal("s"), observed=x + r.normal(size=200)
    )


@models
def error_in_variables():
    r = random()
    seen = r.normal(size=80)
    true = pm.Normal("true", 0, 1, shape=80)
    pm.Normal("x", true, 0.3, observed=seen)
    line = pm.Normal("a") + pm.Normal("b") * true
    pm.Normal("y", line, pm.HalfNormal("s"), observed=2 * seen + r.normal(size=80))


@models
def proportions_by_dirichlet():
    r = random()
    x = r.normal(size=(120, 1))
    logits = pm.Normal("a", shape=4) + x * pm.Normal("b", shape=4)
    pm.Dirichlet("shares", pm.math.exp(logits), observed=r.dirichlet(np.ones(4) * 3, size=120))


@models
def gamma_claims():
    r = random()
    x = r.normal(size=(250, 3))
    mean = pm.math.exp(pm.Normal("a") + x @ pm.Normal("b", shape=3))
    shape = pm.HalfNormal("shape", 3)
    pm.Gamma("cost", alpha=shape, beta=shape / mean, observed=r.gamma(2, 1, 250))


# ---- answers and ranks ----


@models
def item_response_with_guessing():
    r = random()
    person, item = r.integers(0, 60, 2000), r.integers(0, 25, 2000)
    ability, difficulty = pm.Normal("ability", shape=60), pm.Normal("difficulty", shape=25)
    slope, guess = pm.LogNormal("slope", 0, 0.5, shape=25), pm.Beta("guess", 2, 8, shape=25)
    right = pm.math.sigmoid(slope[item] * (ability[person] - difficulty[item]))
    chance = guess[item] + (1 - guess[item]) * right
    pm.Bernoulli("answer", p=chance, observed=r.integers(0, 2, 2000))


@models
def ordered_answers():
    r = random()
    x = r.normal(size=(400, 3))
    cuts = pm.Normal(
        "cuts",
        0,
        2,
        shape=4,
        transform=pm.distributions.transforms.ordered,
        initval=np.array([-1.5, -0.5, 0.5, 1.5]),
    )
    eta = x @ pm.Normal("b", shape=3)
    pm.OrderedLogistic("answer", eta=eta, cutpoints=cuts, observed=r.integers(0, 5, 400))


# ---- mixtures ----


@models
def mixture_of_normals():
    r = random()
    y = np.concatenate([r.normal(-2, 0.5, 100), r.normal(2, 1, 100)])
    weights = pm.Dirichlet("weights", np.ones(3))
    means = pm.Normal(
        "means",
        0,
        5,
        shape=3,
        transform=pm.distributions.transforms.ordered,
        initval=np.array([-2.0, 0.0, 2.0]),
    )
    pm.NormalMixture("y", weights, means, sigma=pm.HalfNormal("s", shape=3), observed=y)


@models
def sticks_of_a_dirichlet_process():
    r = random()
    broken = pm.Beta("broken", 1, pm.Gamma("alpha", 1, 1), shape=10)
    left = pt.concatenate([[1], pt.extra_ops.cumprod(1 - broken)[:-1]])
    weights = pm.Deterministic("weights", broken * left)
    pm.Mixture(
        "y",
        weights / weights.sum(),
        pm.Normal.dist(pm.Normal("means", 0, 3, shape=10), pm.HalfNormal("s", shape=10)),
        observed=r.normal(size=150),
    )


@models
def mixture_of_vectors():
    r = random()
    chol, _, _ = pm.LKJCholeskyCov("chol", n=2, eta=2, sd_dist=pm.Exponential.dist(1))
    parts = [pm.MvNormal.dist(pm.Normal(f"mean{k}", shape=2), chol=chol) for k in range(2)]
    weights = pm.Dirichlet("weights", np.ones(2))
    pm.Mixture("y", weights, parts, observed=r.normal(size=(80, 2)))


# ---- survival ----


@models
def censored_weibull():
    r = random()
    x, alpha = r.normal(size=150), pm.HalfNormal("alpha", 3)
    scale = pm.math.exp(pm.Normal("a") + pm.Normal("b") * x)
    upper = np.where(r.random(150) < 0.3, 1.0, np.inf)
    times = np.minimum(r.weibull(1.5, 150), upper)
    pm.Censored("time", pm.Weibull.dist(alpha, scale), lower=None, upper=upper, observed=times)


@models
def hazard_by_intervals():
    r = random()
    died = r.integers(0, 2, (100, 12)) * (r.random((100, 12)) < 0.1)
    at_risk, x = r.uniform(0, 3, (100, 12)), r.normal(size=100)
    hazard = pm.Gamma("hazard", 0.5, 0.5, shape=12)
    rate = pt.outer(pm.math.exp(pm.Normal("b") * x), hazard)
    pm.Poisson("died", at_risk * rate + 1e-6, observed=died)
