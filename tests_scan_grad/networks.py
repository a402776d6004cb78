"""Networks whose loops the tests look at: each a function of ``scan`` and of the symbols.

A builder returns a `Network`, and takes the function that makes loops, so that the same network
can be built with Theano's ``scan`` and with PyTensor's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import theano.tensor as T
from theano.scan_module import until

STEPS, BATCH, DIM = 4, 3, 5


@dataclass(frozen=True)
class Network:
    """A cost, its inputs, what to differentiate it by, and values for the inputs."""

    inputs: list
    cost: object
    weights: list
    values: list[np.ndarray]


def array(*shape: int, seed: int) -> np.ndarray:
    """Reproducible values of a standard deviation that keeps activations away from 0 and 1."""
    return 0.5 * np.random.default_rng(seed).standard_normal(shape)


def network(inputs, cost, weights, shapes) -> Network:
    """A network with values of the given shapes for its inputs."""
    values = [array(*shape, seed=k) for k, shape in enumerate(shapes)]
    return Network(list(inputs), cost, list(weights), values)


SEQUENCE, STATE, SQUARE, VECTOR = (STEPS, BATCH, DIM), (BATCH, DIM), (DIM, DIM), (DIM,)


def gated_rnn(scan: Callable, returned: Sequence[str] = ("h",), h0=None) -> Network:
    """The gated network of the experiment ``gatedrnn``; ``returned`` says what its step returns.

    ``h0`` is the initial state, an input of the network unless it is given.
    """
    x, ri, zi = T.tensor3("x"), T.tensor3("ri"), T.tensor3("zi")
    U, V, W = T.matrix("U"), T.matrix("V"), T.matrix("W")
    start = T.matrix("h0") if h0 is None else h0

    def step(x, ri, zi, h, U, V, W):
        r = T.nnet.sigmoid(ri + h.dot(U))
        z = T.nnet.sigmoid(zi + h.dot(V))
        n = T.tanh(x + (r * h).dot(W))
        values = {"h": z * n + (1 - z) * h, "r": r, "z": z, "n": n}
        return [values[name] for name in returned]

    outputs = scan(
        step,
        sequences=[x, ri, zi],
        outputs_info=[start if name == "h" else None for name in returned],
        non_sequences=[U, V, W],
        return_list=True,
    )
    inputs, shapes = [x, ri, zi, U, V, W], [SEQUENCE] * 3 + [SQUARE] * 3
    if h0 is None:
        inputs, shapes = [start, *inputs], [STATE, *shapes]
    return network(inputs, outputs[0][-1].sum(), [U, V, W], shapes)


def lstm(scan: Callable, peepholes: bool = False) -> Network:
    """An LSTM with its four gates in one product."""
    x, h0, c0, W = T.tensor3("x"), T.matrix("h0"), T.matrix("c0"), T.matrix("W")
    b, p = T.vector("b"), T.matrix("p")

    def step(x, h, c, W, b, p=None):
        gates = x + h.dot(W) + b
        i, f, o, g = (gates[:, k * DIM : (k + 1) * DIM] for k in range(4))
        if peepholes:
            i, f = i + c * p[0], f + c * p[1]
        c = T.nnet.sigmoid(f) * c + T.nnet.sigmoid(i) * T.tanh(g)
        if peepholes:
            o = o + c * p[2]
        return T.nnet.sigmoid(o) * T.tanh(c), c

    weights = [W, b, p] if peepholes else [W, b]
    h, _ = scan(step, sequences=[x], outputs_info=[h0, c0], non_sequences=weights)
    shapes = [(STEPS, BATCH, 4 * DIM), STATE, STATE, (DIM, 4 * DIM), (4 * DIM,), (3, DIM)]
    inputs = [x, h0, c0, *weights]
    return network(inputs, (h**2).sum(), weights, shapes[: len(inputs)])


def convolutional_lstm(scan: Callable) -> Network:
    """An LSTM whose products are convolutions of images, and whose gates are channels of them."""
    h0, c0, W, U = (T.tensor4(name) for name in ("h0", "c0", "W", "U"))
    x, b = T.tensor5("x"), T.vector("b")
    channels, filters, length = 2, 3, 5

    def step(x, h, c, W, U, b):
        gates = T.nnet.conv2d(x, W, border_mode="half") + T.nnet.conv2d(h, U, border_mode="half")
        gates = gates + b.dimshuffle("x", 0, "x", "x")
        i, f, o, g = (gates[:, k * filters : (k + 1) * filters] for k in range(4))
        c = T.nnet.sigmoid(f) * c + T.nnet.sigmoid(i) * T.tanh(g)
        return T.nnet.sigmoid(o) * T.tanh(c), c

    h, _ = scan(step, sequences=[x], outputs_info=[h0, c0], non_sequences=[W, U, b])
    state = (BATCH, filters, length, length)
    shapes = [
        (STEPS, BATCH, channels, length, length),
        *(state, state),
        *((4 * filters, channels, 3, 3), (4 * filters, filters, 3, 3), (4 * filters,)),
    ]
    return network([x, h0, c0, W, U, b], (h**2).sum(), [W, U, b], shapes)


PRODUCTS = {
    "method": lambda a, b: a.dot(b),
    "operator": lambda a, b: a @ b,
    "function": lambda a, b: T.dot(a, b),
}


def plain_rnn(scan: Callable, product: str = "method", vectors: bool = False) -> Network:
    """``h' = tanh(x + h.W + b)``, on matrices or on vectors."""
    x = T.matrix("x") if vectors else T.tensor3("x")
    h0 = T.vector("h0") if vectors else T.matrix("h0")
    W, b = T.matrix("W"), T.vector("b")
    h = scan(
        lambda x, h, W, b: T.tanh(x + PRODUCTS[product](h, W) + b),
        sequences=[x],
        outputs_info=[h0],
        non_sequences=[W, b],
    )
    shapes = [(STEPS, DIM), VECTOR] if vectors else [SEQUENCE, STATE]
    return network([x, h0, W, b], (h**2).sum(), [W, b], [*shapes, SQUARE, VECTOR])


def weight_used_twice(scan: Callable) -> Network:
    """One weight in two places of the step, once transposed."""
    x, h0, W = T.tensor3("x"), T.matrix("h0"), T.matrix("W")
    h = scan(
        lambda x, h, W: T.tanh(x + T.tanh(h.dot(W)).dot(W.T)),
        sequences=[x],
        outputs_info=[h0],
        non_sequences=[W],
    )
    return network([x, h0, W], h[-1].sum(), [W], [SEQUENCE, STATE, SQUARE])


def bidirectional(scan: Callable) -> Network:
    """Two networks, one of which reads its sequence from the end."""
    x, h0 = T.tensor3("x"), T.matrix("h0")
    W, V, b = T.matrix("W"), T.matrix("V"), T.vector("b")

    def step(x, h, W, b):
        return T.tanh(x + h.dot(W) + b)

    forward = scan(step, sequences=[x], outputs_info=[h0], non_sequences=[W, b])
    backward = scan(step, sequences=[x], outputs_info=[h0], non_sequences=[V, b], go_backwards=True)
    cost = (forward * backward[::-1]).sum()
    return network([x, h0, W, V, b], cost, [W, V, b], [SEQUENCE, STATE, SQUARE, SQUARE, VECTOR])


def stacked(scan: Callable, layers: int = 3) -> Network:
    """Layers whose sequences are the states of the layer below, projected in the step."""
    x, h0 = T.tensor3("x"), T.matrix("h0")
    weights = [T.matrix(f"{name}{k}") for k in range(layers) for name in "UW"]
    biases = [T.vector(f"b{k}") for k in range(layers)]
    below = x
    for k in range(layers):
        below = scan(
            lambda x, h, U, W, b: T.tanh(x.dot(U) + h.dot(W) + b),
            sequences=[below],
            outputs_info=[h0],
            non_sequences=[*weights[2 * k : 2 * k + 2], biases[k]],
        )
    parameters = [*weights, *biases]
    shapes = [SEQUENCE, STATE] + [SQUARE] * len(weights) + [VECTOR] * layers
    return network([x, h0, *parameters], (below**2).sum(), parameters, shapes)


def attention(scan: Callable) -> Network:
    """A decoder that looks at all states of an encoder in every step."""
    source, x, h0 = T.tensor3("source"), T.tensor3("x"), T.matrix("h0")
    W, A, C, v = T.matrix("W"), T.matrix("A"), T.matrix("C"), T.vector("v")

    def step(x, h, source, W, A, C, v):
        scores = T.tanh(source + h.dot(A)).dot(v)
        weights = T.nnet.softmax(scores.T).T
        context = (weights[:, :, None] * source).sum(axis=0)
        return T.tanh(x + h.dot(W) + context.dot(C))

    h = scan(step, sequences=[x], outputs_info=[h0], non_sequences=[source, W, A, C, v])
    return network(
        [source, x, h0, W, A, C, v],
        (h**2).sum(),
        [W, A, C, v],
        [(6, BATCH, DIM), SEQUENCE, STATE, SQUARE, SQUARE, SQUARE, VECTOR],
    )


def tied_weights(scan: Callable) -> Network:
    """An embedding that is the output layer too, both in the step."""
    indices, h0 = T.lmatrix("indices"), T.matrix("h0")
    E, W = T.matrix("E"), T.matrix("W")

    def step(index, h, E, W):
        h = T.tanh(E[index] + h.dot(W))
        return h, T.nnet.softmax(h.dot(E.T))

    _, p = scan(step, sequences=[indices], outputs_info=[h0, None], non_sequences=[E, W])
    built = network([indices, h0, E, W], -T.log(p[:, :, 0]).sum(), [E, W], [])
    values = [
        np.random.default_rng(0).integers(0, 7, (STEPS, BATCH)),
        array(*STATE, seed=1),
        array(7, DIM, seed=2),
        array(*SQUARE, seed=3),
    ]
    return Network(built.inputs, built.cost, built.weights, values)


def stacked_lstm(scan: Callable) -> Network:
    """Two LSTMs in one step, the upper one reading the state of the lower one."""
    x, h0, c0 = T.tensor3("x"), T.matrix("h0"), T.matrix("c0")
    W, U, V, b = T.matrix("W"), T.matrix("U"), T.matrix("V"), T.vector("b")

    def cell(gates, c):
        i, f, o, g = (gates[:, k * DIM : (k + 1) * DIM] for k in range(4))
        c = T.nnet.sigmoid(f) * c + T.nnet.sigmoid(i) * T.tanh(g)
        return T.nnet.sigmoid(o) * T.tanh(c), c

    def step(x, h1, c1, h2, c2, W, U, V, b):
        h1, c1 = cell(x + h1.dot(W), c1)
        h2, c2 = cell(h1.dot(U) + h2.dot(V) + b, c2)
        return h1, c1, h2, c2

    outputs = scan(step, sequences=[x], outputs_info=[h0, c0, h0, c0], non_sequences=[W, U, V, b])
    wide, gates = (DIM, 4 * DIM), (STEPS, BATCH, 4 * DIM)
    return network(
        [x, h0, c0, W, U, V, b],
        (outputs[2] ** 2).sum(),
        [W, U, V, b],
        [gates, STATE, STATE, wide, wide, wide, (4 * DIM,)],
    )


def encoder_decoder(scan: Callable) -> Network:
    """An encoder whose last state a decoder starts from, with an output layer in its step."""
    source, x, h0 = T.tensor3("source"), T.tensor3("x"), T.matrix("h0")
    W, U, V = T.matrix("W"), T.matrix("U"), T.matrix("V")
    encoded = scan(
        lambda x, h, W: T.tanh(x + h.dot(W)),
        sequences=[source],
        outputs_info=[h0],
        non_sequences=[W],
    )

    def decode(x, h, U, V):
        h = T.tanh(x + h.dot(U))
        return h, T.nnet.softmax(h.dot(V))

    _, p = scan(decode, sequences=[x], outputs_info=[encoded[-1], None], non_sequences=[U, V])
    return network(
        [source, x, h0, W, U, V],
        -T.log(p[:, :, 0]).sum(),
        [W, U, V],
        [(6, BATCH, DIM), SEQUENCE, STATE, SQUARE, SQUARE, SQUARE],
    )


def nested(scan: Callable) -> Network:
    """A step that runs a loop of its own over the rows of its element."""
    x, h0, W, v = T.tensor3("x"), T.vector("h0"), T.matrix("W"), T.vector("v")

    def step(rows, h, W, v):
        inner = scan(
            lambda row, g, W: T.tanh(row + g.dot(W)),
            sequences=[rows],
            outputs_info=[h],
            non_sequences=[W],
        )
        return inner[-1] * v

    h = scan(step, sequences=[x], outputs_info=[h0], non_sequences=[W, v])
    return network([x, h0, W, v], (h**2).sum(), [W, v], [SEQUENCE, VECTOR, SQUARE, VECTOR])


def stopping(scan: Callable) -> Network:
    """A network that stops when its state is large."""
    x, h0, W = T.tensor3("x"), T.matrix("h0"), T.matrix("W")

    def step(x, h, W):
        h = T.tanh(x + h.dot(W))
        return h, until((h**2).sum() > 100)

    h = scan(step, sequences=[x], outputs_info=[h0], non_sequences=[W])
    return network([x, h0, W], (h**2).sum(), [W], [SEQUENCE, STATE, SQUARE])


def truncated(scan: Callable) -> Network:
    """A network whose gradient goes two steps back."""
    x, h0, W = T.tensor3("x"), T.matrix("h0"), T.matrix("W")
    h = scan(
        lambda x, h, W: T.tanh(x + h.dot(W)),
        sequences=[x],
        outputs_info=[h0],
        non_sequences=[W],
        truncate_gradient=2,
    )
    return network([x, h0, W], (h**2).sum(), [W], [SEQUENCE, STATE, SQUARE])


def taps(scan: Callable) -> Network:
    """A state that is read one and three steps later, and a sequence at two places."""
    x, h0, W, V = T.tensor3("x"), T.tensor3("h0"), T.matrix("W"), T.matrix("V")
    h = scan(
        lambda now, before, older, newer, W, V: T.tanh(now * before + newer.dot(W) + older.dot(V)),
        sequences=[{"input": x, "taps": [0, -1]}],
        outputs_info=[{"initial": h0, "taps": [-3, -1]}],
        non_sequences=[W, V],
    )
    return network([x, h0, W, V], h[-1].sum(), [W, V], [SEQUENCE, (3, *STATE), SQUARE, SQUARE])


def runge_kutta(scan: Callable) -> Network:
    """A differential equation, a step of the classical method of fourth order at a time."""
    y0, A, dt = T.vector("y0"), T.matrix("A"), T.scalar("dt")

    def step(y, A, dt):
        def slope(y):
            return T.tanh(A.dot(y))

        k1 = slope(y)
        k2 = slope(y + dt / 2 * k1)
        k3 = slope(y + dt / 2 * k2)
        k4 = slope(y + dt * k3)
        return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    y = scan(step, outputs_info=[y0], non_sequences=[A, dt], n_steps=STEPS)
    return network([y0, A, dt], (y[-1] ** 2).sum(), [A, dt], [VECTOR, SQUARE, ()])
