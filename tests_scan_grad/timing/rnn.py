"""Experiment: a plain recurrent network's gradient with respect to its matrix."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from . import peers_jax, peers_torch
from .experiment import Experiment, Problem, Sizes
from .graph_library import GraphLibrary, compiled, ours, plain_pytensor


def step(library, x, h, W):
    """Return the next state."""
    return library.tanh(x + library.dot(h, W))


def forward(library: GraphLibrary, x, h0, W):
    """Return the sequence of states."""
    h, _ = library.scan(
        partial(step, library),
        sequences=[x],
        outputs_info=[h0],
        non_sequences=[W],
        name="rnn",
    )
    return h


def grad_of_h(library: GraphLibrary, x, h0, W):
    """Let the library derive the loop."""
    return [library.grad(forward(library, x, h0, W)[-1].sum(), W)]


def by_hand(library: GraphLibrary, x, h0, W):
    """Write the backward loop; it returns cotangents, and the product follows it."""
    T = library.tensor
    h = forward(library, x, h0, W)

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


METHODS = {"grad(h)": grad_of_h, "by hand": by_hand}


def random_arrays(sizes: Sizes) -> dict[str, np.ndarray]:
    """Return the inputs, in the order in which the methods take them."""
    random = np.random.default_rng(0)
    arrays = {
        "x": random.standard_normal((sizes.steps, sizes.batch, sizes.dim)),
        "h0": 0.1 * random.standard_normal((sizes.batch, sizes.dim)),
        "W": sizes.dim**-0.5 * random.standard_normal((sizes.dim, sizes.dim)),
    }
    return {name: array.astype(sizes.dtype) for name, array in arrays.items()}


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield the one problem, at these sizes."""
    arrays = random_arrays(sizes)
    yield Problem(
        label="gradient of W",
        results=("dW",),
        methods={name: partial(compiled, ours(), build, arrays) for name, build in METHODS.items()},
        peers={
            "torch": partial(peers_torch.loop_gradient, step, arrays, 1),
            "jax": partial(peers_jax.loop_gradient, step, arrays, 1),
            "pytensor": partial(compiled, plain_pytensor(), grad_of_h, arrays),
        },
    )


EXPERIMENT = Experiment(
    name="rnn",
    summary="plain recurrent network: gradient of the sum of the last state by W",
    sizes=Sizes(batch=80, steps=50, dim=1000),
    peers=("torch", "jax", "pytensor"),
    problems=problems,
)
