"""Networks whose memory is measured, of any number of steps or rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from tests_scan_grad.timing.experiments import gatedrnn
from tests_scan_grad.timing.programs.compile_networks import translation
from tests_scan_grad.timing.programs.image_networks import lenet
from tests_scan_grad.timing.programs.networks import Network, Values, sgd
from tests_scan_grad.timing.programs.step_networks import (
    LSTM_BATCH,
    LSTM_WIDTH,
    language_model,
    lstm_cost,
    lstm_shapes,
    perceptron,
    two_lstm_layers,
)

ROWS_OF_A_SMALL_BATCH, STEPS_OF_A_SMALL_LOOP = 8, 2
GATED_BATCH, GATED_WIDTH = 80, 1000
LAYERS, LAYER_WIDTH = 6, 512
TRANSLATION_BATCH, TRANSLATION_WIDTH = 32, 256
# so many times shorter is a try
QUICK = 20


@dataclass(frozen=True)
class Measured:
    """A network whose memory is measured.

    Parameters
    ----------
    make
        Makes it for a number of steps, or of rows where it has no loop.
    length
        The number of steps or rows.
    has_loop
        Whether they are steps.
    kept
        The numbers that must be kept of each, until its gradient is computed; None if not counted.
    """

    make: Callable[[int], Network]
    length: int
    has_loop: bool = True
    kept: int | None = None

    @property
    def small(self) -> int:
        """The length of the calls after which memory is measured."""
        return STEPS_OF_A_SMALL_LOOP if self.has_loop else ROWS_OF_A_SMALL_BATCH

    def lengths(self, quick: bool) -> tuple[int, int]:
        """Return the small length and the whole one, or a try's."""
        tried = max(2 * self.small, self.length // QUICK)
        return self.small, tried if quick else self.length


def by_sgd(make: Callable[[int], Network]) -> Callable[[int], Network]:
    """Return a network's maker with the plain descent as its optimizer."""
    return lambda length: replace(make(length), train=sgd, kept={})


def lstm(batch: int, width: int, steps: int) -> Network:
    """An LSTM with its four gates side by side."""
    return Network(
        lstm_shapes(1, width),
        {"x": (steps, batch, width), "h0": (batch, width)},
        partial(lstm_cost, 1, width),
        sgd,
        {},
        deviation=width**-0.5,
    )


def gru_step(width: int, ops, x, h, W, U, V, b):
    """Return the next state of a GRU whose reset gate is before the product with V."""
    projected = ops.dot(x, W) + b
    gates = ops.sigmoid(projected[:, : 2 * width] + ops.dot(h, U))
    r, z = gates[:, :width], gates[:, width:]
    n = ops.tanh(projected[:, 2 * width :] + ops.dot(r * h, V))
    return [z * h + (1 - z) * n]


def tanh_step(ops, x, h, W, U, b):
    """Return the next state of a plain recurrent network."""
    return [ops.tanh(ops.dot(x, W) + ops.dot(h, U) + b)]


def gated_step(ops, *arguments):
    """Return the next state of `gatedrnn`."""
    return [gatedrnn.next_state(ops, *arguments)]


def states_cost(
    step: Callable, sequences: tuple[str, ...], ops, parameters: Values, inputs: Values
):
    """Return the squares of the states of a loop, as a mean over steps and rows."""
    (h,) = ops.scan(
        step,
        [inputs[name] for name in sequences],
        [inputs["h0"]],
        list(parameters.values()),
        name="loop",
    )
    return (ops.stack(h) ** 2).sum(axis=2).mean()


def recurrent(
    step: Callable,
    shapes: Mapping[str, tuple[int, ...]],
    batch: int,
    width: int,
    steps: int,
    sequences: tuple[str, ...] = ("x",),
) -> Network:
    """A network of one state."""
    inputs = {name: (steps, batch, width) for name in sequences}
    return Network(
        shapes,
        {**inputs, "h0": (batch, width)},
        partial(states_cost, step, sequences),
        sgd,
        {},
        deviation=width**-0.5,
    )


def gru(batch: int, width: int, steps: int) -> Network:
    """A GRU with its gates side by side."""
    shapes = {"W": (width, 3 * width), "U": (width, 2 * width), "V": (width, width)}
    return recurrent(partial(gru_step, width), {**shapes, "b": (3 * width,)}, batch, width, steps)


def tanh(batch: int, width: int, steps: int) -> Network:
    """A plain recurrent network."""
    shapes = {"W": (width, width), "U": (width, width), "b": (width,)}
    return recurrent(tanh_step, shapes, batch, width, steps)


def gated(steps: int) -> Network:
    """The gated network of `gatedrnn`, whose inputs are given as the gates read them."""
    cell = gatedrnn.CELL
    shapes = {name: (GATED_WIDTH, GATED_WIDTH) for name in cell.weights}
    return recurrent(gated_step, shapes, GATED_BATCH, GATED_WIDTH, steps, cell.sequences)


# An LSTM keeps four gates and two states, a gated unit three and one, tanh what it returns.
NETWORKS: Mapping[str, Measured] = {
    "lstm": Measured(partial(lstm, 64, 256), 1000, kept=6 * 64 * 256),
    "gru": Measured(partial(gru, 32, 512), 500, kept=4 * 32 * 512),
    "tanh": Measured(partial(tanh, 16, 128), 5000, kept=16 * 128),
    "perceptron": Measured(
        partial(perceptron, (LAYER_WIDTH,) * (LAYERS + 1)),
        8192,
        has_loop=False,
        kept=LAYERS * LAYER_WIDTH,
    ),
    "gated": Measured(gated, 50, kept=4 * GATED_BATCH * GATED_WIDTH),
    "lstm-2": Measured(by_sgd(two_lstm_layers), 100, kept=2 * 6 * LSTM_BATCH * LSTM_WIDTH),
    "translation": Measured(
        by_sgd(partial(translation, batch=TRANSLATION_BATCH, dim=TRANSLATION_WIDTH)), 50
    ),
    "language": Measured(language_model, 35),
    "lenet": Measured(lenet, 500, has_loop=False),
    "small": Measured(partial(lstm, 1, 64), 2000, kept=6 * 64),
}
