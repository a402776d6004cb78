"""Training steps whose compilation is timed, written once for every library.

A network is a table of parameters' shapes and a cost. Both take the operations of a library, so
that all libraries compile the same work. Sizes are small: what is timed is compilation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

STEPS, BATCH, DIM = 20, 4, 8
UNROLLED_STEPS = 100
LEARNING_RATE = 0.01

Values = dict[str, Any]


@dataclass(frozen=True)
class Network:
    """What is trained.

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
        Shapes of what the optimizer keeps beside the parameters.
    """

    shapes: Mapping[str, tuple[int, ...]]
    inputs: Mapping[str, tuple[int, ...]]
    cost: Callable[[Any, Values, Values], Any]
    train: Callable[[Any, Values, Values], Values]
    kept: Mapping[str, tuple[int, ...]]

    def initial(self) -> dict[str, np.ndarray]:
        """Return the first values of the parameters and of what the optimizer keeps."""
        random = np.random.default_rng(0)
        made = {
            name: (DIM**-0.5 * random.standard_normal(shape)).astype("float32")
            for name, shape in self.shapes.items()
        }
        return made | {name: np.zeros(shape, "float32") for name, shape in self.kept.items()}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return values of the inputs."""
        random = np.random.default_rng(1)
        return {
            name: random.standard_normal(shape).astype("float32")
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


def gated_shapes(prefix: str, width: int = DIM) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a gated unit's parameters, in the order of its step."""
    return {
        f"{prefix}_{kind}{gate}": {"W": (width, DIM), "U": (DIM, DIM), "b": (DIM,)}[kind]
        for gate in "rzn"
        for kind in "WUb"
    }


def named(parameters: Values, prefix: str) -> list[Any]:
    """Return the parameters whose names begin so, in order."""
    return [value for name, value in parameters.items() if name.startswith(f"{prefix}_")]


def gated_cost(ops, parameters: Values, inputs: Values):
    """Return the sum of a gated unit's last state."""
    (h,) = ops.scan(
        gated_step, [inputs["x"]], [inputs["h0"]], named(parameters, "gated"), name="gated"
    )
    return h[-1].sum()


def lstm_step(ops, x, h, c, W, U, b):
    """Return the next state and cell of an LSTM with its four gates side by side."""
    gates = ops.dot(x, W) + ops.dot(h, U) + b
    i, f, o, g = (gates[:, k * DIM : (k + 1) * DIM] for k in range(4))
    cell = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
    return [ops.sigmoid(o) * ops.tanh(cell), cell]


def stacked_lstm_cost(layers: int, ops, parameters: Values, inputs: Values):
    """Return the error of a stack of LSTMs, each a loop over the one below."""
    sequence = inputs["x"]
    for layer in range(layers):
        sequence, _ = ops.scan(
            lstm_step,
            [sequence],
            [inputs["h0"], inputs["h0"]],
            named(parameters, f"layer{layer}"),
            name=f"layer{layer}",
        )
    return ((sequence - inputs["target"]) ** 2).mean()


def attention_step(ops, s, h, annotations, projected, Wa, va, *weights):
    """Return the decoder's next state, from what it attends to in the annotations."""
    scores = ops.dot(ops.tanh(projected + ops.dot(h, Wa)), va)
    raised = ops.exp(scores - scores.max(axis=0))
    shares = raised / raised.sum(axis=0)
    context = (shares[:, :, None] * annotations).sum(axis=0)
    return gated_step(ops, ops.concatenate([s, context], 1), h, *weights)


def translation_cost(ops, parameters: Values, inputs: Values):
    """Return the error of an encoder of both directions and a decoder that attends to it."""
    source = ops.tanh(ops.dot(inputs["source"], parameters["in_W"]) + parameters["in_b"])
    states = {}
    for direction, order in (("ahead", 1), ("back", -1)):
        (h,) = ops.scan(
            gated_step,
            [source[::order]],
            [inputs["h0"]],
            named(parameters, direction),
            name=direction,
        )
        states[direction] = h[::order]
    annotations = ops.concatenate([states["ahead"], states["back"]], 2)
    projected = ops.dot(annotations, parameters["attend_U"]) + parameters["attend_b"]
    target = ops.tanh(ops.dot(inputs["target"], parameters["out_W"]) + parameters["out_b"])
    (decoded,) = ops.scan(
        attention_step,
        [target[:-1]],
        [ops.tanh(ops.dot(annotations.mean(axis=0), parameters["start_W"]))],
        [
            annotations,
            projected,
            parameters["attend_W"],
            parameters["attend_v"],
            *named(parameters, "decode"),
        ],
        name="decode",
    )
    said = ops.dot(ops.tanh(ops.dot(decoded, parameters["say_W"])), parameters["say_V"])
    return ((said + parameters["say_b"] - inputs["target"][1:]) ** 2).mean()


def unrolled_cost(ops, parameters: Values, inputs: Values):
    """Return the error of a recurrent network of so many steps, written out without a loop."""
    h = inputs["h0"]
    for step in range(UNROLLED_STEPS):
        h = ops.tanh(ops.dot(inputs["x"][step], parameters["W"]) + ops.dot(h, parameters["U"]))
    return (h**2).mean()


def perceptron_cost(layers: int, ops, parameters: Values, inputs: Values):
    """Return the mean negative log-likelihood of a perceptron of so many layers."""
    h = inputs["x"]
    for layer in range(layers):
        h = ops.dot(h, parameters[f"W{layer}"]) + parameters[f"b{layer}"]
        if layer + 1 < layers:
            h = ops.tanh(h)
    raised = ops.exp(h - h.max(axis=1)[:, None])
    logarithms = ops.log(raised / raised.sum(axis=1)[:, None])
    return -(inputs["target"] * logarithms).sum(axis=1).mean()


SEQUENCE, ROWS = (STEPS, BATCH, DIM), (BATCH, DIM)


def gated_rnn() -> Network:
    """A gated unit's gradients, as the step of a descent."""
    return Network(gated_shapes("gated"), {"x": SEQUENCE, "h0": ROWS}, gated_cost, sgd, {})


def stacked_lstm(layers: int) -> Network:
    """A stack of LSTMs."""
    shapes = {
        f"layer{layer}_{name}": shape
        for layer in range(layers)
        for name, shape in (("W", (DIM, 4 * DIM)), ("U", (DIM, 4 * DIM)), ("b", (4 * DIM,)))
    }
    inputs = {"x": SEQUENCE, "h0": ROWS, "target": SEQUENCE}
    return Network(shapes, inputs, partial(stacked_lstm_cost, layers), sgd, {})


def translation() -> Network:
    """An encoder of both directions, a decoder with attention, and Adam."""
    shapes = {
        **{"in_W": (DIM, DIM), "in_b": (DIM,), "out_W": (DIM, DIM), "out_b": (DIM,)},
        **gated_shapes("ahead"),
        **gated_shapes("back"),
        **{"attend_U": (2 * DIM, DIM), "attend_b": (DIM,)},
        **{"attend_W": (DIM, DIM), "attend_v": (DIM,), "start_W": (2 * DIM, DIM)},
        **gated_shapes("decode", 3 * DIM),
        **{"say_W": (DIM, DIM), "say_V": (DIM, DIM), "say_b": (DIM,)},
    }
    moments = {
        f"{kind}_{name}": shape for kind in ("mean", "square") for name, shape in shapes.items()
    }
    inputs = {"source": SEQUENCE, "target": SEQUENCE, "h0": ROWS}
    return Network(shapes, inputs, translation_cost, adam, {"count": (), **moments})


def unrolled() -> Network:
    """A recurrent network without a loop."""
    inputs = {"x": (UNROLLED_STEPS, BATCH, DIM), "h0": ROWS}
    return Network({"W": (DIM, DIM), "U": (DIM, DIM)}, inputs, unrolled_cost, sgd, {})


def perceptron(layers: int) -> Network:
    """A perceptron of so many layers."""
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in range(layers):
        shapes |= {f"W{layer}": (DIM, DIM), f"b{layer}": (DIM,)}
    inputs = {"x": ROWS, "target": ROWS}
    return Network(shapes, inputs, partial(perceptron_cost, layers), sgd, {})


NETWORKS: dict[str, Callable[[], Network]] = {
    "gated": gated_rnn,
    **{f"lstm-{layers}": partial(stacked_lstm, layers) for layers in (1, 2, 4, 8, 16)},
    "translation": translation,
    "unrolled": unrolled,
    "perceptron": partial(perceptron, 10),
}
