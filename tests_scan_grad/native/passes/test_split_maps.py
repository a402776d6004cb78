"""Work on joined arrays in a step, which is done part by part without storing the join."""

from __future__ import annotations

import pytensor
import pytensor.tensor as pt
import pytest

from tests_scan_grad.native.loops import check, numbers
from theano.link.native.passes.pipeline import watched_passes
from theano.link.native.statements.base import as_kind
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.map import Map


def stencil(h):
    inner = h[1:-1] + 0.2 * (h[2:] - 2 * h[1:-1] + h[:-2])
    return pt.concatenate([h[:1], inner, h[-1:]])


JOINED = {
    "roll": lambda h: pt.roll(h, 1, 0),
    "ends": lambda h: pt.concatenate([h[1:], h[:1]]),
    "halves": lambda h: pt.concatenate([pt.tanh(h[3:]), 0.9 * h[:3]]),
    "stencil": stencil,
}


def loop_of(joined, change=lambda h, joined: joined):
    x, a, h = pt.dmatrix("x"), pt.dvector("a"), pt.dvector("h")
    states = pytensor.scan(
        lambda x, h, a: a * change(h, JOINED[joined](h)) + x,
        [x],
        [h],
        non_sequences=[a],
        return_updates=False,
    )
    return [x, a, h], states


def given_of(size):
    return numbers(4, size), numbers(size, seed=1), numbers(size, seed=2)


def statements_of(inputs, outputs, *given):
    """Return those of the first loop after all passes, of a function that computes what Python does."""
    found = []

    def watch(lowered, name):
        if name == "partition_work":
            found.append(list(lowered.step.statements))

    with watched_passes(watch):
        check(inputs, outputs, *given)
    return found[0]


@pytest.mark.parametrize(
    ("joined", "parts"), [("roll", 2), ("ends", 2), ("halves", 2), ("stencil", 3)]
)
def test_each_part_is_one_pass(joined, parts):
    inputs, states = loop_of(joined)
    statements = statements_of(inputs, [states], *map(given_of, (6, 8, 33)))
    assert len(statements) == parts
    assert all(as_kind(one, Map) for one in statements)


def test_parts_without_elements():
    inputs, states = loop_of("roll")
    check(inputs, [states], *map(given_of, (1, 2)))
    inputs, states = loop_of("stencil")
    check(inputs, [states], *map(given_of, (2, 3)))


@pytest.mark.parametrize("joined", JOINED)
def test_gradients(joined):
    inputs, states = loop_of(joined)
    cost = (states**2).sum()
    check(inputs, [cost, *pytensor.grad(cost, inputs)], given_of(9))


def test_rows_are_parts_too():
    x, h = pt.dtensor3("x"), pt.dmatrix("h")
    states = pytensor.scan(
        lambda x, h: pt.roll(h, 1, 0) * x + pt.roll(x, 2, 1).sum(), [x], [h], return_updates=False
    )
    check([x, h], [states[-1], states], [numbers(4, 5, 7), numbers(5, 7, seed=1)])


def test_what_reads_two_joined_arrays_stays_whole():
    inputs, states = loop_of("roll", lambda h, joined: joined + pt.roll(h, -1, 0))
    statements = statements_of(inputs, [states], given_of(8))
    assert sum(as_kind(one, Map) is not None for one in statements) == 1


def test_what_others_read_stays_joined():
    inputs, states = loop_of("roll", lambda h, joined: joined / joined.sum())
    statements = statements_of(inputs, [states], given_of(8))
    assert any(as_kind(one, Copy) for one in statements)
