"""Building blocks of networks, written once for every library.

A network is a table of parameters' shapes and a cost. Both take the operations of a library, so
that all libraries do the same work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LEARNING_RATE = 0.01

Values = dict[str, Any]


@dataclass(frozen=True)
class Network:
    """A network that is trained.

    Parameters
    ----------
    shapes
        Shape of each parameter, by name.
    inputs
        Shape of each input, by name.
    cost
        The cost, from a library's operations, the parameters and the inputs.
    train
        New values of all that is kept between calls, from the operations, the kept values, the
        parameters' names and the gradients.
    kept
        Shapes of what the optimizer keeps next to the parameters.
    integers
        Of inputs that are integers from 0, the number that they are below.
    by_rows
        Tables of which a step reads and changes some rows alone: the cost is given those that this
        input numbers.
    deviation
        Of the parameters' first values.
    """

    shapes: Mapping[str, tuple[int, ...]]
    inputs: Mapping[str, tuple[int, ...]]
    cost: Callable[[Any, Values, Values], Any]
    train: Callable[[Any, Values, Values], Values]
    kept: Mapping[str, tuple[int, ...]]
    integers: Mapping[str, int] = field(default_factory=dict)
    by_rows: Mapping[str, str] = field(default_factory=dict)
    deviation: float = 8**-0.5

    def dtype(self, name: str) -> str:
        """Return the type of an input."""
        return "int32" if name in self.integers else "float32"

    def initial(self) -> dict[str, np.ndarray]:
        """Return the first values of the parameters and of what the optimizer keeps."""
        random = np.random.default_rng(0)
        made = {
            name: (self.deviation * random.standard_normal(shape)).astype("float32")
            for name, shape in self.shapes.items()
        }
        return made | {name: np.zeros(shape, "float32") for name, shape in self.kept.items()}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return values of the inputs."""
        random = np.random.default_rng(1)
        return {
            name: random.integers(0, self.integers[name], shape, self.dtype(name))
            if name in self.integers
            else random.standard_normal(shape).astype("float32")
            for name, shape in self.inputs.items()
        }


def sgd(ops, kept: Values, gradients: Values) -> Values:
    """Return the parameters after a step against the gradient."""
    return {name: kept[name] - LEARNING_RATE * slope for name, slope in gradients.items()}


def adam(ops, kept: Values, gradients: Values) -> Values:
    """Return the parameters, their moments and the number of steps after a step of Adam."""
    count = kept["count"] + 1
    made = {"count": count}
    rate = LEARNING_RATE * ops.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    for name, slope in gradients.items():
        mean = 0.9 * kept[f"mean_{name}"] + 0.1 * slope
        square = 0.999 * kept[f"square_{name}"] + 0.001 * slope * slope
        made[f"mean_{name}"], made[f"square_{name}"] = mean, square
        made[name] = kept[name] - rate * mean / (ops.sqrt(square) + 1e-8)
    return made


def gated_step(ops, x, h, *weights):
    """Return the next state of a gated unit; weights are W, U, b of its three gates."""
    (Wr, Ur, br), (Wz, Uz, bz), (Wn, Un, bn) = weights[0:3], weights[3:6], weights[6:9]
    r = ops.sigmoid(ops.dot(x, Wr) + ops.dot(h, Ur) + br)
    z = ops.sigmoid(ops.dot(x, Wz) + ops.dot(h, Uz) + bz)
    n = ops.tanh(ops.dot(x, Wn) + ops.dot(r * h, Un) + bn)
    return [z * n + (1 - z) * h]


def lstm_step(width: int, ops, x, h, c, W, U, b):
    """Return the next state and cell of an LSTM with its four gates side by side."""
    gates = ops.dot(x, W) + ops.dot(h, U) + b
    i, f, o, g = (gates[:, k * width : (k + 1) * width] for k in range(4))
    cell = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
    return [ops.sigmoid(o) * ops.tanh(cell), cell]


def named(parameters: Values, prefix: str) -> list[Any]:
    """Return the parameters whose names begin so, in order."""
    return [value for name, value in parameters.items() if name.startswith(f"{prefix}_")]
