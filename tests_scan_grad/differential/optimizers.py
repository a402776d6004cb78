"""Optimizers written twice: as updates of shared variables, and as NumPy on numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import theano
import theano.tensor as T


def symbolic(rule: str, weight, gradient) -> tuple[list, list[tuple[Any, Any]]]:
    """The shared variables that an optimizer keeps for a weight, and its updates."""

    def kept():
        return theano.shared(np.zeros_like(weight.get_value()))

    def fit(value):
        return T.cast(value, weight.dtype)

    g = gradient
    match rule:
        case "sgd":
            return [], [(weight, fit(weight - 0.05 * g))]
        case "momentum":
            m = kept()
            new = fit(0.9 * m - 0.05 * g)
            return [m], [(m, new), (weight, fit(weight + new))]
        case "adagrad":
            s = kept()
            new = fit(s + T.sqr(g))
            return [s], [(s, new), (weight, fit(weight - 0.05 * g / T.sqrt(new + 0.1)))]
        case "rmsprop":
            s = kept()
            new = fit(0.9 * s + 0.1 * g**2)
            return [s], [(s, new), (weight, fit(weight - 0.05 * g / T.sqrt(new + 0.1)))]
        case _:
            m, v = kept(), kept()
            first, second = fit(0.9 * m + 0.1 * g), fit(0.99 * v + 0.01 * T.sqr(g))
            step = 0.05 * first / (T.sqrt(second + 0.1))
            return [m, v], [(m, first), (v, second), (weight, fit(weight - step))]


class Numerical:
    """The same on numbers.

    Parameters
    ----------
    rule
        The optimizer's name.
    weight
        The first value of a weight.
    """

    def __init__(self, rule: str, weight: np.ndarray):
        self.rule = rule
        self.first = np.zeros(weight.shape, np.longdouble)
        self.second = np.zeros(weight.shape, np.longdouble)

    def step(self, weight: np.ndarray, g: np.ndarray) -> np.ndarray:
        """The weight after one update, in its dtype."""
        tenth, hundredth = np.longdouble("0.1"), np.longdouble("0.01")
        rate = np.longdouble("0.05")
        if self.rule == "sgd":
            change = -rate * g
        elif self.rule == "momentum":
            self.first = 9 * tenth * self.first - rate * g
            change = self.first
        elif self.rule == "adagrad":
            self.first = self.first + g**2
            change = -rate * g / np.sqrt(self.first + tenth)
        elif self.rule == "rmsprop":
            self.first = 9 * tenth * self.first + tenth * g**2
            change = -rate * g / np.sqrt(self.first + tenth)
        else:
            self.first = 9 * tenth * self.first + tenth * g
            self.second = 99 * hundredth * self.second + hundredth * g**2
            change = -rate * self.first / np.sqrt(self.second + tenth)
        return np.asarray(weight + change, weight.dtype)
