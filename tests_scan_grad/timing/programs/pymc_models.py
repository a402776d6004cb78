"""Models of PyMC whose densities are timed: with loops, with linear algebra, with neither."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt

DAYS = 1000


def garch() -> pm.Model:
    """Volatility of daily returns (Bollerslev 1986), 1,000 days."""
    returns = np.random.default_rng(0).standard_normal(DAYS)
    with pm.Model() as model:
        scale = pm.HalfNormal("scale")
        shocks, memory = (pm.Uniform(name, 0, 0.5) for name in ("shocks", "memory"))
        pm.GARCH11(
            "returns", omega=scale, alpha_1=shocks, beta_1=memory, initial_vol=1.0, observed=returns
        )
    return model


def autoregression() -> pm.Model:
    """An autoregression of order 2 over 1,000 days, as PyMC has it: without a loop."""
    seen = np.random.default_rng(1).standard_normal(DAYS).cumsum() / 10
    with pm.Model() as model:
        weights = pm.Normal("weights", 0, 0.5, shape=2)
        noise = pm.HalfNormal("noise")
        pm.AR("seen", weights, sigma=noise, init_dist=pm.Normal.dist(0, 10), observed=seen)
    return model


def _euler(step: Callable, starts: list[float], rates: list, steps: int) -> list:
    """The course of a system of differential equations, by Euler's method."""
    return pytensor.scan(
        step,
        outputs_info=[pt.constant(np.float64(start)) for start in starts],
        non_sequences=rates,
        n_steps=steps,
        return_updates=False,
    )


def epidemic() -> pm.Model:
    """Susceptible, infected, recovered: 200 days (Kermack and McKendrick 1927)."""
    days = 200
    cases = np.random.default_rng(2).poisson(20, days)
    with pm.Model() as model:
        spread = pm.LogNormal("spread", -1.0, 0.3)
        recovery = pm.LogNormal("recovery", -2.0, 0.3)

        def step(susceptible, infected, spread, recovery):
            new, gone = spread * susceptible * infected / 1000, recovery * infected
            return susceptible - new, infected + new - gone

        _, infected = _euler(step, [990, 10], [spread, recovery], days)
        pm.NegativeBinomial("cases", mu=pt.maximum(infected / 10, 1e-3), alpha=5, observed=cases)
    return model


def predators() -> pm.Model:
    """Lotka-Volterra by Euler's method, 1,000 steps, 4 rates, seen with log-normal noise."""
    steps = 1000
    seen = np.exp(np.random.default_rng(3).normal(0, 0.3, (2, steps)))
    with pm.Model() as model:
        rates = [pm.LogNormal(name, np.log(0.5), 0.2) for name in ("a", "b", "c", "d")]
        noise = pm.HalfNormal("noise")

        def step(prey, hunters, a, b, c, d):
            return (
                prey + 0.01 * (a * prey - b * prey * hunters),
                hunters + 0.01 * (d * prey * hunters - c * hunters),
            )

        for name, course, values in zip(
            ("prey", "hunters"), _euler(step, [1.0, 0.8], rates, steps), seen, strict=True
        ):
            pm.LogNormal(name, pt.log(pt.maximum(course, 1e-6)), noise, observed=values)
    return model


def _hidden_markov(states: int) -> pm.Model:
    """A hidden Markov model of 1,000 days by the forward algorithm, in logarithms."""
    seen = np.random.default_rng(4).normal(size=DAYS)
    with pm.Model() as model:
        moves = pm.Dirichlet("moves", np.ones((states, states)), shape=(states, states))
        means = pm.Normal("means", np.linspace(-1, 1, states), 0.3, shape=states)
        noise = pm.HalfNormal("noise", shape=states)
        densities = pm.logp(pm.Normal.dist(means, noise), seen[:, None])
        log_moves = pt.log(moves)

        def step(density, before, log_moves):
            return density + pt.logsumexp(before[:, None] + log_moves, axis=0)

        trace = pytensor.scan(
            step,
            sequences=[densities[1:]],
            outputs_info=[densities[0] - np.log(states)],
            non_sequences=[log_moves],
            return_updates=False,
        )
        pm.Potential("of the data", pt.logsumexp(trace[-1]))
    return model


def hidden_markov_two_lags() -> pm.Model:
    """A hidden Markov model whose state follows from the two before it: 3 states, 1,000 days."""
    states = 3
    seen = np.random.default_rng(5).normal(size=DAYS)
    with pm.Model() as model:
        moves = pm.Dirichlet("moves", np.ones((states,) * 3), shape=(states,) * 3)
        means = pm.Normal("means", np.linspace(-1, 1, states), 0.3, shape=states)
        densities = pm.logp(pm.Normal.dist(means, 1.0), seen[:, None])
        log_moves = pt.log(moves)

        def step(density, before, log_moves):
            # before: of the state two days ago and of yesterday's
            return density[None, :] + pt.logsumexp(before[:, :, None] + log_moves, axis=0)

        trace = pytensor.scan(
            step,
            sequences=[densities[2:]],
            outputs_info=[densities[0][:, None] + densities[1][None, :] - 2 * np.log(states)],
            non_sequences=[log_moves],
            return_updates=False,
        )
        pm.Potential("of the data", pt.logsumexp(trace[-1]))
    return model


def stochastic_volatility() -> pm.Model:
    """Returns whose logarithmic volatility is a random walk of 1,000 days: without a loop."""
    returns = np.random.default_rng(6).standard_t(5, DAYS)
    with pm.Model() as model:
        size = pm.Exponential("size", 50)
        walk = pm.GaussianRandomWalk("walk", sigma=size, init_dist=pm.Normal.dist(0, 1), shape=DAYS)
        freedom = pm.Exponential("freedom", 0.1)
        pm.StudentT("returns", nu=freedom, lam=pt.exp(-2 * walk), observed=returns)
    return model


def learner() -> pm.Model:
    """Reinforcement learning on a bandit of two arms, 500 trials (Rescorla and Wagner 1972)."""
    trials = 500
    random = np.random.default_rng(7)
    actions, rewards = random.integers(0, 2, trials), random.integers(0, 2, trials)
    with pm.Model() as model:
        rate = pm.Beta("rate", 1, 1)
        heat = pm.HalfNormal("heat", 10)

        def step(action, reward, values, rate):
            return pt.set_subtensor(
                values[action], values[action] + rate * (reward - values[action])
            )

        values = pytensor.scan(
            step,
            sequences=[pt.constant(actions), pt.constant(rewards.astype("float64"))],
            outputs_info=[pt.constant(np.array([0.5, 0.5]))],
            non_sequences=[rate],
            return_updates=False,
        )
        before = pt.concatenate([np.full((1, 2), 0.5), values[:-1]])
        chosen = pm.math.log_softmax(heat * before, axis=1)
        pm.Potential("of the choices", chosen[np.arange(trials), actions].sum())
    return model


def recurrent() -> pm.Model:
    """A recurrent network of 8 units with normal noise, 200 days of 4 inputs."""
    days, inputs, units = 200, 4, 8
    random = np.random.default_rng(8)
    x, seen = random.normal(size=(days, inputs)), random.normal(size=days)
    with pm.Model() as model:
        into = pm.Normal("into", 0, 0.5, shape=(inputs, units))
        within = pm.Normal("within", 0, 0.3, shape=(units, units))
        out = pm.Normal("out", 0, 0.5, shape=units)
        noise = pm.HalfNormal("noise")
        states = pytensor.scan(
            lambda entering, state, within: pt.tanh(entering + state @ within),
            sequences=[pt.dot(x, into)],
            outputs_info=[pt.zeros(units)],
            non_sequences=[within],
            return_updates=False,
        )
        pm.Normal("seen", states @ out, noise, observed=seen)
    return model


def kalman() -> pm.Model:
    """A Kalman filter of a level with a trend, 200 days (Durbin and Koopman 2012, chapter 4)."""
    days = 200
    seen = np.random.default_rng(9).normal(size=days).cumsum()
    forward = np.array([[1.0, 1.0], [0.0, 1.0]])
    with pm.Model() as model:
        noise = pm.HalfNormal("noise")
        drift = pm.HalfNormal("drift", shape=2)

        def step(value, mean, spread, noise, drift):
            mean = forward @ mean
            spread = forward @ spread @ forward.T + pt.diag(drift**2)
            variance = spread[0, 0] + noise**2
            error = value - mean[0]
            gain = spread[:, 0] / variance
            density = -0.5 * (pt.log(2 * np.pi * variance) + error**2 / variance)
            return mean + gain * error, spread - pt.outer(gain, spread[0]), density

        _, _, densities = pytensor.scan(
            step,
            sequences=[pt.constant(seen)],
            outputs_info=[pt.zeros(2), pt.eye(2) * 10.0, None],
            non_sequences=[noise, drift],
            return_updates=False,
        )
        pm.Potential("of the data", densities.sum())
    return model


def eight_schools() -> pm.Model:
    """Effects of coaching in eight schools (Rubin 1981)."""
    effects = np.array([28, 8, -3, 7, -1, 1, 18, 12.0])
    errors = np.array([15, 10, 16, 11, 9, 11, 10, 18.0])
    with pm.Model() as model:
        mean, spread = pm.Normal("mean", 0, 5), pm.HalfCauchy("spread", 5)
        school = pm.Normal("school", shape=8)
        pm.Normal("effect", mean + spread * school, errors, observed=effects)
    return model


def radon() -> pm.Model:
    """Radon in 919 houses of 85 counties: intercepts by county, a slope by floor."""
    random = np.random.default_rng(10)
    county, floor = random.integers(0, 85, 919), random.integers(0, 2, 919)
    seen = random.normal(1.3, 0.8, 919)
    with pm.Model() as model:
        mean, spread = pm.Normal("mean"), pm.HalfNormal("spread")
        intercepts = pm.Normal("intercepts", mean, spread, shape=85)
        slope, noise = pm.Normal("slope"), pm.HalfNormal("noise")
        pm.Normal("seen", intercepts[county] + slope * floor, noise, observed=seen)
    return model


def gaussian_process() -> pm.Model:
    """A Gaussian process over 50 places, its marginal likelihood."""
    places = np.linspace(0, 10, 50)[:, None]
    seen = np.sin(places[:, 0]) + np.random.default_rng(11).normal(0, 0.2, 50)
    with pm.Model() as model:
        length, height = pm.Gamma("length", 2, 1), pm.HalfNormal("height")
        noise = pm.HalfNormal("noise")
        process = pm.gp.Marginal(cov_func=height**2 * pm.gp.cov.ExpQuad(1, ls=length))
        process.marginal_likelihood("seen", X=places, y=seen, sigma=noise)
    return model


def correlated() -> pm.Model:
    """Normal vectors of 5 with an unknown covariance (Lewandowski, Kurowicka and Joe 2009)."""
    seen = np.random.default_rng(12).normal(size=(200, 5))
    with pm.Model() as model:
        factor, _, _ = pm.LKJCholeskyCov(
            "covariance", n=5, eta=2.0, sd_dist=pm.Exponential.dist(1.0), compute_corr=True
        )
        mean = pm.Normal("mean", shape=5)
        pm.MvNormal("seen", mean, chol=factor, observed=seen)
    return model


MODELS: Mapping[str, Callable[[], pm.Model]] = {
    "garch": garch,
    "ar-2": autoregression,
    "sir": epidemic,
    "lotka-volterra": predators,
    "markov-3": lambda: _hidden_markov(3),
    "markov-10": lambda: _hidden_markov(10),
    "markov-2-lags": hidden_markov_two_lags,
    "volatility": stochastic_volatility,
    "learner": learner,
    "rnn": recurrent,
    "kalman": kalman,
    "schools": eight_schools,
    "radon": radon,
    "gp": gaussian_process,
    "lkj": correlated,
}
