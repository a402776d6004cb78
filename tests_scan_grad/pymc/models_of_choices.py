"""Models of choices, ranks, masks and censored data as people write them, with integer `pm.Data`."""

from __future__ import annotations

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

MODELS = {}
ROWS, KINDS = 24, 4


def models(build):
    """Add a model to the table, by the words of its name."""
    MODELS[build.__name__.replace("_", " ")] = build
    return build


def random():
    return np.random.default_rng(8)


def binary(dtype="int64"):
    return pm.Data("y", random().integers(0, 2, ROWS).astype(dtype))


def kinds():
    return pm.Data("kind", random().integers(0, KINDS, ROWS))


def predictor(scale=1):
    x = pm.Data("x", random().normal(size=ROWS))
    return scale * (pm.Normal("a") + pm.Normal("b") * x)


def times():
    return pm.Data("time", random().exponential(5, ROWS))


# ---- yes and no ----


@models
def logistic_regression():
    pm.Bernoulli("seen", p=pm.math.sigmoid(predictor()), observed=binary())


@models
def logistic_regression_of_steep_slopes():
    pm.Bernoulli("seen", p=pm.math.sigmoid(predictor(40)), observed=binary())


@models
def logistic_regression_by_logits():
    pm.Bernoulli("seen", logit_p=predictor(40), observed=binary())


@models
def logistic_regression_of_booleans():
    pm.Bernoulli("seen", p=pm.math.sigmoid(predictor(40)), observed=binary("bool"))


@models
def logistic_regression_of_bytes():
    pm.Bernoulli("seen", p=pm.math.invlogit(predictor(40)), observed=binary("int8"))


@models
def crossentropy_by_hand():
    p, y = 1 / (1 + pt.exp(-predictor(40))), binary()
    pm.Potential("seen", (y * pt.log(p) + (1 - y) * pt.log(1 - p)).mean())


@models
def crossentropy_by_hand_with_weights():
    p, y = pm.math.sigmoid(predictor(40)), binary()
    weight = pm.Data("weight", random().integers(0, 4, ROWS))
    terms = weight * (y * pt.log(p) + (1 - y) * pt.log(1 - p))
    pm.Potential("seen", terms.sum() / weight.sum())


@models
def probit_regression():
    pm.Bernoulli("seen", p=pm.math.invprobit(predictor()), observed=binary())


@models
def complementary_log_log():
    p = 1 - pm.math.exp(-pm.math.exp(predictor()))
    pm.Bernoulli("seen", p=p, observed=binary())


@models
def learning_over_trials():
    trial = pm.Data("trial", np.arange(ROWS) * 50)
    p = pm.math.sigmoid(pm.Normal("a") + pm.Normal("b") * trial)
    pm.Bernoulli("seen", p=p, observed=binary())


@models
def item_response():
    person = pm.Data("person", np.arange(ROWS) % 6)
    item = pm.Data("item", np.arange(ROWS) // 6)
    ability, hard = pm.Normal("ability", shape=6), pm.Normal("hard", shape=4)
    slope = pm.LogNormal("slope", 0, 0.5, shape=4)
    pm.Bernoulli("seen", logit_p=slope[item] * (ability[person] - hard[item]), observed=binary())


@models
def players_who_win():
    winner = pm.Data("winner", random().integers(0, 5, ROWS))
    loser = pm.Data("loser", (random().integers(0, 5, ROWS) + 1) % 5)
    skill = pm.Normal("skill", 0, 10, shape=5)
    strength = pt.exp(skill)
    won = strength[winner] / (strength[winner] + strength[loser])
    pm.Potential("seen", pt.log(won).sum())


@models
def occupied_sites():
    """A site where nothing was seen is empty, or was missed on each visit."""
    seen = pm.Data("seen", random().binomial(5, 0.2, ROWS))
    occupied, found = pm.Beta("occupied", 2, 2), pm.math.invlogit(predictor())
    here = pt.log(occupied) + pm.logp(pm.Binomial.dist(5, found), seen)
    empty = pm.math.logaddexp(here, pt.log1p(-occupied))
    pm.Potential("density", pm.math.switch(seen > 0, here, empty).sum())


# ---- one of several ----


@models
def categories_by_softmax():
    logits = pm.Normal("w", shape=(3, KINDS))
    x = pm.Data("x", random().normal(size=(ROWS, 3)) * 20)
    pm.Categorical("seen", p=pm.math.softmax(pm.math.dot(x, logits), axis=-1), observed=kinds())


@models
def categories_by_logits():
    logits = pm.Normal("w", shape=(3, KINDS))
    x = pm.Data("x", random().normal(size=(ROWS, 3)) * 20)
    pm.Categorical("seen", logit_p=pm.math.dot(x, logits), observed=kinds())


@models
def softmax_by_hand():
    x = pm.Data("x", random().normal(size=(ROWS, 3)))
    power = pt.exp(pm.math.dot(x, pm.Normal("w", shape=(3, KINDS))))
    p = power / power.sum(axis=1, keepdims=True)
    pm.Potential("seen", pt.log(p)[pt.arange(ROWS), kinds()].sum())


@models
def multinomial_votes():
    votes = pm.Data("votes", random().multinomial(40, np.ones(KINDS) / KINDS, 5))
    p = pm.Dirichlet("p", np.ones(KINDS))
    pm.Multinomial("seen", n=votes.sum(axis=-1), p=p, observed=votes)


@models
def dirichlet_multinomial_votes():
    votes = pm.Data("votes", random().multinomial(40, np.ones(KINDS) / KINDS, 5))
    a = pm.Exponential("a", 1, shape=KINDS)
    pm.DirichletMultinomial("seen", n=40, a=a, observed=votes)


@models
def topics():
    word = pm.Data("word", random().integers(0, 6, ROWS))
    document = pm.Data("document", np.arange(ROWS) % 3)
    topic = pm.Dirichlet("topic", np.ones(2), shape=(3, 2))
    words = pm.Dirichlet("words", np.ones(6), shape=(2, 6))
    pm.Potential("seen", pt.log((topic[document] * words[:, word].T).sum(axis=1)).sum())


def cuts():
    return pm.Normal(
        "cuts",
        mu=np.linspace(-1, 1, KINDS - 1),
        transform=pm.distributions.transforms.ordered,
        shape=KINDS - 1,
        initval=np.linspace(-1, 1, KINDS - 1),
    )


@models
def ordered_logistic():
    pm.OrderedLogistic("seen", eta=predictor(), cutpoints=cuts(), observed=kinds())


@models
def ordered_probit():
    pm.OrderedProbit("seen", eta=predictor(), cutpoints=cuts(), observed=kinds())


@models
def ordered_multinomial():
    votes = pm.Data("votes", random().multinomial(40, np.ones(KINDS) / KINDS, 5))
    pm.OrderedMultinomial("seen", eta=pm.Normal("eta"), cutpoints=cuts(), n=40, observed=votes)


@models
def ranks_by_hand():
    below = pm.math.sigmoid(cuts()[None, :] - 5 * predictor()[:, None])
    ends = pt.zeros((ROWS, 1)), pt.ones((ROWS, 1))
    p = pt.diff(pt.concatenate([ends[0], below, ends[1]], axis=1), axis=1)
    pm.Categorical("seen", p=p, observed=kinds())


# ---- choices one after another ----


def values_of_actions(actions, rewards, rate):
    def step(action, reward, values, rate):
        return pt.set_subtensor(values[action], values[action] + rate * (reward - values[action]))

    rows = pytensor.scan(
        step,
        sequences=[actions, rewards],
        outputs_info=[pt.zeros(2, dtype="float64")],
        non_sequences=[rate],
        return_updates=False,
    )
    return pt.concatenate([pt.zeros((1, 2)), rows[:-1]])


@models
def reinforcement_learning():
    actions = pm.Data("actions", random().integers(0, 2, ROWS))
    rewards = binary()
    rate, beta = pm.Beta("rate", 1, 1), pm.HalfNormal("beta", 10)
    logits = beta * values_of_actions(actions, rewards, rate)
    chosen = logits - pt.logsumexp(logits, axis=1, keepdims=True)
    pm.Potential("seen", chosen[pt.arange(ROWS), actions].sum())


@models
def reinforcement_learning_by_bernoulli():
    actions = pm.Data("actions", random().integers(0, 2, ROWS))
    values = values_of_actions(actions, binary(), pm.Beta("rate", 1, 1))
    beta = pm.HalfNormal("beta", 10)
    p = pm.math.sigmoid(beta * (values[:, 1] - values[:, 0]))
    pm.Bernoulli("seen", p=p, observed=actions)


# ---- masks, what is missing, what is censored ----


@models
def masked_terms():
    mask = binary("bool")
    terms = pm.logp(pm.Normal.dist(predictor(), pm.HalfNormal("s")), times())
    pm.Potential("seen", (mask * terms).sum())


@models
def a_mean_over_a_mask():
    mask = binary("bool")
    terms = (times() - predictor()) ** 2
    pm.Potential("seen", -(mask * terms).sum() / mask.sum())


@models
def logarithms_of_counts_with_zeros():
    y = pm.Data("y", random().poisson(1, ROWS))
    s, b = pm.Normal("s"), pm.Normal("b")
    mean = pm.math.switch(y > 0, s * pt.log(y) + b, 0.0)
    pm.Normal("seen", mean, 1, observed=times())


@models
def ratios_of_counts_with_zeros():
    y, n = pm.Data("y", random().poisson(1, ROWS)), pm.Data("n", random().poisson(1, ROWS))
    mean = pm.math.switch(n > 0, pm.Normal("a") * y / n, 0)
    pm.Normal("seen", mean, pm.HalfNormal("s"), observed=times())


@models
def missing_values():
    values = random().normal(size=ROWS)
    values[::5] = np.nan
    with np.testing.suppress_warnings() as quiet:
        quiet.filter(pm.exceptions.ImputationWarning)
        pm.Normal("seen", predictor(), pm.HalfNormal("s"), observed=np.ma.masked_invalid(values))


@models
def censored_normal():
    pm.Censored(
        "seen",
        pm.Normal.dist(predictor(), pm.HalfNormal("s")),
        lower=None,
        upper=6.0,
        observed=pm.Data("time", np.minimum(random().exponential(5, ROWS), 6.0)),
    )


@models
def censored_counts():
    pm.Censored(
        "seen",
        pm.Poisson.dist(pm.math.exp(predictor())),
        lower=0,
        upper=4,
        observed=pm.Data("y", np.minimum(random().poisson(3, ROWS), 4)),
    )


@models
def truncated_normal():
    pm.TruncatedNormal(
        "seen", predictor(), pm.HalfNormal("s"), lower=0.0, upper=60.0, observed=times()
    )


@models
def truncated_counts():
    pm.Truncated(
        "seen",
        pm.Poisson.dist(pm.math.exp(predictor())),
        lower=1,
        observed=pm.Data("y", 1 + random().poisson(2, ROWS)),
    )


@models
def below_a_limit_of_detection():
    below = binary("bool")
    part = pm.Normal.dist(predictor(), pm.HalfNormal("s"))
    terms = pm.math.switch(below, pm.logcdf(part, times()), pm.logp(part, times_again()))
    pm.Potential("seen", terms.sum())


def times_again():
    return pm.Data("time_again", random().exponential(5, ROWS))


@models
def survival_with_constant_hazard():
    event, hazard = binary(), pm.math.exp(predictor())
    pm.Potential("seen", (event * pt.log(hazard) - hazard * times()).sum())


@models
def weibull_survival():
    event, t = binary(), times()
    shape, scale = pm.Gamma("shape", 2, 1), pm.math.exp(predictor())
    cumulated = (t / scale) ** shape
    hazard = pt.log(shape) - pt.log(scale) + (shape - 1) * pt.log(t / scale)
    pm.Potential("seen", (event * hazard - cumulated).sum())


@models
def log_logistic_survival():
    event, t = binary("bool"), times()
    z = (pt.log(t) - predictor()) / pm.HalfNormal("s")
    died = z - 2 * pt.log(1 + pt.exp(z))
    pm.Potential("seen", pm.math.switch(event, died, -pt.log(1 + pt.exp(z))).sum())


@models
def cox_regression_as_counts():
    deaths = pm.Data("deaths", random().integers(0, 2, (ROWS, 5)))
    exposure = pm.Data("exposure", random().integers(0, 4, (ROWS, 5)))
    base = pm.Gamma("base", 1, 1, shape=5)
    mean = exposure * pt.exp(predictor())[:, None] * base
    pm.Potential("seen", pm.logp(pm.Poisson.dist(mean + 1e-9), deaths).sum())
