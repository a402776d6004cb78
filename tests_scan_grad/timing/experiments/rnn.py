"""Experiment: a plain recurrent network's gradient with respect to its matrix."""

from __future__ import annotations

from functools import partial

from tests_scan_grad.timing.programs import recurrent
from tests_scan_grad.timing.programs.graph_library import GraphLibrary


def step(library, x, h, W):
    """Return the next state."""
    return library.tanh(x + library.dot(h, W))


CELL = recurrent.Cell("rnn", step, sequences=("x",), weights=("W",))


def by_hand(library: GraphLibrary, x, h0, W):
    """Write the backward loop; it returns cotangents, and the product follows it."""
    T = library.tensor
    h = recurrent.states(CELL, library, x, h0, W)

    def backward_step(h, dh, W):
        before_tanh = dh * (1 - h * h)
        return before_tanh.dot(W.T), before_tanh

    (_, cotangents), _ = library.scan(
        backward_step,
        sequences=[h],
        outputs_info=[T.ones_like(h0), None],
        non_sequences=[W],
        go_backwards=True,
        name="rnn_backward",
    )
    previous = T.concatenate([h0[None], h[:-1]])[::-1]
    size = W.shape[0]
    return [previous.reshape((-1, size)).T.dot(cotangents.reshape((-1, size)))]


METHODS = {"grad(h)": partial(recurrent.grad_of_h, CELL), "by hand": by_hand}

EXPERIMENT = recurrent.experiment(CELL, METHODS, "rnn", "plain recurrent network")
