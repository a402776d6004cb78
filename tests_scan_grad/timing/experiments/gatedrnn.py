"""Experiment: a gated recurrent network's gradient with respect to its three matrices."""

from __future__ import annotations

from functools import partial

from tests_scan_grad.timing.programs import recurrent
from tests_scan_grad.timing.programs.graph_library import GraphLibrary


def step(library, x, ri, zi, h, U, V, W):
    """Return the next state and the three activations it is made from."""
    r = library.sigmoid(ri + library.dot(h, U))
    z = library.sigmoid(zi + library.dot(h, V))
    n = library.tanh(x + library.dot(r * h, W))
    return z * n + (1 - z) * h, r, z, n


def next_state(library, *arguments):
    """Return the next state alone."""
    return step(library, *arguments)[0]


CELL = recurrent.Cell("gated_rnn", next_state, sequences=("x", "ri", "zi"), weights=("U", "V", "W"))


def forward_of_all(library: GraphLibrary, x, ri, zi, h0, U, V, W):
    """Return the sequences h, r, z, n."""
    outputs, _ = library.scan(
        partial(step, library),
        sequences=[x, ri, zi],
        outputs_info=[h0, None, None, None],
        non_sequences=[U, V, W],
        name=CELL.name,
    )
    return outputs


def grad_of_all(library: GraphLibrary, *arguments):
    """Let the library derive a loop that returns h, r, z, n."""
    h, _, _, _ = forward_of_all(library, *arguments)
    return library.grad(h[-1].sum(), CELL.split(arguments)[2])


def by_hand(library: GraphLibrary, x, ri, zi, h0, U, V, W):
    """Write the backward loop; it returns cotangents, and the products follow it."""
    T = library.tensor
    h, r, z, n = forward_of_all(library, x, ri, zi, h0, U, V, W)
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


METHODS = {
    "grad(h)": partial(recurrent.grad_of_h, CELL),
    "by hand": by_hand,
    "grad(h,r,z,n)": grad_of_all,
}

EXPERIMENT = recurrent.experiment(CELL, METHODS, "gatedrnn", "gated recurrent network")
