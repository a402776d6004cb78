"""Experiment: a gated recurrent network's gradient with respect to its three matrices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from . import peers_jax, peers_torch
from .experiment import Experiment, Problem, Sizes
from .graph_library import GraphLibrary, compiled, ours, plain_pytensor


def step(library, x, ri, zi, h, U, V, W):
    """Return the next state and the three activations it is made of."""
    r = library.sigmoid(ri + library.dot(h, U))
    z = library.sigmoid(zi + library.dot(h, V))
    n = library.tanh(x + library.dot(r * h, W))
    return z * n + (1 - z) * h, r, z, n


def next_state(library, *arguments):
    """Return the next state alone."""
    return step(library, *arguments)[0]


def forward(library: GraphLibrary, x, ri, zi, h0, U, V, W, all_outputs: bool):
    """Return the sequences h, r, z, n, or only h."""
    outputs, _ = library.scan(
        partial(step if all_outputs else next_state, library),
        sequences=[x, ri, zi],
        outputs_info=[h0, None, None, None] if all_outputs else [h0],
        non_sequences=[U, V, W],
        name="gated_rnn",
    )
    return outputs


def grad_of_h(library: GraphLibrary, x, ri, zi, h0, U, V, W):
    """Let the library derive a loop that returns h alone."""
    h = forward(library, x, ri, zi, h0, U, V, W, all_outputs=False)
    return library.grad(h[-1].sum(), [U, V, W])


def grad_of_all(library: GraphLibrary, x, ri, zi, h0, U, V, W):
    """Let the library derive a loop that returns h, r, z, n."""
    h, _, _, _ = forward(library, x, ri, zi, h0, U, V, W, all_outputs=True)
    return library.grad(h[-1].sum(), [U, V, W])


def by_hand(library: GraphLibrary, x, ri, zi, h0, U, V, W):
    """Write the backward loop; it returns cotangents, and the products follow it."""
    T = library.tensor
    h, r, z, n = forward(library, x, ri, zi, h0, U, V, W, all_outputs=True)
    previous = T.concatenate([h0[None], h[:-1]])

    def backward_step(h, r, z, n, dh, U, V, W):
        dn = dh * z * (1 - n * n)
        drh = dn.dot(W.T)
        dr = drh * h * r * (1 - r)
        dz = dh * (n - h) * z * (1 - z)
        return dh * (1 - z) + drh * r + dr.dot(U.T) + dz.dot(V.T), dr, dz, dn

    (_, dr, dz, dn), _ = library.scan(
        backward_step,
        sequences=[previous, r, z, n],
        outputs_info=[T.ones_like(h0), None, None, None],
        non_sequences=[U, V, W],
        go_backwards=True,
        name="gated_rnn_backward",
    )

    def rows(sequence):
        return sequence.reshape((-1, U.shape[0]))

    # The backward loop's outputs run from the last step to the first.
    before, gated = rows(previous[::-1]), rows((r * previous)[::-1])
    return [before.T.dot(rows(dr)), before.T.dot(rows(dz)), gated.T.dot(rows(dn))]


METHODS = {"grad(h)": grad_of_h, "by hand": by_hand, "grad(h,r,z,n)": grad_of_all}


def random_arrays(sizes: Sizes) -> dict[str, np.ndarray]:
    """Return the inputs, in the order in which the methods take them."""
    random = np.random.default_rng(0)
    sequence = (sizes.steps, sizes.batch, sizes.dim)

    def normal(*shape, scale=1.0):
        return (scale * random.standard_normal(shape)).astype(sizes.dtype)

    arrays = {name: normal(*sequence) for name in ("x", "ri", "zi")}
    arrays["h0"] = normal(sizes.batch, sizes.dim, scale=0.1)
    weights = {
        name: normal(sizes.dim, sizes.dim, scale=sizes.dim**-0.5) for name in ("U", "V", "W")
    }
    return arrays | weights


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield the one problem, at these sizes."""
    arrays = random_arrays(sizes)
    yield Problem(
        label="gradient of U, V, W",
        results=("dU", "dV", "dW"),
        methods={name: partial(compiled, ours(), build, arrays) for name, build in METHODS.items()},
        peers={
            "torch": partial(peers_torch.loop_gradient, next_state, arrays, 3),
            "jax": partial(peers_jax.loop_gradient, next_state, arrays, 3),
            "pytensor": partial(compiled, plain_pytensor(), grad_of_h, arrays),
        },
    )


EXPERIMENT = Experiment(
    name="gatedrnn",
    summary="gated recurrent network: gradient of the sum of the last state by U, V, W",
    sizes=Sizes(batch=80, steps=50, dim=1000),
    peers=("torch", "jax", "pytensor"),
    problems=problems,
)
