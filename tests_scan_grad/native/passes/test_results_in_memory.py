"""Memory of the native engine's inputs and results: layouts, reuse, overwriting."""

from __future__ import annotations

import weakref

import numpy as np
import pytensor.tensor as pt
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.native.loops import compiled, numbers, python_mode, same
from theano.link.native import source


class Special(np.ndarray):
    """A subclass, which the engine copies."""


def variants(value):
    """The same matrix in layouts that code for C order cannot read as they are."""
    padded = np.zeros((2 * len(value), value.shape[1] + 1))
    padded[::2, 1:] = value
    read_only = value.copy()
    read_only.flags.writeable = False
    return [
        np.asfortranarray(value),
        padded[::2, 1:],
        value[::-1][::-1],
        value.view(Special),
        read_only,
    ]


def test_any_layout_of_an_input():
    x = pt.dmatrix("x")
    function = compiled([x], [x.T + 1, x.sum(axis=0), x @ x.T])
    value = numbers(4, 3)
    for given in variants(value):
        kept = given.copy()
        same(function(given), [value.T + 1, value.sum(axis=0), value @ value.T])
        np.testing.assert_array_equal(given, kept)


def test_results_that_are_kept_are_not_overwritten():
    x = pt.dvector("x")
    function = compiled([x], [x + 1, x * 2])
    first, second = function(np.arange(3.0))
    part = function(np.arange(3.0) + 10)[0][1:]
    for k in range(5):
        function(np.arange(3.0) + 100 * k)
    same([first, second, part], [np.arange(3.0) + 1, np.arange(3.0) * 2, np.array([12.0, 13.0])])


@pytest.mark.parametrize("hold", [True, False])
def test_results_and_work_memory_of_the_call_before_are_used_where_they_fit(hold):
    """Lengths that repeat, grow and shrink; results that somebody has, and layouts that are not C's."""
    x, w = T.dmatrices("x", "w")
    products, _ = theano.scan(lambda row, w: T.tanh(row.dot(w)), x, non_sequences=w)
    f = theano.function([x, w], [products, T.exp(x).sum(0)], mode="NATIVE")
    held = []
    for rows, width, order in [
        (2, 3, "C"),
        (2, 3, "C"),
        (5, 3, "F"),
        (5, 3, "C"),
        (0, 4, "C"),
        (2, 60, "C"),
        (2, 3, "C"),
    ]:
        a = np.asarray(np.random.default_rng(rows).normal(size=(rows, width)), order=order)
        b = np.full((width, width), 0.5)
        expected = [np.tanh(a.dot(b)), np.exp(a).sum(0)]
        found = f(a, b)
        same(found, expected)
        held += [(found, expected)] if hold else []
    for found, expected in held:
        same(found, expected)


def test_a_shared_value_is_overwritten_by_what_is_computed_element_by_element():
    w = theano.shared(np.zeros(3), "w")
    step = theano.function([], w * 5, updates=[(w, w + 1)], mode="NATIVE")
    memory = w.get_value(borrow=True)
    same([step(), step(), memory], [np.zeros(3), np.full(3, 5.0), np.full(3, 2.0)])
    assert w.get_value(borrow=True) is memory


def test_a_shared_value_that_was_borrowed_stays_where_others_replace_it():
    w, i = theano.shared(np.zeros(3), "w"), T.lscalar("i")
    # not computed where the value lies, of which other elements are read
    step = theano.function([i], w[i], updates=[(w, w[::-1] + 1)], mode="NATIVE")
    step(0)
    borrowed = w.get_value(borrow=True)
    for _ in range(4):
        step(0)
    with pytest.raises(IndexError):
        step(3)
    same([borrowed, w.get_value()], [np.ones(3), np.full(3, 5.0)])


def test_the_memory_of_the_value_before_is_used_again():
    w = theano.shared(np.eye(3), "w")
    step = theano.function([], [], updates=[(w, w.dot(w) + 1)], mode="NATIVE")
    first, expected = weakref.ref(w.get_value(borrow=True)), np.eye(3)
    for count in range(4):
        step()
        expected = expected.dot(expected) + 1
        assert (w.get_value(borrow=True) is first()) == (count % 2 == 1)
    same([w.get_value()], [expected])


@pytest.mark.short_segments
def test_rows_of_a_shared_table_are_updated_in_place():
    table = theano.shared(np.zeros((50, 3)), "table")
    rows, change = T.lvector("rows"), T.dmatrix("change")
    new = T.inc_subtensor(table[rows], change)
    step = theano.function([rows, change], new.sum(), updates=[(table, new)], mode="NATIVE")
    assert "if (output0 != input0) {" in source(step)
    memory = table.get_value(borrow=True)
    assert step([1, 1, 4], np.ones((3, 3))) == 9
    assert table.get_value(borrow=True) is memory
    assert memory[1].tolist() == [2, 2, 2] and memory.sum() == 9
    with pytest.raises(IndexError):
        step([50], np.ones((1, 3)))
    assert step([0], np.ones((1, 3))) == 12


def test_an_input_that_may_be_overwritten_is():
    x, y = T.dvectors("x", "y")
    passed = [theano.In(x, mutable=True), y]
    f = theano.function(passed, T.exp(x) * 2 + y, mode="NATIVE")
    value, other = np.arange(3.0), np.ones(3)
    expected = np.exp(value) * 2 + other
    result = f(value, other)
    assert result is value
    same([result, other], [expected, np.ones(3)])
    # What another input lies in, is not in order or is read-only stays.
    for given, beside in (
        (base := np.arange(4.0), base[1:]),
        (np.arange(6.0)[::2], np.ones(3)),
        (np.broadcast_to(1.0, 3), np.ones(3)),
    ):
        given = given[:3]
        kept = given.copy()
        same([f(given, beside), given], [np.exp(kept) * 2 + beside, kept])


@pytest.mark.parametrize(
    "result",
    [
        lambda x: [x * 2, x.sum()],
        lambda x: [(x * 2).sum() + x],
        lambda x: [x + x[::-1]],
        lambda x: [x * 2, x + 1],
        lambda x: [x[1:] * 2],
        lambda x: [T.cast(x, "float32") + 1],
    ],
)
def test_an_input_that_is_overwritten_is_read_before(result):
    x = T.dvector("x")
    f = theano.function([theano.In(x, mutable=True)], result(x), mode="NATIVE")
    plain = theano.function([x], result(x), mode=python_mode())
    for length in (1, 5, 100):
        value = numbers(length)
        expected = plain(value.copy())
        same(f(value.copy()), expected)


def test_a_state_is_not_overwritten_and_neither_is_an_input_where_something_may_fail():
    x, s, i = T.dvector("x"), T.dvector("s"), T.lscalar("i")
    start = np.zeros(3)
    step = theano.function([theano.In(s, value=start, update=s + 1)], s * 2, mode="NATIVE")
    before = step[s]
    step()
    same([before, step[s]], [np.zeros(3), np.ones(3)])
    f = theano.function([theano.In(x, mutable=True), i], [x * 2, T.exp(x)[i]], mode="NATIVE")
    value = np.ones(3)
    with pytest.raises(IndexError):
        f(value, 7)
    same([value], [np.ones(3)])


def states_and_values(x, h, w):
    """Return what the loop of `joined` computes, in NumPy."""
    states, values = [], []
    for row in x:
        values.append(np.tanh(row + h))
        h = values[-1] @ w
        states.append(h)
    return np.stack(states), np.stack(values)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_what_a_loop_puts_out_is_joined_with_other_arrays(axis):
    """A loop writes its rows without gaps, so that they are moved where a join has gaps between them."""
    x, h0, w = T.tensor3("x"), T.matrix("h0"), T.matrix("w")

    def step(row, h, w):
        value = T.tanh(row + h)
        return value.dot(w), value

    (states, values), _ = theano.scan(step, x, [h0, None], [w])
    joins = [[states, values], [values, states], [values, x, values], [values * 2, values]]
    outputs = [T.concatenate(join, axis=axis) for join in joins]
    f = theano.function([x, h0, w], [*outputs, theano.grad(T.sqr(outputs[0]).sum(), x)])
    given = [numbers(5, 3, 4), numbers(3, 4), numbers(4, 4)]
    s, v = states_and_values(*given)
    expected = [[s, v], [v, s], [v, given[0], v], [v * 2, v]]
    *found, gradient = f(*given)
    same(found, [np.concatenate(join, axis=axis) for join in expected])
    for alone, join in zip(outputs, expected, strict=True):
        alone = theano.function([x, h0, w], alone, on_unused_input="ignore")
        np.testing.assert_allclose(alone(*given), np.concatenate(join, axis=axis), rtol=1e-12)

    nudge = np.zeros((5, 3, 4))
    nudge[1, 2, 3] = 1e-6
    costs = [
        sum((part**2).sum() for part in states_and_values(given[0] + s * nudge, *given[1:]))
        for s in (1, -1)
    ]
    np.testing.assert_allclose(gradient[1, 2, 3], (costs[0] - costs[1]) / 2e-6, rtol=1e-6)


def test_what_a_loop_in_a_loop_puts_out_is_joined_in_the_step():
    x = T.tensor3("x")

    def outer(rows):
        inner, _ = theano.scan(lambda row: T.exp(row).cumsum(), rows)
        return T.concatenate([inner, rows], axis=1)

    joined, _ = theano.scan(outer, x)
    given = numbers(4, 3, 2)
    expected = np.concatenate([np.exp(given).cumsum(axis=2), given], axis=2)
    np.testing.assert_allclose(theano.function([x], joined)(given), expected, rtol=1e-12)
