"""Training steps of recurrent networks, whose memory is predicted and measured.

Each cost reads the last states alone, so that how many steps are kept is the loops' own affair.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from theano.tensor.nnet import sigmoid

BATCH, WIDTH = 64, 128
LEARNING_RATE = 0.01


def lstm_step(x, h, c, W, U, b):
    """Return the next states of an LSTM."""
    n = WIDTH
    gates = x.dot(W) + h.dot(U) + b
    i, f, o = (sigmoid(gates[:, k * n : (k + 1) * n]) for k in range(3))
    c = f * c + i * T.tanh(gates[:, 3 * n :])
    return o * T.tanh(c), c


def gru_step(x, h, W, U, V):
    """Return the next state of a GRU."""
    n = WIDTH
    given, gates = x.dot(W), h.dot(U)
    z, r = (sigmoid(given[:, k * n : (k + 1) * n] + gates[:, k * n : (k + 1) * n]) for k in (0, 1))
    new = T.tanh(given[:, 2 * n :] + (r * h).dot(V))
    return z * h + (1 - z) * new


def tanh_step(x, h, W, U, b):
    """Return the next state of a plain network."""
    return T.tanh(x.dot(W) + h.dot(U) + b)


def gated_step(x, h, W, U):
    """Return the next state of a network of one gate."""
    z = sigmoid(h.dot(U))
    return z * h + (1 - z) * T.tanh(x + h.dot(W))


def two_layers_step(x, h1, h2, W1, U1, W2, U2):
    """Return the next states of two layers."""
    h1 = T.tanh(x.dot(W1) + h1.dot(U1))
    return h1, T.tanh(h1.dot(W2) + h2.dot(U2))


def _square(columns: int = 1) -> tuple[int, int]:
    return WIDTH, columns * WIDTH


# name -> the step, how many states it has, and the shapes of its parameters
NETS: dict[str, tuple[Callable, int, list[tuple[int, ...]]]] = {
    "lstm": (lstm_step, 2, [_square(4), _square(4), (4 * WIDTH,)]),
    "gru": (gru_step, 1, [_square(3), _square(2), _square()]),
    "tanh": (tanh_step, 1, [_square(), _square(), (WIDTH,)]),
    "gated": (gated_step, 1, [_square(), _square()]),
    "two layers": (two_layers_step, 2, [_square()] * 4),
}


def training(name: str, all_steps: bool = False, **options: Any) -> tuple[Any, list[Any]]:
    """Compile a training step of a network.

    Parameters
    ----------
    all_steps
        Whether the cost reads the states of all steps.
    options
        Of ``theano.function``.

    Returns
    -------
    function, parameters
        It takes the rows of all steps, returns the cost, and changes the parameters.
    """
    step, states, shapes = NETS[name]
    random = np.random.default_rng(0)
    parameters = [
        theano.shared((random.standard_normal(shape) * WIDTH**-0.5).astype("float32"), f"p{k}")
        for k, shape in enumerate(shapes)
    ]
    x = T.ftensor3("x")
    start = T.zeros((x.shape[1], WIDTH), "float32")
    traces, _ = theano.scan(
        step, sequences=x, outputs_info=[start] * states, non_sequences=parameters, name="net"
    )
    traces = traces if isinstance(traces, list) else [traces]
    cost = sum(((trace if all_steps else trace[-1]) ** 2).mean() for trace in traces)
    gradients = theano.grad(cost, parameters)
    updates = [
        (p, p - np.float32(LEARNING_RATE) * g) for p, g in zip(parameters, gradients, strict=True)
    ]
    return theano.function([x], cost, updates=updates, **options), parameters


def rows(steps: int) -> np.ndarray:
    """Return values of the input."""
    return np.random.default_rng(1).standard_normal((steps, BATCH, WIDTH)).astype("float32")
