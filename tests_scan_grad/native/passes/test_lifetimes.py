"""Wrong last readers, put in on purpose, are found between the passes."""

from __future__ import annotations

from collections import defaultdict

import pytest

import theano
import theano.tensor as T
from tests_scan_grad.native.loops import numbers
from theano.link.native.passes import (
    mutable_inputs,
    place_in_memory,
    results_in_operands,
    rows_over_rows,
    share_memory,
)
from theano.link.native.passes.share_memory import last_uses
from theano.link.native.spec.statements import UnsoundStep

LARGE = 300


def all_but_the_last(statements):
    """Return the last uses of each buffer, with the last statement forgotten."""
    return defaultdict(lambda: -1, last_uses(statements[:-1]))


def after_its_copy_was_changed():
    """Return a product that is read once more after a copy of it got another row."""
    x, w = T.matrix("x"), T.matrix("w")
    product = T.dot(x, w)
    return [x, w], [T.dot(product, T.dot(T.set_subtensor(product[0], 0.0), w))], {}


def after_an_update_from_it():
    """Return a shared variable that is read once more after its next value was computed."""
    w = theano.shared(numbers(LARGE, LARGE), "w")
    return [], [T.dot(w, T.tanh(w) + 1)], {"updates": [(w, T.tanh(w) + 1)]}


def after_a_result_of_it():
    """Return a product that is read once more after a map of it."""
    x, w = T.matrix("x"), T.matrix("w")
    product = T.dot(x, w)
    return [x, w], [T.tanh(product), T.dot(product, T.tanh(product))], {}


def after_rows_over_it():
    """Return the input of a second layer, read once more after gradients of the first."""
    x, w, v, u = T.tensor3("x"), *(T.matrix(name) for name in "wvu")

    def step(p, h):
        gate = T.nnet.sigmoid(p + h.dot(u))
        return gate * h + (1 - gate) * T.tanh(p)

    def layer(rows):
        return theano.scan(step, rows, T.zeros((x.shape[1], u.shape[0])))[0]

    read = layer(x.dot(w)).dot(v)
    gradient = T.grad((layer(read) ** 2).sum(), w)
    return [x, w, v, u], [T.dot(read, gradient.T)], {}


PLANTED = {
    "share_memory": (share_memory, "last_uses", after_its_copy_was_changed),
    "compute_into_inputs": (mutable_inputs, "last_uses", after_an_update_from_it),
    "results_in_operands": (results_in_operands, "last_uses", after_a_result_of_it),
    "block_steps": (rows_over_rows, "last_uses", after_rows_over_it),
}


def compiled(make):
    inputs, outputs, options = make()
    with theano.config.change_flags(native__verify=True, cache_optimizations=False):
        return theano.function(inputs, outputs, **options)


@pytest.mark.parametrize("change", PLANTED)
def test_a_wrong_last_reader_is_found(change, monkeypatch):
    module, name, make = PLANTED[change]
    compiled(make)
    monkeypatch.setattr(module, name, all_but_the_last)
    with pytest.raises(UnsoundStep, match=f"after {change}, .* whose memory .* has taken"):
        compiled(make)


def test_a_slot_that_is_given_up_too_early_is_found(monkeypatch):
    lives = place_in_memory._lives

    def short_lives(step):
        return {buffer: (first, first) for buffer, (first, _) in lives(step).items()}

    monkeypatch.setattr(place_in_memory, "_lives", short_lives)
    with pytest.raises(UnsoundStep, match="after place_in_memory, .* which has memory from moment"):
        compiled(after_its_copy_was_changed)
