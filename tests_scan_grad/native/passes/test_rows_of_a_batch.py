"""Threads share the rows of a batch where what is computed of one needs no other."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from tests_scan_grad.native.loops import check, native_mode, numbers
from theano.link.native.ir.partitions import Sharing
from theano.link.native.passes.pipeline import watched_passes
from theano.link.native.statements.base import as_kind
from theano.link.native.statements.columns_by_index import TakeColumns, UpdateColumns

ORDER = np.array([2, 0, -1, 1, 2])
STEPS = {
    "elements": lambda x, h: pt.clip(0.5 * h + x, -1, 1),
    "reversed": lambda x, h: 0.5 * h[:, ::-1] + x,
    "roll": lambda x, h: 0.5 * pt.roll(h, 1, 1) + x,
    "softmax": lambda x, h: pt.special.softmax(h + x, axis=1),
    "normalized": lambda x, h: (h - h.mean(1, keepdims=True)) / (1 + x),
    "sums so far": lambda x, h: pt.cumsum(0.1 * h, axis=1) + x,
    "columns by index": lambda x, h: h[:, ORDER] + x,
    "columns set": lambda x, h: 0.5 * pt.set_subtensor(h[:, ORDER], x),
    "columns added to": lambda x, h: 0.5 * pt.inc_subtensor(h[:, ORDER], x) - x,
}
BY_INDEX = {
    "columns by index": TakeColumns,
    "columns set": UpdateColumns,
    "columns added to": UpdateColumns,
}


def sharing_of(step, *given):
    """Return how threads share the loop of a step, which gives what Python does, and its statements."""
    found = []

    def watch(lowered, name):
        if name == "partition_work":
            found.append((lowered.sharing, list(lowered.step.statements)))

    x, h = pt.dtensor3("x"), pt.dmatrix("h")
    states = pytensor.scan(step, [x], [h], return_updates=False)
    with watched_passes(watch):
        check([x, h], [states], given)
    return found[0]


@pytest.mark.parametrize("name", STEPS)
def test_threads_need_not_meet(name):
    sharing, statements = sharing_of(STEPS[name], numbers(4, 6, 5), numbers(6, 5, seed=1))
    assert name not in BY_INDEX or any(as_kind(one, BY_INDEX[name]) for one in statements)
    assert not any(one.may_fail for one in statements)
    assert isinstance(sharing, Sharing)
    assert sharing.rows is not None
    assert not sharing.barriers_by_rows


def test_what_is_added_up_over_a_batch_is_shared_by_columns():
    step = lambda x, h: h - h.mean(0) + x  # noqa: E731
    sharing, _ = sharing_of(step, numbers(4, 6, 5), numbers(6, 5, seed=1))
    assert sharing.rows is None and not sharing.barriers


def test_a_constant_index_out_of_range():
    x, h = pt.dtensor3("x"), pt.dmatrix("h")
    states = pytensor.scan(
        lambda x, h: h[:, np.array([0, -4])].sum() * h + x, [x], [h], return_updates=False
    )
    function = pytensor.function([x, h], states, mode=native_mode())
    assert function(numbers(1, 6, 4), numbers(6, 4)).shape == (1, 6, 4)
    with pytest.raises(IndexError):
        function(numbers(1, 6, 3), numbers(6, 3))


def test_columns_are_shared_where_there_is_more_to_do_than_to_read_them():
    given = numbers(4, 6, 5), numbers(6, 5, seed=1)
    arithmetic, _ = sharing_of(lambda x, h: 2 * h - h.mean(0) + x, *given)
    function, _ = sharing_of(lambda x, h: pt.tanh(h - h.mean(0)) + x, *given)
    assert len(arithmetic.in_pieces) == 1 and not function.in_pieces


def test_a_part_in_rows_and_a_part_in_columns_are_both_shared_by_columns():
    def step(x, h):
        scaled = h / h.sum(1, keepdims=True)
        return x + scaled - scaled.sum(0)

    sharing, _ = sharing_of(step, numbers(4, 6, 5), numbers(6, 5, seed=1))
    assert sharing.rows is None and sharing.in_pieces
