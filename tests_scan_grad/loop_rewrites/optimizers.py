"""The updates of optimizers of the literature, as users of Theano write them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import theano
import theano.tensor as T

Updates = list[tuple]


def _zeros_like(weight):
    return theano.shared(np.zeros_like(weight.get_value()))


def sgd(weight, g) -> Updates:
    return [(weight, weight - 0.1 * g)]


def weight_decay(weight, g) -> Updates:
    return [(weight, weight - 0.1 * (g + 0.01 * weight))]


def momentum(weight, g) -> Updates:
    m = _zeros_like(weight)
    return [(m, 0.9 * m - 0.1 * g), (weight, weight + 0.9 * m - 0.1 * g)]


def nesterov(weight, g) -> Updates:
    m = _zeros_like(weight)
    new = 0.9 * m - 0.1 * g
    return [(m, new), (weight, weight + 0.9 * new - 0.1 * g)]


def adagrad(weight, g) -> Updates:
    s = _zeros_like(weight)
    new = s + T.sqr(g)
    return [(s, new), (weight, weight - 0.1 * g / T.sqrt(new + 1e-6))]


def adadelta(weight, g) -> Updates:
    s, d = _zeros_like(weight), _zeros_like(weight)
    new = 0.95 * s + 0.05 * g**2
    step = g * T.sqrt(d + 1e-6) / T.sqrt(new + 1e-6)
    return [(s, new), (d, 0.95 * d + 0.05 * step**2), (weight, weight - step)]


def rmsprop(weight, g) -> Updates:
    s = _zeros_like(weight)
    new = 0.9 * s + (1 - 0.9) * g**2
    return [(s, new), (weight, weight - 0.01 * g / T.sqrt(new + 1e-6))]


def centred_rmsprop(weight, g) -> Updates:
    s, mean = _zeros_like(weight), _zeros_like(weight)
    new, new_mean = 0.95 * s + 0.05 * g**2, 0.95 * mean + 0.05 * g
    return [
        (s, new),
        (mean, new_mean),
        (weight, weight - 0.01 * g / T.sqrt(new - new_mean**2 + 1e-4)),
    ]


def adam(weight, g) -> Updates:
    m, v, t = _zeros_like(weight), _zeros_like(weight), theano.shared(np.float64(0))
    m_new, v_new = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * T.sqr(g)
    rate = 0.01 * T.sqrt(1 - 0.999 ** (t + 1)) / (1 - 0.9 ** (t + 1))
    return [
        (m, m_new),
        (v, v_new),
        (t, t + 1),
        (weight, weight - rate * m_new / (T.sqrt(v_new) + 1e-8)),
    ]


def adamax(weight, g) -> Updates:
    m, u = _zeros_like(weight), _zeros_like(weight)
    m_new, u_new = 0.9 * m + 0.1 * g, T.maximum(0.999 * u, abs(g))
    return [(m, m_new), (u, u_new), (weight, weight - 0.01 * m_new / (u_new + 1e-8))]


def amsgrad(weight, g) -> Updates:
    m, v, top = (_zeros_like(weight) for _ in range(3))
    m_new, v_new = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    top_new = T.maximum(top, v_new)
    return [
        (m, m_new),
        (v, v_new),
        (top, top_new),
        (weight, weight - 0.01 * m_new / (T.sqrt(top_new) + 1e-8)),
    ]


def nadam(weight, g) -> Updates:
    m, v = _zeros_like(weight), _zeros_like(weight)
    m_new, v_new = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    return [
        (m, m_new),
        (v, v_new),
        (weight, weight - 0.01 * (0.9 * m_new + 0.1 * g) / (T.sqrt(v_new) + 1e-8)),
    ]


def clipped(weight, g) -> Updates:
    norm = T.sqrt(T.sqr(g).sum())
    return sgd(weight, g * T.minimum(1.0, 0.5 / norm))


def clipped_elementwise(weight, g) -> Updates:
    return momentum(weight, T.clip(g, -0.5, 0.5))


def rprop(weight, g) -> Updates:
    before, rate = _zeros_like(weight), theano.shared(np.full_like(weight.get_value(), 0.1))
    agree = before * g
    new = T.switch(agree > 0, 1.2 * rate, T.switch(agree < 0, 0.5 * rate, rate))
    return [(before, g), (rate, new), (weight, weight - T.sgn(g) * new)]


OPTIMIZERS: dict[str, Callable[[object, object], Updates]] = {
    rule.__name__: rule
    for rule in (
        sgd,
        weight_decay,
        momentum,
        nesterov,
        adagrad,
        adadelta,
        rmsprop,
        centred_rmsprop,
        adam,
        adamax,
        amsgrad,
        nadam,
        clipped,
        clipped_elementwise,
        rprop,
    )
}
