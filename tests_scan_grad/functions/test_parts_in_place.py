"""Changes of a part of an array: in its own memory where the graph allows it, asked for together."""

import numpy as np
import pytest
from pytensor.graph.destroyhandler import DestroyHandler
from pytensor.tensor.subtensor import IncSubtensor

import theano
import theano.tensor as T


def changes(function):
    """For each change of a part, in the order of computation, whether it overwrites."""
    order = function.maker.fgraph.toposort()
    return [node.op.inplace for node in order if isinstance(node.op, IncSubtensor)]


def rows_of_many_tables(count):
    """A function that changes a row of each of so many arrays."""
    x = T.matrix("x")
    return theano.function([x], [T.set_subtensor(T.exp(x + k)[0], k) for k in range(count)])


def test_a_table_that_is_read_elsewhere_is_overwritten_after_that():
    table = theano.shared(np.arange(6.0).reshape(3, 2))
    new = T.set_subtensor(table[1], 9.0)
    f = theano.function([], [table.sum(), 2 * table[1]], updates=[(table, new)])
    assert changes(f) == [True]
    total, row = f()
    assert total == 15 and row.tolist() == [4, 6]
    assert table.get_value().tolist() == [[0, 1], [9, 9], [4, 5]]


def test_what_a_caller_passes_stays_as_it_is():
    x = T.vector("x")
    f = theano.function([x], T.set_subtensor(x[0], 5.0))
    given = np.ones(3)
    assert f(given).tolist() == [5, 1, 1] and given.tolist() == [1, 1, 1]
    assert changes(f) == [False]
    g = theano.function([theano.In(x, mutable=True)], T.set_subtensor(x[0], 5.0))
    assert changes(g) == [True]


def test_two_changes_of_one_table_do_not_see_each_other():
    table = theano.shared(np.zeros(4))
    first, second = T.set_subtensor(table[0], 1.0), T.set_subtensor(table[1], 2.0)
    f = theano.function([], second, updates=[(table, first)])
    assert f().tolist() == [0, 2, 0, 0]
    assert table.get_value().tolist() == [1, 0, 0, 0]
    assert sorted(changes(f)) in ([False, False], [False, True])


def test_a_change_of_a_changed_array_overwrites_it_too():
    x = T.vector("x")
    y = T.inc_subtensor(T.set_subtensor(T.exp(x)[0], 0.0)[1:], 1.0)
    f = theano.function([x], y)
    assert changes(f) == [True, True]
    np.testing.assert_allclose(f([0.0, 0.0, 0.0]), [0, 2, 2])


@pytest.mark.parametrize("count", [3, 12])
def test_the_graph_is_asked_once_for_all(count, monkeypatch):
    asked = []
    validate = DestroyHandler.on_validate
    monkeypatch.setattr(
        DestroyHandler, "on_validate", lambda *args: asked.append(1) or validate(*args)
    )
    f = rows_of_many_tables(count)
    assert changes(f) == [True] * count
    # the parts, and the results
    assert len(asked) <= 2
    np.testing.assert_allclose(f(np.zeros((2, 1)))[2], [[2], [np.exp(2)]])


def test_nothing_watches_what_is_overwritten_before_something_is():
    x = T.vector("x")
    watched = []

    def look(name):
        def see(fgraph):
            watched.append((name, hasattr(fgraph, "destroy_handler")))

        see.__name__ = name
        return theano.gof.optimizer(see)

    mode = theano.compile.mode.get_mode("FAST_RUN").register(
        (look("before"), 49), (look("after"), 76)
    )
    theano.function([x], T.set_subtensor(T.exp(x)[0], 1.0), mode=mode)
    assert watched == [("before", False), ("after", True)]
