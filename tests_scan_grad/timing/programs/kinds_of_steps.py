"""Kinds of steps of loops, each written once for every library; see `kind_libraries.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Shape = tuple[int, ...]

# a few numbers, as in a model of a series; a batch of rows, as in a network
SMALL, LARGE = (16,), (64, 256)


@dataclass(frozen=True)
class Kind:
    """A kind of step.

    Attributes
    ----------
    step
        Takes a library, a row of the sequence, the parameter, and each state; returns the states.
    states
        How many there are.
    small, large
        Shapes of a state.
    row, parameter
        Make of a state's shape that of a row of the sequence, and that of the parameter.
    places
        Whether the sequence has places along the last axis, and no numbers.
    """

    step: Callable[..., Any]
    states: int = 1
    small: Shape = SMALL
    large: Shape = LARGE
    row: Callable[[Shape], Shape] = lambda shape: shape
    parameter: Callable[[Shape], Shape] = lambda shape: shape[-1:]
    places: bool = False

    def arrays(self, shape: Shape, steps: int, dtype: str) -> dict[str, np.ndarray]:
        """Return the arguments of a loop, the same in every process."""
        random = np.random.default_rng(0)
        x = random.uniform(-1, 1, (steps, *self.row(shape)))
        if self.places:
            x = random.integers(0, shape[-1], (steps, *self.row(shape)))
        parameter = self.parameter(shape)
        a = random.uniform(0.2, 0.8, parameter)
        if len(parameter) == 2:
            a = random.standard_normal(parameter) / parameter[0] ** 0.5
        states = {f"h{k}": random.uniform(-1, 1, shape) for k in range(self.states)}
        arrays = {
            "x": x,
            "a": a,
            "weights": random.uniform(-1, 1, shape),
            **states,
        }
        return {
            name: one if one.dtype.kind == "i" else one.astype(dtype)
            for name, one in arrays.items()
        }


def square(shape: Shape) -> Shape:
    """Return the shape of a matrix from the last axis to itself."""
    return (shape[-1], shape[-1])


def last_axis(shape: Shape) -> Shape:
    """Return the shape of the last axis."""
    return shape[-1:]


def _pairs(f, x, a, h):
    u, v = h[..., ::2], h[..., 1::2]
    turned = f.concatenate([0.8 * u - 0.6 * v, 0.6 * u + 0.8 * v], -1)
    return turned * a + x


def _interleaved(f, x, a, h):
    u, v = h[..., : f.n // 2], h[..., f.n // 2 :]
    mixed = f.stack([0.8 * u - 0.6 * v, 0.6 * u + 0.8 * v], -1)
    return mixed.reshape((*f.leading, f.n)) * a + x


def _stencil(f, x, a, h):
    inner = h[..., 1:-1] + 0.2 * (h[..., 2:] - 2 * h[..., 1:-1] + h[..., :-2])
    return a * f.concatenate([h[..., :1], inner, h[..., -1:]], -1) + x


def _stencil_in_place(f, x, a, h):
    inner = 0.2 * (h[..., 2:] - 2 * h[..., 1:-1] + h[..., :-2])
    return a * f.add_to(h, (Ellipsis, slice(1, -1)), inner) + x


def _rows_stencil(f, x, a, h):
    inner = h[1:-1] + 0.2 * (h[2:] - 2 * h[1:-1] + h[:-2])
    return a * f.concatenate([h[:1], inner, h[-1:]], 0) + x


def _normalized(f, x, a, h, axis=-1):
    z = h * a + x
    centred = z - f.mean(z, axis)
    return centred / f.sqrt(f.mean(centred * centred, axis) + 1e-5)


def _softmax_by_hand(f, x, a, h, axis):
    z = 3 * (h * a) + x
    raised = f.exp(z - f.max(z, axis))
    return raised / f.sum(raised, axis)


def _forward(f, x, a, h):
    z = h[:, None] + a
    largest = z.max(0)
    return f.log(f.exp(z - largest).sum(0)) + largest + x


def _forward_in_rows(f, x, a, h):
    z = h[None, :] + a
    return f.log(f.exp(z - f.max(z, 1)).sum(1)) + z.max(1) + x


def _forward_of_probabilities(f, x, a, h):
    p = f.dot(h * h + 0.1, f.exp(a)) * f.exp(x)
    return p / p.sum()


def _coupled(f, x, a, h):
    return h * 0.9 + 0.1 * (a * f.sin(h[None, :] - h[:, None])).mean(1) + 0.1 * x


def _fast_weights(f, x, a, h):
    return 0.9 * h + 0.1 * f.tanh(f.dot(h, x))[:, None] * (a * x)[None, :]


def _garch(f, x, a, h, seen):
    variance = 0.1 + a * 0.5 * seen * seen + 0.4 * f.abs(h)
    return variance, x * f.sqrt(variance)


def _sir(f, x, a, s, i, r):
    infected, recovered = 0.01 * a * (1 + x) * s * i, 0.01 * i
    return s - infected, i + infected - recovered, r + recovered


def _kalman(f, x, a, m, v, p, q, r):
    # a place and a speed, seen with errors: the covariance is p, q; q, r
    m, v = m + 0.1 * v, 0.95 * v
    p, q, r = p * p + 0.1 * q + 0.1, 0.5 * q + 0.1 * r, r * r * 0.25 + 0.1
    gain, other = p / (p + a), q / (p + a)
    error = x - m
    return m + gain * error, v + other * error, (1 - gain) * p, (1 - gain) * q, r - other * q


def _lstm(f, x, a, h, c):
    n = f.n
    z = f.dot(h, a) + x
    i, o, u, g = (z[..., k * n : (k + 1) * n] for k in range(4))
    c = f.sigmoid(g) * c + f.sigmoid(i) * f.tanh(u)
    return f.sigmoid(o) * f.tanh(c), c


def _gru(f, x, a, h):
    n = f.n
    z = f.dot(h, a)
    reset, update = (f.sigmoid(z[..., k * n : (k + 1) * n] + x) for k in range(2))
    new = f.tanh(x + reset * z[..., 2 * n :])
    return update * h + (1 - update) * new


def _attention(f, x, a, h):
    # the memory is the parameter, a row for each place
    weights = f.softmax(f.dot(h + x, a.T), -1)
    return f.tanh(f.dot(weights, a)) + 0.1 * h


def _runge_kutta(f, x, a, u, v):
    # a stiff spring that is pushed, by the midpoints of steps
    def slopes(u, v):
        return v, x - u - u * u * u - a * v

    du, dv = slopes(u, v)
    du, dv = slopes(u + 0.025 * du, v + 0.025 * dv)
    return u + 0.05 * du, v + 0.05 * dv


def _adam(f, x, a, w, m, v):
    gradient = a * w + x
    m, v = 0.9 * m + 0.1 * gradient, 0.99 * f.abs(v) + 0.01 * gradient * gradient
    return w - 0.01 * m / (f.sqrt(v) + 1e-4), m, v


ELEMENTS = {
    "arithmetic": Kind(lambda f, x, a, h: a * h + x),
    "polynomial": Kind(lambda f, x, a, h: (0.1 * h - 0.5) * h * h + a + 0.1 * x),
    "tanh": Kind(lambda f, x, a, h: f.tanh(a * h + x)),
    "sigmoid": Kind(lambda f, x, a, h: f.sigmoid(a * h + x)),
    "exp": Kind(lambda f, x, a, h: a * f.exp(-h * h) + x),
    "log1p": Kind(lambda f, x, a, h: a * f.log1p(h * h) + x),
    "sin": Kind(lambda f, x, a, h: f.sin(a * h + x)),
    "arctan": Kind(lambda f, x, a, h: f.arctan(a * h + x)),
    "erf": Kind(lambda f, x, a, h: f.erf(a * h + x)),
    "softplus": Kind(lambda f, x, a, h: f.softplus(a * h + x) - 0.5),
    "quotient": Kind(lambda f, x, a, h: (a + x) / (1 + h * h)),
    "square root": Kind(lambda f, x, a, h: a * f.sqrt(h * h + x * x + 0.1)),
    "power": Kind(lambda f, x, a, h: (h * h + 0.5) ** a * 0.7 + 0.1 * x),
    "switch": Kind(lambda f, x, a, h: f.where(h > 0, a * h, x - h * x)),
    "clip": Kind(lambda f, x, a, h: f.clip(a * h + 2 * x)),
    "maximum": Kind(lambda f, x, a, h: f.maximum(a * h, x)),
    "floor": Kind(lambda f, x, a, h: 0.5 * h + a * f.floor(4 * x)),
    "remainder": Kind(lambda f, x, a, h: (h + x) % 1 * a),
    "AR(2)": Kind(lambda f, x, a, h, g: (a * h - 0.2 * g + x, h), states=2),
    "GARCH": Kind(_garch, states=2),
    "SIR": Kind(_sir, states=3),
    "Kalman filter": Kind(_kalman, states=5),
    "Runge-Kutta": Kind(_runge_kutta, states=2),
    "Adam": Kind(_adam, states=3),
}
POSITIONS = {
    "reversed": Kind(lambda f, x, a, h: 0.9 * h[..., ::-1] + a * x),
    "tanh of reversed": Kind(lambda f, x, a, h: f.tanh(a * h[..., ::-1] + x)),
    "tanh of reversed rows": Kind(lambda f, x, a, h: f.tanh(a * h[::-1] + x)),
    "roll": Kind(lambda f, x, a, h: a * f.roll(h, 1, -1) + x),
    "roll of rows": Kind(lambda f, x, a, h: a * f.roll(h, 1, 0) + x),
    "halves": Kind(
        lambda f, x, a, h: (
            f.concatenate([f.tanh(h[..., f.n // 2 :]), 0.9 * h[..., : f.n // 2]], -1) * a + x
        )
    ),
    "even and odd": Kind(_pairs),
    "interleaved": Kind(_interleaved),
    "delay": Kind(lambda f, x, a, h: f.concatenate([x[..., :1], a[1:] * h[..., :-1]], -1)),
    "stencil": Kind(_stencil),
    "stencil in place": Kind(_stencil_in_place),
    "stencil of rolls": Kind(
        lambda f, x, a, h: a * (h + 0.2 * (f.roll(h, 1, -1) - 2 * h + f.roll(h, -1, -1))) + x
    ),
    "stencil of rows": Kind(_rows_stencil),
    "part set": Kind(
        lambda f, x, a, h: f.set_to(a * h, (Ellipsis, slice(0, f.n // 2)), x[..., : f.n // 2])
    ),
    "transposed": Kind(lambda f, x, a, h: f.tanh(a * h.T + x), small=(8, 8), large=(128, 128)),
    "gather": Kind(lambda f, x, a, h: f.tanh(a * h[..., f.order] + x)),
    "place of a table": Kind(
        lambda f, x, a, h: 0.9 * h + a[x],
        row=lambda shape: shape[:-1],
        parameter=square,
        places=True,
    ),
    "one-hot": Kind(
        lambda f, x, a, h: 0.9 * h + a * f.equal(f.arange, x[..., None]),
        row=lambda shape: shape[:-1],
        places=True,
    ),
    "sort": Kind(lambda f, x, a, h: a * f.sort(h) + x),
}
REDUCTIONS = {
    "softmax": Kind(lambda f, x, a, h: f.softmax(3 * (h * a) + x, -1)),
    "softmax by hand": Kind(lambda f, x, a, h: _softmax_by_hand(f, x, a, h, -1)),
    "softmax of columns": Kind(lambda f, x, a, h: _softmax_by_hand(f, x, a, h, 0)),
    "normalization": Kind(_normalized),
    "normalization of columns": Kind(lambda f, x, a, h: _normalized(f, x, a, h, 0)),
    "norm": Kind(lambda f, x, a, h: a * h / f.sqrt(f.sum(h * h, -1) + 0.1) + x),
    "mean field": Kind(lambda f, x, a, h: 0.5 * h + a * f.tanh(f.mean(h, 0)) + x),
    "cumulative sum": Kind(lambda f, x, a, h: f.tanh(0.1 * f.cumsum(a * h, -1) + x)),
    "forward algorithm": Kind(_forward, small=(8,), large=(64,), parameter=square),
    "forward algorithm in rows": Kind(_forward_in_rows, small=(8,), large=(64,), parameter=square),
    "forward algorithm by logsumexp": Kind(
        lambda f, x, a, h: f.logsumexp(h[:, None] + a, 0) + x,
        small=(8,),
        large=(64,),
        parameter=square,
    ),
    "forward algorithm of probabilities": Kind(
        _forward_of_probabilities, small=(8,), large=(64,), parameter=square
    ),
    "Viterbi": Kind(
        lambda f, x, a, h: (h[:, None] + a).max(0) + x, small=(8,), large=(64,), parameter=square
    ),
    "coupled oscillators": Kind(_coupled, small=(8,), large=(64,), parameter=square),
}
PRODUCTS = {
    "dot": Kind(lambda f, x, a, h: f.tanh(f.dot(h, a) + x), parameter=square),
    "square of a matrix": Kind(
        lambda f, x, a, h: f.tanh(0.1 * f.dot(h, h) + a * x), small=(8, 8), large=(64, 64)
    ),
    "quadratic form": Kind(
        lambda f, x, a, h: x * f.exp(-0.1 * f.sum(f.dot(h, a) * h, -1) ** 2), parameter=square
    ),
    "outer product": Kind(_fast_weights, small=(8, 8), row=last_axis),
    "LSTM": Kind(
        _lstm,
        states=2,
        row=lambda shape: (*shape[:-1], 4 * shape[-1]),
        parameter=lambda shape: (shape[-1], 4 * shape[-1]),
    ),
    "GRU": Kind(_gru, parameter=lambda shape: (shape[-1], 3 * shape[-1])),
    "attention": Kind(_attention, parameter=lambda shape: (30, shape[-1])),
}
KINDS: dict[str, Kind] = {**ELEMENTS, **POSITIONS, **REDUCTIONS, **PRODUCTS}


def cost(kind: Kind, library: Any, x: Any, a: Any, weights: Any, *states: Any) -> Any:
    """Return a number that depends on all of the states after the last step."""

    def step(x, a, *states):
        after = kind.step(library, x, a, *states)
        return after if kind.states > 1 else (after,)

    return sum(library.total(last * weights) for last in library.last_of_loop(step, x, a, states))
