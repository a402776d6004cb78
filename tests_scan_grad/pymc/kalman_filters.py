"""A Kalman filter's log likelihood and its gradient, by `grad` and by an adjoint written by hand.

``python -m tests_scan_grad.pymc.kalman_filters`` times the two in turn.
"""

from __future__ import annotations

import time

import numpy as np

import theano
import theano.tensor as T

PARAMETERS = ("transition", "loading", "factor", "noise")
LOG_TWO_PI = float(np.log(2 * np.pi))


def filtered(seen, transition, loading, factor, noise):
    """The log likelihood of each step (Durbin and Koopman 2012, chapter 4), and what led to it."""
    states = loading.shape[0]

    def step(value, mean, spread, transition, loading, added, noise):
        mean = transition.dot(mean)
        spread = transition.dot(spread).dot(transition.T) + added
        seen_with = spread.dot(loading)
        variance = loading.dot(seen_with) + noise**2
        error = value - loading.dot(mean)
        density = -0.5 * (LOG_TWO_PI + T.log(variance) + error**2 / variance)
        return (
            mean + seen_with * (error / variance),
            spread - T.outer(seen_with, seen_with) / variance,
            density,
            mean,
            seen_with,
            variance,
            error,
        )

    found, _ = theano.scan(
        step,
        sequences=seen,
        outputs_info=[T.zeros((states,)), T.eye(states) * 10.0, *[None] * 5],
        non_sequences=[transition, loading, factor.dot(factor.T), noise],
    )
    return found


def by_grad(seen, parameters):
    """The log likelihood and its gradient, which `grad` makes of the loop."""
    likelihood = filtered(seen, *parameters)[2].sum()
    return [likelihood, *theano.grad(likelihood, list(parameters))]


def by_hand(seen, parameters):
    """The same by the adjoint recursion; covariances and their adjoints are symmetric."""
    transition, loading, factor, noise = parameters
    means, spreads, densities, ahead, seen_with, variances, errors = filtered(seen, *parameters)
    states = loading.shape[0]
    before = (
        T.concatenate([T.zeros((1, states)), means[:-1]]),
        T.concatenate([T.eye(states)[None] * 10.0, spreads[:-1]]),
    )

    def step(mean_before, spread_before, mean_ahead, b, variance, error, *accumulated_and_fixed):
        of_mean, of_spread, of_transition, of_loading, of_added, of_variance = (
            accumulated_and_fixed[:6]
        )
        transition, loading = accumulated_and_fixed[6:]
        weight = error / variance
        spread_b = of_spread.dot(b)
        of_weight = of_mean.dot(b) - 0.5 * error
        of_error = of_weight / variance - 0.5 * weight
        of_this = (b.dot(spread_b) / variance - of_weight * weight - 0.5) / variance
        of_b = of_mean * weight - spread_b * (2 / variance)
        half = T.outer(0.5 * of_b, loading)
        of_ahead = of_mean - of_error * loading
        of_spread = of_spread + of_this * T.outer(loading, loading) + half + half.T
        back = of_spread.dot(transition)
        # the covariance ahead times of_b, by what it is made from, would be a product more
        spread_ahead = transition.dot(spread_before)
        return (
            transition.T.dot(of_ahead),
            transition.T.dot(back),
            of_transition + 2 * back.dot(spread_before) + T.outer(of_ahead, mean_before),
            of_loading
            + 2 * of_this * b
            + spread_ahead.dot(transition.T.dot(of_b))
            - of_error * mean_ahead,
            of_added + of_spread,
            of_variance + of_this,
            of_b,
        )

    zeros = [T.zeros_like(p) for p in (loading, transition, transition, loading, transition)]
    found, _ = theano.scan(
        step,
        sequences=[s[::-1] for s in (*before, ahead, seen_with, variances, errors)],
        outputs_info=[*zeros, T.zeros(()), None],
        non_sequences=[transition, loading],
    )
    *sums, of_b = found
    _, _, of_transition, of_loading, of_added, of_variance = (each[-1] for each in sums)
    added = factor.dot(factor.T)
    return [
        densities.sum(),
        of_transition,
        of_loading + added.dot(of_b.sum(axis=0)),
        2 * of_added.dot(factor),
        2 * noise * of_variance,
    ]


WAYS = {"by grad": by_grad, "by hand": by_hand}


def compiled(way, states, known=True, **options):
    """A function of the values seen and of the parameters, whose sizes are known or not."""
    size = states if known else None
    shapes = [(None,), (size, size), (size,), (size, size), ()]
    seen, *parameters = (
        T.TensorType("float64", shape=shape)(name)
        for name, shape in zip(("seen", *PARAMETERS), shapes, strict=True)
    )
    return theano.function(
        [seen, *parameters], WAYS[way](seen, parameters), mode="NATIVE", **options
    )


def values_of(states, steps=200):
    """Values seen, and parameters of a filter of so many states."""
    random = np.random.default_rng(states)
    transition = 0.9 * np.eye(states) + 0.1 * random.normal(size=(states, states))
    factor = 0.3 * np.tril(random.normal(size=(states, states))) + np.eye(states)
    return random.normal(size=steps).cumsum(), transition, random.normal(size=states), factor, 0.7


def main():
    """Print the least times of the two, measured in turn."""
    for known in (True, False):
        for states in (2, 3, 4):
            functions = {way: compiled(way, states, known) for way in WAYS}
            values = values_of(states)
            least = dict.fromkeys(WAYS, np.inf)
            for _ in range(3000):
                for way, function in functions.items():
                    start = time.perf_counter()
                    function(*values)
                    least[way] = min(least[way], time.perf_counter() - start)
            times = ", ".join(f"{way} {1e6 * seconds:.1f} µs" for way, seconds in least.items())
            print(f"{states} states, {'known' if known else 'any'} sizes: {times}")


if __name__ == "__main__":
    main()
