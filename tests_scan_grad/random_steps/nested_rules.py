"""Loops in the step, choices, derivatives, graphs as operators, operators of the user's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import theano
import theano.tensor as T
from tests_scan_grad.random_steps.values import (
    Applied,
    Chooser,
    Rule,
    Value,
    alike,
    floating,
    matrix,
    of_row,
    vector,
)
from theano.gof import Apply, Op
from theano.ifelse import ifelse


def _mapped(choose: Chooser) -> Applied | None:
    pair = choose.pair(matrix, of_row)
    if pair is None:
        return None
    steps, back = pair[0].shape[0], choose.chance(0.3)

    def build(way, x, w):
        return way.loop(lambda row: ([], [T.tanh(row * w)]), [x], [], steps, go_backwards=back)[0]

    return Applied(pair, pair[0].shape, build, has_loops=True)


# of all values of a state
READS: tuple[Callable, ...] = (
    lambda h: h[-1],
    lambda h: h.sum(axis=0),
    lambda h: h[0],
    lambda h: 2 * h[-1] + h[0],
)


def _folded(choose: Chooser) -> Applied | None:
    pair = choose.pair(matrix, of_row)
    if pair is None:
        return None
    x, h = pair
    square = 2 * h.shape
    w = choose.value(lambda value: value.shape == square and value.dtype == h.dtype)
    steps, back, read = x.shape[0], choose.chance(0.3), choose.one(READS)

    def build(way, x, h, *weights):
        def step(row, h):
            return [T.tanh(row + (T.dot(h, weights[0]) if weights else 0.5 * h))], []

        return read(way.loop(step, [x], [h], steps, go_backwards=back)[0])

    return Applied(pair if w is None else (*pair, w), h.shape, build, has_loops=True)


def _all_states(choose: Chooser) -> Applied | None:
    pair = choose.pair(matrix, of_row)
    if pair is None:
        return None
    steps = pair[0].shape[0]

    def build(way, x, h):
        states, others = way.loop(lambda row, h: ([T.tanh(row + h)], [row * h]), [x], [h], steps)
        return states + others

    return Applied(pair, pair[0].shape, build, has_loops=True)


def _until(choose: Chooser) -> Applied | None:
    h = choose.value(lambda value: vector(value) and value.dtype == "float64")
    bound = choose.one((0.5, 1.5, 4.0))
    if h is None:
        return None

    def build(way, h):
        return way.loop(
            lambda h: ([1.3 * T.tanh(h) + 0.1], []),
            [],
            [h],
            5,
            until=lambda states: T.sum(abs(states[0])) > bound,
        )[0][-1]

    return Applied((h,), h.shape, build, has_loops=True)


def _two_taps(choose: Chooser) -> Applied | None:
    h = choose.value(lambda value: matrix(value) and value.shape[0] == 2)
    taps = choose.one(((-1, -2), (-2, -1)))
    if h is None:
        return None

    def build(way, h):
        return way.loop(lambda a, b: ([T.tanh(2 * a - b)], []), [], [h], 3, taps=taps)[0][1:]

    return Applied((h,), h.shape, build, has_loops=True)


def _two_states(choose: Chooser) -> Applied | None:
    pair = choose.pair(lambda x: x.dtype == "float64" and len(x.shape) in (1, 2), alike)

    def build(way, h, g):
        one, other = way.loop(lambda h, g: ([0.9 * T.tanh(g), 0.5 * h + g], []), [], [h, g], 3)
        return one[-1] * other[1]

    return None if pair is None else Applied(pair, pair[0].shape, build, has_loops=True)


def _gradient_of_loop(choose: Chooser) -> Applied | None:
    pair = choose.pair(matrix, of_row)
    if pair is None:
        return None
    steps = pair[0].shape[0]

    def build(way, x, h):
        states = way.loop(lambda row, h: ([T.tanh(row + 0.75 * h)], []), [x], [h], steps)[0]
        return theano.grad(T.sum(states[-1] ** 2) + T.sum(states), h)

    return Applied(pair, pair[1].shape, build, has_loops=True)


def _graph_with_loop(choose: Chooser) -> Applied | None:
    pair = choose.pair(matrix, of_row)
    if pair is None:
        return None
    steps, inline = pair[0].shape[0], choose.chance(0.5)

    def build(way, x, h):
        def body(x, h):
            return way.loop(lambda row, h: ([T.tanh(row + 0.75 * h)], []), [x], [h], steps)[0][-1]

        return way.graph(body, inline, x, h)

    return Applied(pair, pair[1].shape, build, has_loops=True)


def _jacobian(choose: Chooser) -> Applied | None:
    h = choose.value(lambda value: vector(value) and value.shape[0] in (2, 3))
    if h is None:
        return None
    length = h.shape[0]
    return Applied(
        (h,),
        2 * h.shape,
        lambda way, h: way.jacobian(T.tanh(h) * T.sum(h), h, length),
        has_loops=True,
    )


def _chosen(choose: Chooser) -> Applied | None:
    pair = choose.pair(lambda x: floating(x) and len(x.shape) <= 2, alike)
    k = choose.value(lambda value: value.shape == () and value.dtype != "bool")
    if pair is None or k is None:
        return None
    return Applied(
        (*pair, k), pair[0].shape, lambda x, y, k: ifelse(T.gt(k, 0), 2 * T.tanh(x), y + x)
    )


def _two_chosen(choose: Chooser) -> Applied | None:
    pair = choose.pair(matrix, lambda x, w: w.dtype == x.dtype and w.shape == 2 * x.shape[1:])
    k = choose.value(lambda value: value.shape == () and value.is_floating)
    if pair is None or k is None:
        return None

    def build(x, w, k):
        one, other = ifelse(T.gt(k, 0.1), [T.dot(x, w), x], [x * 1.0, T.tanh(x)])
        return one * other

    return Applied((*pair, k), pair[0].shape, build)


class SineAndSum(Op):
    """``k sin(x)`` with a tenth of the sum of y, and ``2 y`` with a tenth of that of ``cos(x)``."""

    __props__ = ("k",)

    def __init__(self, k):
        self.k = k

    def make_node(self, x, y):
        return Apply(self, [x, y], [x.type(), y.type()])

    def perform(self, node, inputs, outputs):
        x, y = inputs
        outputs[0][0] = np.asarray(self.k * np.sin(x) + 0.1 * y.sum(), x.dtype)
        outputs[1][0] = np.asarray(2 * y + 0.1 * np.cos(x).sum(), y.dtype)

    def infer_shape(self, fgraph, node, shapes):
        return shapes

    def grad(self, inputs, gradients):
        x, y = inputs
        g, h = (
            T.zeros_like(v) if isinstance(given.type, theano.gradient.DisconnectedType) else given
            for given, v in zip(gradients, inputs, strict=True)
        )
        by_x = self.k * g * T.cos(x) - 0.1 * T.sin(x) * h.sum()
        return [T.cast(by_x, x.dtype), T.cast(2 * h + 0.1 * g.sum(), y.dtype)]

    def R_op(self, inputs, eval_points):
        x, y = inputs
        u, v = (
            T.zeros_like(value) if point is None else point
            for point, value in zip(eval_points, inputs, strict=True)
        )
        of_x = self.k * u * T.cos(x) + 0.1 * v.sum()
        return [T.cast(of_x, x.dtype), T.cast(2 * v - 0.1 * (T.sin(x) * u).sum(), y.dtype)]


class HalfGradient(Op):
    """A view, whose gradient is halved."""

    __props__ = ()
    view_map = {0: [0]}

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0]

    def infer_shape(self, fgraph, node, shapes):
        return shapes

    def grad(self, inputs, gradients):
        return [0.5 * gradients[0]]

    def R_op(self, inputs, eval_points):
        return [None if eval_points[0] is None else 0.5 * eval_points[0]]


def _own_operator(choose: Chooser) -> Applied | None:
    pair = choose.pair(floating, lambda x, y: y.dtype == x.dtype)
    if pair is None:
        return None
    k = choose.one((1, 2))
    if alike(*pair):
        return Applied(pair, pair[0].shape, lambda x, y: T.mul(*SineAndSum(k)(x, T.tanh(y))))
    which = choose.random.randrange(2)
    return Applied(pair, pair[which].shape, lambda x, y: SineAndSum(k)(x, y)[which])


def _silent(op, value) -> None:
    """Print nothing."""


# of one floating array; not `grad_scale`, whose tangent is not scaled in Theano either
WATCHED: tuple[Callable, ...] = (
    lambda x: T.tanh(theano.printing.Print("value", global_fn=_silent)(x)),
    lambda x: T.opt.Assert("finite")(2 * x, T.gt(T.sum(abs(x)), -1.0)),
    lambda x: HalfGradient()(x),
    lambda x: theano.gradient.zero_grad(x) + 0.5 * x,
)


def _watched(choose: Chooser) -> Applied | None:
    x: Value | None = choose.value(floating)
    return None if x is None else Applied((x,), x.shape, choose.one(WATCHED))


RULES = (
    Rule("mapped", _mapped, 2),
    Rule("folded", _folded, 3),
    Rule("all states", _all_states, 1.5),
    Rule("until", _until, 2),
    Rule("two taps", _two_taps, 1.5),
    Rule("two states", _two_states, 1.2),
    Rule("gradient of a loop", _gradient_of_loop, 1.2),
    Rule("graph with a loop", _graph_with_loop, 1.2),
    Rule("jacobian", _jacobian, 0.6),
    Rule("chosen lazily", _chosen, 2),
    Rule("two chosen lazily", _two_chosen, 1),
    Rule("own operator", _own_operator, 3),
    Rule("watched", _watched, 2),
)
