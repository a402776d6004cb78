"""Models of counts as people write them: integer `pm.Data`, exposures, zeros, trials and successes."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

MODELS = {}
ROWS = 24


def models(build):
    """Add a model to the table, by the words of its name."""
    MODELS[build.__name__.replace("_", " ")] = build
    return build


def random():
    return np.random.default_rng(7)


def counts(mean=3.0, rows=ROWS):
    return pm.Data("counts", random().poisson(mean, rows))


def predictor():
    x = pm.Data("x", random().normal(size=ROWS))
    return pm.Normal("a") + pm.Normal("b") * x


# ---- counts without an upper bound ----


@models
def poisson_regression():
    pm.Poisson("seen", pm.math.exp(predictor()), observed=counts())


@models
def poisson_with_integer_exposure():
    days = pm.Data("days", random().integers(1, 40, ROWS))
    pm.Poisson("seen", days * pm.math.exp(predictor()), observed=counts())


@models
def poisson_with_the_logarithm_of_an_integer_exposure():
    days = pm.Data("days", random().integers(1, 40, ROWS))
    pm.Poisson("seen", pm.math.exp(pm.math.log(days) + predictor()), observed=counts())


@models
def a_power_law_of_an_integer():
    population = pm.Data("population", random().integers(1_000, 300_000, ROWS))
    rate = pm.Exponential("rate", 1) * population ** pm.Exponential("elasticity", 1)
    pm.Poisson("seen", rate, observed=counts(20))


@models
def softplus_of_an_integer():
    k = pm.Data("k", np.arange(ROWS) * 40)
    pm.Poisson("seen", pm.math.log1pexp(pm.Normal("w") * k) + 0.1, observed=counts())


@models
def softplus_by_hand_of_an_integer():
    k = pm.Data("k", np.arange(ROWS) * 40)
    mean = pt.log(1 + pt.exp(pm.Normal("w") * k)) + 0.1
    pm.Poisson("seen", mean, observed=counts())


@models
def logistic_growth_over_days():
    day = pm.Data("day", np.arange(ROWS) * 10)
    rate, middle = pm.HalfNormal("rate"), pm.Normal("middle", 100, 20)
    most = pm.Exponential("most", 0.01)
    mean = most / (1 + pm.math.exp(-rate * (day - middle)))
    pm.Poisson("seen", mean + 1e-3, observed=counts(20))


@models
def decay_by_half_lives():
    day = pm.Data("day", np.arange(ROWS))
    mean = pm.Exponential("start", 0.01) * 2.0 ** (-day / pm.HalfNormal("half_life", 5))
    pm.Poisson("seen", mean + 0.5, observed=counts())


@models
def a_polynomial_of_days():
    day = pm.Data("day", np.arange(ROWS))
    b = pm.Normal("b", 0, [1, 0.1, 0.01])
    pm.Poisson("seen", pm.math.exp(b[0] + b[1] * day + b[2] * day**2), observed=counts())


@models
def centred_and_scaled_integers():
    k = pm.Data("k", random().integers(0, 90, ROWS))
    scaled = (k - k.mean()) / k.std()
    pm.Poisson("seen", pm.math.exp(pm.Normal("a") + pm.Normal("b") * scaled), observed=counts())


@models
def coal_mining_disasters():
    year = pm.Data("year", np.arange(1851, 1851 + ROWS))
    change = pm.Uniform("change", 1851, 1851 + ROWS)
    early, late = pm.Exponential("early", 1), pm.Exponential("late", 1)
    pm.Poisson("seen", pm.math.switch(year < change, early, late), observed=counts())


@models
def a_smooth_change_point():
    year = pm.Data("year", np.arange(1851, 1851 + ROWS))
    weight = pm.math.sigmoid(5 * (year - pm.Uniform("change", 1851, 1851 + ROWS)))
    early, late = pm.Exponential("early", 1), pm.Exponential("late", 1)
    pm.Poisson("seen", early * (1 - weight) + late * weight, observed=counts())


@models
def rugby_teams():
    home = pm.Data("home", random().integers(0, 6, ROWS))
    away = pm.Data("away", random().integers(0, 6, ROWS))
    attack, defend = (pm.Normal(name, 0, 1, shape=6) for name in ("attack", "defend"))
    attack, defend = attack - attack.mean(), defend - defend.mean()
    rate = pm.math.exp(pm.Normal("intercept", 3) + attack[home] + defend[away])
    pm.Poisson("seen", rate, observed=counts(20))


@models
def negative_binomial_regression():
    mean = pm.math.exp(predictor())
    pm.NegativeBinomial("seen", mu=mean, alpha=pm.Exponential("alpha", 1), observed=counts())


@models
def negative_binomial_of_trials():
    pm.NegativeBinomial("seen", n=pm.Gamma("n", 2, 1), p=pm.Beta("p", 2, 2), observed=counts())


@models
def zero_inflated_poisson():
    pm.ZeroInflatedPoisson(
        "seen", psi=pm.Beta("psi", 2, 2), mu=pm.math.exp(predictor()), observed=counts(0.8)
    )


@models
def zero_inflated_poisson_with_a_model_of_zeros():
    x = pm.Data("kind", random().integers(0, 2, ROWS))
    psi = pm.math.invlogit(pm.Normal("c") + pm.Normal("d") * x)
    pm.ZeroInflatedPoisson("seen", psi=psi, mu=pm.math.exp(predictor()), observed=counts(0.8))


@models
def zero_inflated_negative_binomial():
    pm.ZeroInflatedNegativeBinomial(
        "seen",
        psi=pm.Beta("psi", 2, 2),
        mu=pm.math.exp(predictor()),
        alpha=pm.Exponential("alpha", 1),
        observed=counts(0.8),
    )


@models
def zero_inflated_binomial():
    pm.ZeroInflatedBinomial(
        "seen",
        psi=pm.Beta("psi", 2, 2),
        n=pm.Data("n", np.full(ROWS, 9)),
        p=pm.math.invlogit(predictor()),
        observed=counts(0.8),
    )


@models
def zero_inflated_poisson_by_hand():
    """`logaddexp` where a count is zero, and the rate's logarithm where it is not."""
    y = counts(0.8)
    psi, mean = pm.Beta("psi", 2, 2), pm.math.exp(predictor())
    zero = pm.math.logaddexp(pt.log1p(-psi), pt.log(psi) - mean)
    some = pt.log(psi) + y * pt.log(mean) - mean - pt.gammaln(y + 1)
    pm.Potential("seen", pm.math.switch(pt.eq(y, 0), zero, some).sum())


@models
def hurdle_poisson():
    pm.HurdlePoisson(
        "seen", psi=pm.Beta("psi", 2, 2), mu=pm.math.exp(predictor()), observed=counts(0.8)
    )


@models
def hurdle_negative_binomial():
    pm.HurdleNegativeBinomial(
        "seen",
        psi=pm.Beta("psi", 2, 2),
        mu=pm.math.exp(predictor()),
        alpha=pm.Exponential("alpha", 1),
        observed=counts(0.8),
    )


@models
def zero_truncated_poisson_by_hand():
    y = pm.Data("counts", 1 + random().poisson(2, ROWS))
    mean = pm.math.exp(predictor())
    density = y * pt.log(mean) - mean - pt.gammaln(y + 1) - pt.log(1 - pt.exp(-mean))
    pm.Potential("seen", density.sum())


@models
def a_mixture_of_poissons():
    means = pm.Exponential("means", 1, shape=2)
    parts = pm.Poisson.dist(means)
    pm.Mixture("seen", pm.Dirichlet("w", np.ones(2)), parts, observed=counts()[:, None])


@models
def a_mixture_with_certain_zeros():
    parts = [pm.DiracDelta.dist(0), pm.Poisson.dist(pm.Exponential("mean", 1))]
    pm.Mixture("seen", pm.Dirichlet("w", np.ones(2)), parts, observed=counts(0.8))


@models
def geometric_waiting():
    pm.Geometric(
        "seen",
        pm.math.invlogit(predictor()),
        observed=pm.Data("counts", 1 + random().poisson(2, ROWS)),
    )


@models
def discrete_weibull():
    pm.DiscreteWeibull(
        "seen", q=pm.Beta("q", 2, 2), beta=pm.Exponential("beta", 1), observed=counts()
    )


@models
def a_random_walk_of_rates():
    walk = pm.GaussianRandomWalk(
        "walk", sigma=pm.HalfNormal("s"), init_dist=pm.Normal.dist(), steps=ROWS - 1
    )
    pm.Poisson("seen", pm.math.exp(walk), observed=counts())


@models
def counts_that_depend_on_the_last_one():
    """INGARCH: the rate is a loop over integers."""
    y = counts()
    a, b, start = pm.Beta("a", 2, 4), pm.Beta("b", 2, 4), pm.Exponential("start", 1)
    rates = pytensor.scan(
        lambda before, rate, a, b, start: start + a * before + b * rate,
        sequences=[y[:-1]],
        outputs_info=[start],
        non_sequences=[a, b, start],
        return_updates=False,
    )
    pm.Poisson("seen", rates, observed=y[1:])


@models
def an_epidemic_of_integers():
    people = pm.Data("people", np.array([990, 10]))

    def step(s, i, spread, recovery):
        new = spread * s * i / 1000
        return s - new, i + new - recovery * i

    _, sick = pytensor.scan(
        step,
        outputs_info=[people[0].astype("float64"), people[1].astype("float64")],
        non_sequences=[pm.HalfNormal("spread"), pm.Beta("recovery", 2, 8)],
        n_steps=ROWS,
        return_updates=False,
    )
    pm.Poisson("seen", pt.maximum(sick / 100, 1e-6), observed=counts())


# ---- successes among trials ----


def trials():
    n = random().integers(1, 30, ROWS)
    return pm.Data("n", n), pm.Data("k", random().binomial(n, 0.4))


@models
def binomial_regression():
    n, k = trials()
    pm.Binomial("seen", n=n, p=pm.math.invlogit(predictor()), observed=k)


@models
def binomial_by_logits():
    n, k = trials()
    pm.Binomial("seen", n=n, logit_p=10 * predictor(), observed=k)


@models
def binomial_by_hand():
    n, k = trials()
    p = 1 / (1 + pt.exp(-10 * predictor()))
    pm.Potential("seen", (k * pt.log(p) + (n - k) * pt.log(1 - p)).sum())


@models
def beta_binomial():
    n, k = trials()
    a, b = pm.Exponential("a", 1), pm.Exponential("b", 1)
    pm.BetaBinomial("seen", alpha=a, beta=b, n=n, observed=k)


@models
def rates_of_hospitals():
    n, k = trials()
    mean, size = pm.Beta("mean", 2, 2), pm.HalfNormal("size", 20)
    p = pm.Beta("p", mean * size, (1 - mean) * size, shape=ROWS)
    pm.Binomial("seen", n=n, p=p, observed=k)


@models
def proportions_of_integers():
    n, k = trials()
    share = (k + 0.5) / (n + 1)
    pm.Beta("seen", mu=pm.math.invlogit(predictor()), nu=pm.Exponential("nu", 1), observed=share)


@models
def a_covariate_that_is_a_ratio_of_integers():
    n, k = trials()
    mean = pm.math.exp(pm.Normal("a") + pm.Normal("b") * k / n)
    pm.Poisson("seen", mean, observed=counts())


@models
def departments_and_genders():
    n, k = trials()
    department = pm.Data("department", np.arange(ROWS) % 6)
    gender = pm.Data("gender", np.arange(ROWS) // 6 % 2)
    logits = pm.Normal("a", shape=6)[department] + pm.Normal("b", shape=2)[gender]
    pm.Binomial("seen", n=n, logit_p=logits, observed=k)
