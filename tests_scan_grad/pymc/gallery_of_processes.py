"""Models of the kinds that PyMC's gallery has, of time and space: series, processes, maps, equations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

MODELS: dict[str, Callable[[], None]] = {}


def models(build: Callable[[], None]) -> Callable[[], None]:
    """Add a model to the table, by the words of its name."""
    MODELS[build.__name__.replace("_", " ")] = build
    return build


def random() -> np.random.Generator:
    """Return the generator of made-up data, the same for each model."""
    return np.random.default_rng(12)


# ---- Gaussian processes ----


@models
def marginal_process():
    r = random()
    x = np.sort(r.uniform(0, 10, 60))[:, None]
    cov = pm.HalfNormal("eta") ** 2 * pm.gp.cov.Matern52(1, ls=pm.Gamma("ls", 2, 1))
    gp = pm.gp.Marginal(cov_func=cov)
    gp.marginal_likelihood("y", X=x, y=r.normal(size=60), sigma=pm.HalfNormal("s"))


@models
def latent_process_of_counts():
    r = random()
    x = np.linspace(0, 10, 50)[:, None]
    cov = pm.HalfNormal("eta") ** 2 * pm.gp.cov.ExpQuad(1, ls=pm.Gamma("ls", 2, 1))
    f = pm.gp.Latent(cov_func=cov).prior("f", X=x)
    pm.Poisson("n", mu=pm.math.exp(f), observed=r.poisson(2, 50))


@models
def process_by_basis_functions():
    r = random()
    x = np.linspace(-1, 1, 300)[:, None]
    cov = pm.HalfNormal("eta") ** 2 * pm.gp.cov.Matern32(1, ls=pm.InverseGamma("ls", 5, 2))
    f = pm.gp.HSGP(m=[25], c=1.5, cov_func=cov).prior("f", X=x)
    pm.Normal("y", f, pm.HalfNormal("s"), observed=r.normal(size=300))


@models
def sparse_process():
    r = random()
    x = np.sort(r.uniform(0, 10, 120))[:, None]
    cov = pm.HalfNormal("eta") ** 2 * pm.gp.cov.ExpQuad(1, ls=pm.Gamma("ls", 2, 1))
    gp = pm.gp.MarginalApprox(cov_func=cov, approx="FITC")
    knots = np.linspace(0, 10, 12)[:, None]
    gp.marginal_likelihood("y", X=x, Xu=knots, y=r.normal(size=120), sigma=pm.HalfNormal("s"))


@models
def process_on_a_grid():
    r = random()
    ages, years = np.arange(8.0)[:, None], np.arange(9.0)[:, None]
    covs = [pm.gp.cov.ExpQuad(1, ls=pm.Gamma(f"ls{k}", 2, 1)) for k in range(2)]
    gp = pm.gp.LatentKron(cov_funcs=covs)
    f = gp.prior("f", Xs=[ages, years])
    pm.Normal("y", f, pm.HalfNormal("s"), observed=r.normal(size=72))


# ---- series ----


@models
def random_walk_with_volatility():
    r = random()
    walk = pm.GaussianRandomWalk(
        "walk", sigma=pm.Exponential("step", 10), init_dist=pm.Normal.dist(0, 1), shape=200
    )
    pm.StudentT(
        "y", nu=pm.Exponential("nu", 0.1), lam=pm.math.exp(-2 * walk), observed=r.normal(size=200)
    )


@models
def seasons_and_trend():
    r = random()
    t = np.arange(120) / 12
    waves = np.concatenate([f(2 * np.pi * np.outer(t, [1, 2, 3])) for f in (np.sin, np.cos)], 1)
    knots = np.clip(t[:, None] - np.linspace(1, 9, 9), 0, None)
    trend = pm.Normal("a") + pm.Normal("k") * t + knots @ pm.Laplace("changes", 0, 0.1, shape=9)
    season = waves @ pm.Normal("season", shape=6)
    pm.Normal("y", trend + season, pm.HalfNormal("s"), observed=r.normal(size=120))


@models
def vector_autoregression():
    r = random()
    y = r.normal(size=(150, 3))
    lags = [pm.Normal(f"lag{k}", 0, 0.3, shape=(3, 3)) for k in (1, 2)]
    chol, _, _ = pm.LKJCholeskyCov("chol", n=3, eta=2, sd_dist=pm.Exponential.dist(1))
    mean = pm.Normal("c", shape=3) + y[1:-1] @ lags[0].T + y[:-2] @ lags[1].T
    pm.MvNormal("y", mean, chol=chol, observed=y[2:])


@models
def exponential_smoothing():
    r = random()
    y = 10 + r.normal(size=120).cumsum()
    alpha, beta = pm.Beta("alpha", 2, 2), pm.Beta("beta", 2, 2)

    def step(value, level, trend, alpha, beta):
        new = alpha * value + (1 - alpha) * (level + trend)
        return new, beta * (new - level) + (1 - beta) * trend

    (levels, trends), _ = pytensor.scan(
        step,
        sequences=[pt.constant(y[:-1])],
        outputs_info=[pm.Normal("level", 10, 2), pm.Normal("trend")],
        non_sequences=[alpha, beta],
    )
    pm.Normal("y", levels + trends, pm.HalfNormal("s"), observed=y[1:])


@models
def local_level_by_a_filter():
    r = random()
    drift, noise = pm.HalfNormal("drift"), pm.HalfNormal("noise")

    def step(value, mean, spread, drift, noise):
        spread = spread + drift**2
        total = spread + noise**2
        gain, error = spread / total, value - mean
        term = -0.5 * (pt.log(2 * np.pi * total) + error**2 / total)
        return mean + gain * error, (1 - gain) * spread, term

    outputs, _ = pytensor.scan(
        step,
        sequences=[pt.constant(r.normal(size=200).cumsum())],
        outputs_info=[pt.constant(np.float64(0)), pt.constant(np.float64(10)), None],
        non_sequences=[drift, noise],
    )
    pm.Potential("density", outputs[-1].sum())


@models
def switching_point():
    r = random()
    years = np.arange(110)
    when, width = pm.Uniform("when", 0, 110), 2.0
    share = pm.math.sigmoid((years - when) / width)
    rate = pm.Exponential("early", 1) * (1 - share) + pm.Exponential("late", 1) * share
    pm.Poisson("n", rate, observed=r.poisson(2, 110))


# ---- maps ----


def _neighbours(side: int) -> np.ndarray:
    near = np.zeros((side * side, side * side))
    for k in range(side * side):
        for other in ((k + 1) if (k + 1) % side else -1, k + side):
            if 0 <= other < side * side:
                near[k, other] = near[other, k] = 1
    return near


@models
def areas_with_neighbours():
    r = random()
    areas = 144
    expected, x = r.uniform(1, 9, areas), r.normal(size=areas)
    own, shared = pm.Normal("own", shape=areas), pm.ICAR("shared", W=_neighbours(12))
    rho = pm.Beta("rho", 0.5, 0.5)
    mixed = pm.math.sqrt(1 - rho) * own + pm.math.sqrt(rho / 0.6) * shared
    risk = pm.Normal("a") + pm.Normal("b") * x + pm.HalfNormal("s") * mixed
    pm.Poisson("n", mu=expected * pm.math.exp(risk), observed=r.poisson(expected))


@models
def areas_with_conditional_normals():
    r = random()
    alpha, tau = pm.Beta("alpha", 2, 2), pm.Gamma("tau", 2, 2)
    field = pm.CAR("field", mu=np.zeros(49), W=_neighbours(7), alpha=alpha, tau=tau)
    pm.Poisson("n", mu=pm.math.exp(field), observed=r.poisson(1, 49))


# ---- differential equations ----


@models
def growth_by_runge_kutta():
    r = random()
    rate, most = pm.LogNormal("rate", -1, 0.3), pm.LogNormal("most", 3, 0.3)

    def step(size, rate, most):
        def change(size):
            return rate * size * (1 - size / most)

        first = change(size)
        second = change(size + 0.25 * first)
        third = change(size + 0.25 * second)
        return size + 0.5 / 6 * (first + 2 * second + 2 * third + change(size + 0.5 * third))

    sizes, _ = pytensor.scan(
        step, outputs_info=[pt.constant(np.float64(1))], non_sequences=[rate, most], n_steps=60
    )
    pm.LogNormal("seen", pm.math.log(sizes), pm.HalfNormal("s"), observed=r.lognormal(2, 0.2, 60))
