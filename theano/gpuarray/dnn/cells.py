"""The recurrent cells of cuDNN: their gates, and one step of each.

A step takes the width of a gate; the sums of the gates over the input, with the input's biases;
the states; the matrices that multiply the state, joined; and the biases that go with them, joined.
"""

from collections.abc import Callable, Sequence
from typing import Any

import theano.tensor as T
from theano.support.data_classes import dataclass

__all__ = ["CELLS", "Cell"]

Step = Callable[..., Sequence[Any]]


@dataclass(frozen=True)
class Cell:
    """A kind of recurrent cell.

    Parameters
    ----------
    gates : tuple of str
        Names of the gates, in cuDNN's order.
    states : int
        How many states a cell carries: 1, or 2 for one with a memory.
    scaled_gate : str or None
        The gate whose state product, bias and all, another gate scales.
    step : callable
        One step: ``step(width, sums, *states, matrices, biases)``; returns the new states.
    """

    gates: tuple[str, ...]
    states: int
    scaled_gate: str | None
    step: Step


def _plain(activation: Callable) -> Step:
    def step(width, sums, h, matrices, biases):
        return [activation(sums + h.dot(matrices) + biases)]

    return step


def _lstm(width, sums, h, c, matrices, biases):
    i, f, new, o = _gates(sums + h.dot(matrices) + biases, width, 4)
    c = T.nnet.sigmoid(f) * c + T.nnet.sigmoid(i) * T.tanh(new)
    return [T.nnet.sigmoid(o) * T.tanh(c), c]


def _gru(width, sums, h, matrices, biases):
    from_input = _gates(sums, width, 3)
    from_state = _gates(h.dot(matrices) + biases, width, 3)
    r, z = (T.nnet.sigmoid(from_input[k] + from_state[k]) for k in range(2))
    new = T.tanh(from_input[2] + r * from_state[2])
    return [(1 - z) * new + z * h]


def _gates(joined: Any, width: int, count: int) -> list:
    return [joined[:, k * width : (k + 1) * width] for k in range(count)]


CELLS = {
    "rnn_relu": Cell(("h",), 1, None, _plain(T.nnet.relu)),
    "rnn_tanh": Cell(("h",), 1, None, _plain(T.tanh)),
    "lstm": Cell(("i", "f", "c", "o"), 2, None, _lstm),
    "gru": Cell(("r", "z", "n"), 1, "n", _gru),
}
