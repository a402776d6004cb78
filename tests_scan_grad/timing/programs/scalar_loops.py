"""Loops whose states are single numbers: a likelihood and an epidemic, in float64."""

from __future__ import annotations

import numpy as np

from tests_scan_grad.timing.programs.differentiable_loop import DifferentiableLoop

# What a loop of numbers must not be slower than, and Numba's mode 50 times.
GOALS = {"jax": 1.0, "numba": 1 / 50}


def log_likelihood(library, seen, x, sigma):
    """Return the log-likelihood of values seen around x with normal errors, but a constant."""
    scaled = (seen - x) / sigma
    return -0.5 * (scaled * scaled).sum() - seen.shape[0] * library.log(sigma)


def ar2_in_graph(library, noise, seen, start, a, b, sigma):
    """Build the likelihood of a series that follows its two values before."""
    x, _ = library.scan(
        lambda noise, before, last, a, b: a * last + b * before + noise,
        sequences=[noise],
        outputs_info=[{"initial": start, "taps": [-2, -1]}],
        non_sequences=[a, b],
        name="ar2",
    )
    return log_likelihood(library, seen, x, sigma)


def ar2_carried(scan, library, noise, seen, start, a, b, sigma):
    """Compute the same with both values carried."""

    def body(values, slices):
        before, last = values
        (noise,) = slices
        value = a * last + b * before + noise
        return (last, value), value

    _, x = scan(body, (start[0], start[1]), (noise,))
    return log_likelihood(library, seen, x, sigma)


def ar2(steps: int) -> DifferentiableLoop:
    """Return the likelihood of an autoregressive series of order 2."""
    random = np.random.default_rng(0)
    arrays = {
        "noise": random.standard_normal(steps),
        "seen": random.standard_normal(steps),
        "start": random.standard_normal(2),
        "a": np.asarray(0.6),
        "b": np.asarray(-0.2),
        "sigma": np.asarray(1.5),
    }
    return DifferentiableLoop(
        label="AR(2) log-likelihood",
        dtype="float64",
        arrays=arrays,
        parameters=("a", "b", "sigma"),
        graph_cost=ar2_in_graph,
        carried_cost=ar2_carried,
        steps=steps,
        goals=GOALS,
    )


def euler_step(dt, S, I, R, beta, gamma):  # noqa: E741
    """Return susceptible, infected and recovered shares a time dt later."""
    infected, recovered = dt * beta * S * I, dt * gamma * I
    return S - infected, I + infected - recovered, R + recovered


def sir_in_graph(library, dt, seen, S, I, R, beta, gamma):  # noqa: E741
    """Build the squared error of an epidemic's infected and recovered shares."""
    (_, infected, recovered), _ = library.scan(
        euler_step,
        sequences=[dt],
        outputs_info=[S, I, R],
        non_sequences=[beta, gamma],
        name="sir",
    )
    return squared_error(seen, infected + recovered)


def sir_carried(scan, library, dt, seen, S, I, R, beta, gamma):  # noqa: E741
    """Compute the same with the three shares carried."""

    def body(shares, slices):
        after = euler_step(*slices, *shares, beta, gamma)
        return after, after[1] + after[2]

    _, ever = scan(body, (S, I, R), (dt,))
    return squared_error(seen, ever)


def squared_error(seen, found):
    """Return the sum of the squared differences."""
    difference = found - seen
    return (difference * difference).sum()


def sir(steps: int) -> DifferentiableLoop:
    """Return the fit of an epidemic over 100 days, in so many Euler steps."""
    random = np.random.default_rng(0)
    arrays = {
        "dt": np.full(steps, 100 / steps),
        "seen": random.uniform(size=steps),
        "S": np.asarray(0.99),
        "I": np.asarray(0.01),
        "R": np.asarray(0.0),
        "beta": np.asarray(0.4),
        "gamma": np.asarray(0.1),
    }
    return DifferentiableLoop(
        label="SIR Euler step",
        dtype="float64",
        arrays=arrays,
        parameters=("beta", "gamma"),
        graph_cost=sir_in_graph,
        carried_cost=sir_carried,
        steps=steps,
        goals=GOALS,
    )
