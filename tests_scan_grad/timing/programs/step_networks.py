"""Training steps of the sizes that people train, whose time is compared."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import partial

from tests_scan_grad.timing.programs.networks import Network, Values, adam, lstm_step, named, sgd

MNIST = (784, 500, 500, 10)
LSTM_BATCH, LSTM_STEPS, LSTM_WIDTH = 64, 100, 512
LANGUAGE_BATCH, LANGUAGE_STEPS, LANGUAGE_WIDTH, WORDS = 20, 35, 512, 10_000
TABLE, TEXTS, WORDS_OF_TEXT, CLASSES = (50_000, 200), 128, 10, 20
DECODER_BATCH, DECODER_STEPS, SOURCE, DECODER_WIDTH = 64, 30, 30, 256
DEVIATION = 0.05


def lstm_cost(layers: int, width: int, ops, parameters: Values, inputs: Values):
    """Return the error of LSTMs, each of which reads the states of the one below.

    Without a target it is what their states differ by from zero.
    """
    sequence = inputs["x"]
    for layer in range(layers):
        sequence, _ = ops.scan(
            partial(lstm_step, width),
            [sequence],
            [inputs["h0"], inputs["h0"]],
            named(parameters, f"layer{layer}"),
            name=f"layer{layer}",
        )
    sequence = ops.stack(sequence)
    error = sequence - inputs["target"] if "target" in inputs else sequence
    return (error**2).sum(axis=2).mean()


def lstm_shapes(layers: int, width: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the parameters of LSTMs, each above the other."""
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in range(layers):
        for name, shape in (("W", (width, 4 * width)), ("U", (width, 4 * width))):
            shapes[f"layer{layer}_{name}"] = shape
        shapes[f"layer{layer}_b"] = (4 * width,)
    return shapes


def two_lstm_layers(steps: int = LSTM_STEPS) -> Network:
    """Two LSTMs with Adam."""
    shapes = lstm_shapes(2, LSTM_WIDTH)
    sequence = (steps, LSTM_BATCH, LSTM_WIDTH)
    return Network(
        shapes,
        {"x": sequence, "h0": sequence[1:], "target": sequence},
        partial(lstm_cost, 2, LSTM_WIDTH),
        adam,
        moments(shapes),
        deviation=DEVIATION,
    )


def moments(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of what Adam keeps."""
    kept = {
        f"{kind}_{name}": shape for kind in ("mean", "square") for name, shape in shapes.items()
    }
    return {"count": (), **kept}


def layers_cost(layers: int, ops, parameters: Values, inputs: Values):
    """Return the cross entropy of a perceptron of so many layers."""
    h = inputs["x"]
    for layer in range(layers):
        h = ops.dot(h, parameters[f"W{layer}"]) + parameters[f"b{layer}"]
        if layer + 1 < layers:
            h = ops.tanh(h)
    return ops.cross_entropy(h, inputs["y"])


def perceptron(sizes: tuple[int, ...], batch: int) -> Network:
    """A perceptron; of two sizes, softmax regression."""
    shapes: dict[str, tuple[int, ...]] = {}
    for layer, (before, after) in enumerate(itertools.pairwise(sizes)):
        shapes |= {f"W{layer}": (before, after), f"b{layer}": (after,)}
    return Network(
        shapes,
        {"x": (batch, sizes[0]), "y": (batch,)},
        partial(layers_cost, len(sizes) - 1),
        sgd,
        {},
        integers={"y": sizes[-1]},
        deviation=DEVIATION,
    )


def text_cost(ops, parameters: Values, inputs: Values):
    """Return the cross entropy of texts by the means of their words' vectors."""
    means = parameters["table"].mean(axis=1)
    return ops.cross_entropy(ops.dot(means, parameters["W"]) + parameters["b"], inputs["y"])


def embedding() -> Network:
    """Texts that are distinguished by the vectors of their words, of a large table."""
    return Network(
        {"table": TABLE, "W": (TABLE[1], CLASSES), "b": (CLASSES,)},
        {"words": (TEXTS, WORDS_OF_TEXT), "y": (TEXTS,)},
        text_cost,
        sgd,
        {},
        integers={"words": TABLE[0], "y": CLASSES},
        by_rows={"table": "words"},
        deviation=DEVIATION,
    )


def late_reset_step(ops, projected, h, U, c):
    """Return the next state of a GRU whose reset gate follows the product, as torch.nn.GRU's does.

    The projection of the input and the product have the gates r, z and n side by side.
    """
    width = LANGUAGE_WIDTH
    product = ops.dot(h, U) + c
    r = ops.sigmoid(projected[:, :width] + product[:, :width])
    z = ops.sigmoid(projected[:, width : 2 * width] + product[:, width : 2 * width])
    n = ops.tanh(projected[:, 2 * width :] + r * product[:, 2 * width :])
    return [(1 - z) * n + z * h]


def language_cost(ops, parameters: Values, inputs: Values):
    """Return the cross entropy of each next word."""
    words = parameters["table"]
    projected = ops.dot(words, parameters["W"]) + parameters["b"]
    (h,) = ops.scan(
        late_reset_step,
        [projected],
        [inputs["h0"]],
        [parameters["U"], parameters["c"]],
        name="gru",
    )
    logits = ops.dot(h.reshape((-1, LANGUAGE_WIDTH)), parameters["say_W"]) + parameters["say_b"]
    return ops.cross_entropy(logits, inputs["next"].reshape((-1,)))


def language_model(steps: int = LANGUAGE_STEPS) -> Network:
    """A GRU that guesses the next of 10,000 words."""
    width, sequence = LANGUAGE_WIDTH, (steps, LANGUAGE_BATCH)
    return Network(
        {
            **{"table": (WORDS, width), "W": (width, 3 * width), "b": (3 * width,)},
            **{"U": (width, 3 * width), "c": (3 * width,)},
            **{"say_W": (width, WORDS), "say_b": (WORDS,)},
        },
        {"words": sequence, "h0": (LANGUAGE_BATCH, width), "next": sequence},
        language_cost,
        sgd,
        {},
        integers={"words": WORDS, "next": WORDS},
        by_rows={"table": "words"},
        deviation=DEVIATION,
    )


def decoder_step(ops, x, h, annotations, keys, Wa, va, W, U, b):
    """Return the next state of a plain recurrent decoder, from what it attends to."""
    scores = ops.dot(ops.tanh(keys + ops.dot(h, Wa)), va)
    raised = ops.exp(scores - scores.max(axis=0))
    shares = raised / raised.sum(axis=0)
    context = (shares[:, :, None] * annotations).sum(axis=0)
    return [ops.tanh(ops.dot(ops.concatenate([x, context], 1), W) + ops.dot(h, U) + b)]


def decoder_cost(ops, parameters: Values, inputs: Values):
    """Return the error of a decoder that attends to given annotations."""
    annotations = inputs["annotations"]
    (h,) = ops.scan(
        decoder_step,
        [inputs["x"]],
        [inputs["h0"]],
        [
            annotations,
            ops.dot(annotations, parameters["keys"]),
            parameters["attend_W"],
            parameters["attend_v"],
            *named(parameters, "decode"),
        ],
        name="decode",
    )
    return ((h - inputs["target"]) ** 2).sum(axis=2).mean()


def attention_decoder() -> Network:
    """A decoder with additive attention, with Adam."""
    width, sequence = DECODER_WIDTH, (DECODER_STEPS, DECODER_BATCH, DECODER_WIDTH)
    shapes: dict[str, tuple[int, ...]] = {
        **{"keys": (width, width), "attend_W": (width, width), "attend_v": (width,)},
        **{"decode_W": (2 * width, width), "decode_U": (width, width), "decode_b": (width,)},
    }
    return Network(
        shapes,
        {
            "annotations": (SOURCE, DECODER_BATCH, width),
            **{"x": sequence, "h0": sequence[1:], "target": sequence},
        },
        decoder_cost,
        adam,
        moments(shapes),
        deviation=DEVIATION,
    )


NETWORKS: dict[str, Callable[[], Network]] = {
    "lstm": two_lstm_layers,
    **{f"perceptron-{batch}": partial(perceptron, MNIST, batch) for batch in (20, 500, 5000)},
    "softmax-500": partial(perceptron, (784, 10), 500),
    "embedding": embedding,
    "language": language_model,
    "attention": attention_decoder,
}
