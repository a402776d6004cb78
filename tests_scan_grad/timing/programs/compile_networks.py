"""Training steps whose compilation is timed: many kinds, of small sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests_scan_grad.timing.programs.networks import (
    Network,
    Values,
    adam,
    gated_step,
    lstm_step,
    named,
    sgd,
)

STEPS, BATCH, DIM = 20, 4, 8
UNROLLED_STEPS = 100


def gated_shapes(
    prefix: str, width: int | None = None, dim: int = DIM
) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a gated unit's parameters, in the order of its step.

    It reads rows of `width`, by default those of its state.
    """
    sizes = {"W": (width or dim, dim), "U": (dim, dim), "b": (dim,)}
    return {f"{prefix}_{kind}{gate}": sizes[kind] for gate in "rzn" for kind in "WUb"}


def gated_cost(ops, parameters: Values, inputs: Values):
    """Return the sum of a gated unit's last state."""
    (h,) = ops.scan(
        gated_step, [inputs["x"]], [inputs["h0"]], named(parameters, "gated"), name="gated"
    )
    return h[-1].sum()


def stacked_lstm_cost(layers: int, ops, parameters: Values, inputs: Values):
    """Return the error of a stack of LSTMs, each a loop over the one below."""
    sequence = inputs["x"]
    for layer in range(layers):
        sequence, _ = ops.scan(
            partial(lstm_step, DIM),
            [sequence],
            [inputs["h0"], inputs["h0"]],
            named(parameters, f"layer{layer}"),
            name=f"layer{layer}",
        )
    return ((sequence - inputs["target"]) ** 2).mean()


def attention_step(ops, s, h, annotations, projected, Wa, va, *weights):
    """Return the decoder's next state, from what it attends to in the annotations."""
    scores = ops.dot(ops.tanh(projected + ops.dot(h, Wa)), va)
    raised = ops.exp(scores - ops.greatest(scores))
    shares = raised / raised.sum(axis=0)
    context = (shares[:, :, None] * annotations).sum(axis=0)
    return gated_step(ops, ops.concatenate([s, context], 1), h, *weights)


def translation_cost(ops, parameters: Values, inputs: Values):
    """Return the error of an encoder of both directions and a decoder that attends to it."""
    source = ops.tanh(ops.dot(inputs["source"], parameters["in_W"]) + parameters["in_b"])
    states = {}
    for direction, turned in (("ahead", lambda rows: rows), ("back", ops.reverse)):
        (h,) = ops.scan(
            gated_step,
            [turned(source)],
            [inputs["h0"]],
            named(parameters, direction),
            name=direction,
        )
        states[direction] = turned(ops.stack(h))
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
    decoded = ops.stack(decoded)
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


def translation(steps: int = STEPS, batch: int = BATCH, dim: int = DIM) -> Network:
    """An encoder of both directions, a decoder with attention, and Adam."""
    shapes = {
        **{"in_W": (dim, dim), "in_b": (dim,), "out_W": (dim, dim), "out_b": (dim,)},
        **gated_shapes("ahead", dim=dim),
        **gated_shapes("back", dim=dim),
        **{"attend_U": (2 * dim, dim), "attend_b": (dim,)},
        **{"attend_W": (dim, dim), "attend_v": (dim,), "start_W": (2 * dim, dim)},
        **gated_shapes("decode", 3 * dim, dim),
        **{"say_W": (dim, dim), "say_V": (dim, dim), "say_b": (dim,)},
    }
    moments = {
        f"{kind}_{name}": shape for kind in ("mean", "square") for name, shape in shapes.items()
    }
    sequence = (steps, batch, dim)
    inputs = {"source": sequence, "target": sequence, "h0": sequence[1:]}
    return Network(
        shapes, inputs, translation_cost, adam, {"count": (), **moments}, deviation=dim**-0.5
    )


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
