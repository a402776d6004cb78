"""The order of a graph's nodes is the one that PyTensor finds, whatever the graph is like."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import toposort

import theano
import theano.tensor as T
from theano.pytensor_internals.graphs.order import in_order, order_of

KINDS = {
    "add": lambda a, b: a + b,
    "dot": T.dot,
    "constant": lambda a, b: a * 2.0 + b * np.ones(3),
    "first": lambda a, b: T.max_and_argmax(a)[0] + b,
    "second": lambda a, b: T.max_and_argmax(a)[1] + b,
}


def graph(steps):
    """Variables, each computed from two before it."""
    made = [T.vector("x"), T.vector("y")]
    for kind, left, right in steps:
        a, b = made[left % len(made)], made[right % len(made)]
        made.append(KINDS[kind](a.flatten(), b.flatten()) + T.zeros(3))
    return made


STEPS = st.lists(
    st.tuples(st.sampled_from(sorted(KINDS)), st.integers(0, 30), st.integers(0, 30)), max_size=12
)


@settings(max_examples=60, deadline=None)
@given(STEPS, st.lists(st.integers(0, 30), max_size=4), st.lists(st.integers(0, 30), max_size=3))
def test_the_order_is_pytensors(steps, read, known):
    made = graph(steps)
    outputs = [made[k % len(made)] for k in read]
    blockers = {made[k % len(made)] for k in known}
    assert order_of(outputs) == list(toposort(outputs))
    assert order_of(outputs, blockers) == list(toposort(outputs, blockers=blockers))


def test_what_is_read_behind_what_overwrites_it_comes_first():
    x = T.vector("x")
    graph = FunctionGraph([x], [T.inc_subtensor((x + 1)[:1], 2), (x + 1).sum()], clone=False)
    assert in_order(graph) == graph.toposort()
    function = theano.function([theano.In(x, mutable=True)], [x.sum(), T.set_subtensor(x[:1], 7)])
    optimized = function.maker.fgraph
    assert in_order(optimized) == optimized.toposort()
    total, changed = function(np.arange(3.0))
    assert total == pytest.approx(3) and changed[0] == 7
