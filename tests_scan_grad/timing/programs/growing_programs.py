"""Training steps in sizes that double: what shows whether compilation grows like the graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests_scan_grad.timing.programs.compile_networks import BATCH, DIM
from tests_scan_grad.timing.programs.networks import Network, Values, adam, lstm_step, named, sgd

WIDTH = 32
LOOP_STEPS = 100


def residual_cost(layers: int, ops, parameters: Values, inputs: Values):
    """Return the error of a perceptron whose layers each add to what they are given."""
    h = inputs["x"]
    for layer in range(layers):
        h = h + ops.tanh(ops.dot(h, parameters[f"W{layer}"]) + parameters[f"b{layer}"])
    return ((h - inputs["target"]) ** 2).mean()


def residual(layers: int) -> Network:
    """A perceptron of so many layers with residuals, and Adam."""
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in range(layers):
        shapes |= {f"W{layer}": (WIDTH, WIDTH), f"b{layer}": (WIDTH,)}
    moments = {
        f"{kind}_{name}": shape for kind in ("mean", "square") for name, shape in shapes.items()
    }
    rows = (BATCH, WIDTH)
    return Network(
        shapes,
        {"x": rows, "target": rows},
        partial(residual_cost, layers),
        adam,
        {"count": (), **moments},
        deviation=0.1 * WIDTH**-0.5,
    )


def equations_step(ops, dt, *values):
    """Return each value a time dt later: it follows its neighbours at a rate of its own."""
    *states, rates = values
    following = [*states[1:], states[0]]
    return [
        state + dt * rates[k] * (ops.tanh(after) * before - state)
        for k, (before, state, after) in enumerate(
            zip([states[-1], *states[:-1]], states, following, strict=True)
        )
    ]


def equations_cost(count: int, ops, parameters: Values, inputs: Values):
    """Return the sum of the squares of the last values of a system of equations."""
    starts = [parameters["start"][k] for k in range(count)]
    values = ops.scan(
        equations_step, [inputs["dt"]], starts, [parameters["rates"]], name="equations"
    )
    return sum(value[-1] ** 2 for value in values)


def equations(count: int) -> Network:
    """A system of so many equations, whose values are single numbers."""
    return Network(
        {"start": (count,), "rates": (count,)},
        {"dt": (LOOP_STEPS,)},
        partial(equations_cost, count),
        sgd,
        {},
    )


def sequences_step(ops, *values):
    """Return a number after what each sequence has done to it."""
    *slices, h, rate = values
    for value in slices:
        h = ops.tanh(rate * h + value)
    return [h]


def sequences_cost(count: int, ops, parameters: Values, inputs: Values):
    """Return the square of the last value of a loop that reads so many sequences."""
    (h,) = ops.scan(
        sequences_step,
        [parameters[f"x{k}"] for k in range(count)],
        [parameters["start"]],
        [parameters["rate"]],
        name="sequences",
    )
    return h[-1] ** 2 * inputs["scale"]


def sequences(count: int) -> Network:
    """One loop that reads so many sequences, which are changed too."""
    shapes: dict[str, tuple[int, ...]] = {f"x{k}": (LOOP_STEPS,) for k in range(count)}
    return Network(
        {**shapes, "start": (), "rate": ()},
        {"scale": ()},
        partial(sequences_cost, count),
        sgd,
        {},
    )


def chain_cost(length: int, ops, parameters: Values, inputs: Values):
    """Return the sum of what so many hyperbolic tangents make of an array."""
    h = inputs["x"] * parameters["W"]
    for _ in range(length):
        h = ops.tanh(h)
    return h.sum()


def chain(length: int) -> Network:
    """A chain of element-wise operations."""
    return Network({"W": (DIM,)}, {"x": (DIM,)}, partial(chain_cost, length), sgd, {})


def unrolled_lstm_cost(steps: int, ops, parameters: Values, inputs: Values):
    """Return the mean square of the last state of an LSTM, written out without a loop."""
    h, cell = inputs["h0"], inputs["h0"]
    weights = named(parameters, "lstm")
    for step in range(steps):
        h, cell = lstm_step(DIM, ops, inputs["x"][step], h, cell, *weights)
    return (h**2).mean()


def unrolled_lstm(steps: int) -> Network:
    """An LSTM of so many steps without a loop."""
    return Network(
        {"lstm_W": (DIM, 4 * DIM), "lstm_U": (DIM, 4 * DIM), "lstm_b": (4 * DIM,)},
        {"x": (steps, BATCH, DIM), "h0": (BATCH, DIM)},
        partial(unrolled_lstm_cost, steps),
        sgd,
        {},
    )


FAMILIES: dict[str, tuple[Callable[[int], Network], tuple[int, ...]]] = {
    "residual": (residual, (40, 80, 160)),
    "equations": (equations, (20, 40, 80)),
    "sequences": (sequences, (20, 40, 80)),
    "tanh": (chain, (200, 400, 800)),
    "lstm-steps": (unrolled_lstm, (25, 50, 100)),
}

GROWING: dict[str, Callable[[], Network]] = {
    f"{family}-{size}": partial(made, size)
    for family, (made, sizes) in FAMILIES.items()
    for size in sizes
}
