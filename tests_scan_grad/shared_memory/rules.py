"""Rules by which the values of a function are computed: views, writes into parts, new arrays.

A value is a square matrix, a vector or a number; a rule says which kinds it takes and gives, how a
graph computes it, and how NumPy does. NumPy's results may be views: they are copied where they are
kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import theano
import theano.tensor as T
from theano.ifelse import ifelse

LENGTH = 3
SHAPES: dict[str, tuple[int, ...]] = {"m": (LENGTH, LENGTH), "v": (LENGTH,), "s": ()}

REPEATED = np.array([2, 0, 2])
ORDER = np.array([2, 0, 1])


@dataclass(frozen=True)
class Rule:
    """One operation; ``takes`` has a letter for each operand, ``gives`` that of the result."""

    name: str
    takes: str
    gives: str
    build: Callable[..., Any]
    run: Callable[..., Any]
    weight: float = 1.0


def _views() -> list[Rule]:
    both: dict[str, tuple[str, str, Callable]] = {
        "transposed": ("m", "m", lambda x: x.T),
        "rows reversed": ("m", "m", lambda x: x[::-1]),
        "columns reversed": ("m", "m", lambda x: x[:, ::-1]),
        "reversed": ("v", "v", lambda x: x[::-1]),
        "row": ("m", "v", lambda x: x[1]),
        "column": ("m", "v", lambda x: x[:, 2]),
        "diagonal": ("m", "v", lambda x: x.diagonal()),
        "element": ("v", "s", lambda x: x[0]),
        "reshaped": ("m", "m", lambda x: x.flatten().reshape(SHAPES["m"])),
        "reversed flat": ("m", "m", lambda x: x.flatten()[::-1].reshape(SHAPES["m"])),
        "rows selected": ("m", "m", lambda x: x[ORDER]),
    }
    rules = [Rule(name, *kinds, f, f, 2) for name, (*kinds, f) in both.items()]
    return [
        *rules,
        Rule("told shape", "m", "m", lambda x: T.specify_shape(x, SHAPES["m"]), _same, 0.5),
        Rule("checked", "m", "m", _checked, _same, 0.5),
        Rule("an axis more", "m", "m", lambda x: x.dimshuffle(0, "x", 1)[:, 0], _same),
        Rule("rows of one", "v", "m", lambda x: T.alloc(x, *SHAPES["m"]), _rows_of),
    ]


def _same(x):
    return x


def _checked(x):
    return T.opt.Assert("rows")(x, T.eq(x.shape[0], LENGTH))


def _rows_of(x):
    return np.broadcast_to(x, SHAPES["m"])


def _writes() -> list[Rule]:
    parts: tuple[tuple[str, str, Any], ...] = (
        ("m", "v", 0),
        ("m", "m", slice(None, None, -1)),
        ("m", "v", (slice(None), 1)),
        ("m", "m", (slice(None), slice(None, None, -1))),
        ("m", "v", slice(0, 2)),
        ("m", "s", (1, 2)),
        ("v", "s", 0),
        ("v", "v", slice(None, None, -1)),
        ("v", "s", slice(1, 3)),
    )
    rules = []
    for kind, part, index in parts:
        rules += _of_part(f"at {index}", kind, part, index)
    rules += _of_part("at places", "m", "m", ORDER) + _of_part("at places", "v", "v", ORDER)
    rules += _of_part("at repeated places", "m", "m", REPEATED)[1:]
    rules += _of_part("at repeated places", "v", "v", REPEATED)[1:]
    rules.append(
        Rule(
            "set where positive",
            "mm",
            "m",
            lambda x, y: T.set_subtensor(x[y > 0], 0),
            lambda x, y: np.where(y > 0, 0, x),
        )
    )
    return rules


def _of_part(name: str, kind: str, part: str, index: Any) -> list[Rule]:
    def set_part(x, y):
        changed = x.copy()
        changed[index] = y
        return changed

    def add_part(x, y):
        changed = x.copy()
        np.add.at(changed, index, y)
        return changed

    return [
        Rule(f"set {name}", kind + part, kind, lambda x, y: T.set_subtensor(x[index], y), set_part),
        Rule(f"add {name}", kind + part, kind, lambda x, y: T.inc_subtensor(x[index], y), add_part),
    ]


def _new_arrays() -> list[Rule]:
    rules = [
        Rule("product", "mm", "m", lambda x, y: 0.3 * T.dot(x, y), lambda x, y: 0.3 * x.dot(y), 2),
        Rule("times", "mv", "v", lambda x, y: 0.3 * T.dot(x, y), lambda x, y: 0.3 * x.dot(y), 2),
        Rule(
            "minus a product",
            "mmm",
            "m",
            lambda z, x, y: z - 0.3 * T.dot(x, y.T),
            lambda z, x, y: z - 0.3 * x.dot(y.T),
            2,
        ),
        Rule(
            "plus an outer product",
            "mvv",
            "m",
            lambda z, x, y: z + 0.2 * T.outer(x, y),
            lambda z, x, y: z + 0.2 * np.outer(x, y),
            2,
        ),
        Rule(
            "plus a matrix times a vector",
            "vmv",
            "v",
            lambda z, x, y: 0.5 * z + 0.1 * T.dot(x, y),
            lambda z, x, y: 0.5 * z + 0.1 * x.dot(y),
            2,
        ),
        Rule("sum", "m", "s", lambda x: T.tanh(x.sum()), lambda x: np.tanh(x.sum())),
        Rule("mean", "m", "v", lambda x: x.mean(axis=0), lambda x: x.mean(axis=0)),
    ]
    for kind in SHAPES:
        rules += _of_one_kind(kind)
    return rules


def _of_one_kind(kind: str) -> list[Rule]:
    two = 2 * kind
    return [
        Rule("tanh", kind, kind, T.tanh, np.tanh),
        Rule("blend", two, kind, lambda x, y: 0.5 * x + 0.25 * y, lambda x, y: 0.5 * x + 0.25 * y),
        Rule("difference", two, kind, lambda x, y: x - y, lambda x, y: x - y),
        Rule("maximum", two, kind, T.maximum, np.maximum),
        Rule("scaled", kind + "s", kind, lambda x, y: x * T.tanh(y), lambda x, y: x * np.tanh(y)),
        Rule(
            "chosen",
            two + "s",
            kind,
            lambda x, y, c: ifelse(T.gt(c, 0), x, y),
            lambda x, y, c: x if c > 0 else y,
            1.5,
        ),
        Rule("plus 0", kind, kind, lambda x: x + 0, _same, 0.5),
        Rule("times 1", kind, kind, lambda x: x * 1, _same, 0.5),
        Rule("without gradient", kind, kind, theano.gradient.zero_grad, _same, 0.3),
        Rule("filled", two, kind, T.fill, lambda x, y: y, 0.5),
    ]


def _loops() -> list[Rule]:
    return [
        Rule("last of a loop", "mv", "v", lambda x, h: _summed(x, h)[-1], _last_summed, 2),
        Rule("loop", "mv", "m", _summed, _all_summed, 2),
        Rule(
            "backward loop",
            "mv",
            "m",
            lambda x, h: _summed(x, h, go_backwards=True),
            lambda x, h: _all_summed(x[::-1], h),
        ),
        Rule("loop that writes", "mm", "m", _written, _last_written, 2),
        Rule("loop that swaps", "mm", "m", _swapped, _last_swapped, 2),
    ]


def _summed(x, h, **options):
    states, _ = theano.scan(lambda a, h: T.tanh(a + h), sequences=x, outputs_info=h, **options)
    return states


def _all_summed(x, h):
    states = []
    for row in x:
        h = np.tanh(row + h)
        states.append(h)
    return np.stack(states)


def _last_summed(x, h):
    return _all_summed(x, h)[-1]


def _written(x, w):
    states, _ = theano.scan(
        lambda h, w: T.set_subtensor(h[0], T.tanh(T.dot(w, h[1]))),
        outputs_info=x,
        non_sequences=w,
        n_steps=2,
    )
    return states[-1]


def _last_written(x, w):
    for _ in range(2):
        x = x.copy()
        x[0] = np.tanh(w.dot(x[1]))
    return x


def _swapped(x, y):
    (states, _), _ = theano.scan(lambda x, y: [y.T, x], outputs_info=[x, y], n_steps=3)
    return states[-1]


def _last_swapped(x, y):
    for _ in range(3):
        x, y = y.T, x
    return x


RULES = (*_views(), *_writes(), *_new_arrays(), *_loops())
