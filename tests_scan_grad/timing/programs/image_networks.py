"""Networks of images, and single layers of them, whose training steps are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tests_scan_grad.timing.programs.networks import Network, Values, sgd

CLASSES = 10
# channels and lengths of the blocks of a residual network
STAGES = ((64, 32), (128, 16), (256, 8), (512, 4))
RESIDUAL_BATCH = 32
# of the state of a convolutional LSTM
RECURRENT_CHANNELS = 32


def lenet_cost(ops, parameters: Values, inputs: Values):
    """Return the cross entropy of two layers of filters and pools, and two of a perceptron."""
    h = inputs["x"]
    for layer in range(2):
        filtered = ops.correlate(h, parameters[f"filters{layer}"])
        biases = parameters[f"bias{layer}"].reshape((1, -1, 1, 1))
        h = ops.tanh(ops.largest(filtered) + biases)
    h = h.reshape((h.shape[0], -1))
    h = ops.tanh(ops.dot(h, parameters["W0"]) + parameters["b0"])
    return ops.cross_entropy(ops.dot(h, parameters["W1"]) + parameters["b1"], inputs["y"])


def lenet(batch: int) -> Network:
    """LeNet as Theano's tutorial had it, on digits of 28 x 28."""
    return Network(
        {
            **{"filters0": (20, 1, 5, 5), "bias0": (20,)},
            **{"filters1": (50, 20, 5, 5), "bias1": (50,)},
            **{"W0": (800, 500), "b0": (500,), "W1": (500, CLASSES), "b1": (CLASSES,)},
        },
        {"x": (batch, 1, 28, 28), "y": (batch,)},
        lenet_cost,
        sgd,
        {},
        integers={"y": CLASSES},
        deviation=0.05,
    )


def residual_cost(ops, parameters: Values, inputs: Values):
    """Return the cross entropy of a stack of residual blocks, each of half the lengths before."""
    h = ops.relu(ops.correlate(inputs["x"], parameters["first"], pad=1))
    for stage, (_, length) in enumerate(STAGES):
        step = 1 if length == STAGES[0][1] else 2
        inner = ops.relu(ops.correlate(h, parameters[f"a{stage}"], pad=1, step=step))
        past = h if step == 1 else ops.correlate(h, parameters[f"past{stage}"], step=step)
        h = ops.relu(past + ops.correlate(inner, parameters[f"b{stage}"], pad=1))
    return ops.cross_entropy(ops.dot(h.mean((2, 3)), parameters["W"]), inputs["y"])


def residual() -> Network:
    """A stack of blocks of ResNet-18, one a stage, on images of 32 x 32."""
    shapes: dict[str, tuple[int, ...]] = {"first": (STAGES[0][0], 3, 3, 3)}
    before = STAGES[0][0]
    for stage, (channels, _) in enumerate(STAGES):
        shapes[f"a{stage}"] = (channels, before, 3, 3)
        shapes[f"b{stage}"] = (channels, channels, 3, 3)
        if stage:
            shapes[f"past{stage}"] = (channels, before, 1, 1)
        before = channels
    return Network(
        {**shapes, "W": (before, CLASSES)},
        {"x": (RESIDUAL_BATCH, 3, 32, 32), "y": (RESIDUAL_BATCH,)},
        residual_cost,
        sgd,
        {},
        integers={"y": CLASSES},
        deviation=0.02,
    )


def convolutional_lstm_step(ops, x, h, c, W, U, b):
    """Return the state after a step of an LSTM whose products are correlations."""
    gates = ops.correlate(x, W, pad=1) + ops.correlate(h, U, pad=1) + b.reshape((1, -1, 1, 1))
    many = RECURRENT_CHANNELS
    i, f, o, g = (gates[:, k * many : (k + 1) * many] for k in range(4))
    c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
    return [ops.sigmoid(o) * ops.tanh(c), c]


def convolutional_lstm_cost(ops, parameters: Values, inputs: Values):
    """Return the mean of the squares of the last state."""
    h, _ = ops.scan(
        convolutional_lstm_step,
        sequences=[inputs["x"]],
        states=[inputs["state"], inputs["state"]],
        weights=[parameters[name] for name in ("W", "U", "b")],
        name="convolutional_lstm",
    )
    return (h[-1] ** 2).mean()


def convolutional_lstm(batch: int, steps: int, channels: int, length: int) -> Network:
    """An LSTM of images: 3 x 3 filters of as many channels, to 32."""
    many = RECURRENT_CHANNELS
    return Network(
        {"W": (4 * many, channels, 3, 3), "U": (4 * many, many, 3, 3), "b": (4 * many,)},
        {
            "x": (steps, batch, channels, length, length),
            "state": (batch, many, length, length),
        },
        convolutional_lstm_cost,
        sgd,
        {},
        deviation=0.05,
    )


def layer_cost(options: Mapping[str, int], ops, parameters: Values, inputs: Values):
    """Return the mean of the squares of one layer's results."""
    result = ops.correlate(parameters["x"], parameters["filters"], **options)
    return (result**2).mean()


def layer(image: tuple[int, ...], filters: tuple[int, ...], **options: int) -> Network:
    """One layer of filters: both of its gradients are computed, and both operands learn."""
    return Network({"x": image, "filters": filters}, {}, partial(layer_cost, options), sgd, {})


def pool_cost(ops, parameters: Values, inputs: Values):
    """Return the mean of the squares of the largest of each 2 x 2."""
    return (ops.largest(parameters["x"]) ** 2).mean()


NETWORKS: Mapping[str, Callable[[], Network]] = {
    **{f"lenet-{batch}": partial(lenet, batch) for batch in (20, 100, 500)},
    "residual": residual,
    "convlstm": partial(convolutional_lstm, 16, 10, 16, 28),
    "convlstm-small": partial(convolutional_lstm, 4, 20, 8, 14),
    "3x3": partial(layer, (8, 64, 56, 56), (64, 64, 3, 3), pad=1),
    "1x1": partial(layer, (8, 256, 56, 56), (64, 256, 1, 1)),
    "depthwise": partial(layer, (8, 144, 56, 56), (144, 1, 3, 3), pad=1, groups=144),
    "solid": partial(layer, (4, 32, 16, 16, 16), (32, 32, 3, 3, 3), pad=1),
    "pool": lambda: Network({"x": (32, 64, 56, 56)}, {}, pool_cost, sgd, {}),
}
