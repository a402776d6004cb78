"""Rewriting until nothing changes visits what changed, and ends."""

from collections import Counter

import pytest
from pytensor.graph.features import Feature, ReplaceValidate
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import (
    EquilibriumGraphRewriter,
    MergeOptimizer,
    node_rewriter,
)
from pytensor.graph.utils import InconsistencyError

import theano
import theano.tensor as T
from theano.rewriting.equilibrium import Equilibrium


def counting_rewriter(visits):
    """Takes one exp off the end of a chain of exps under a tanh, one a sweep."""

    @node_rewriter(None)
    def shorten(fgraph, node):
        visits[node.op] += 1
        if node.op == T.tanh and node.inputs[0].owner and node.inputs[0].owner.op == T.exp:
            return [T.tanh(node.inputs[0].owner.inputs[0])]
        return None

    return shorten


def equilibria(visits):
    rewriters = [counting_rewriter(visits)]
    theirs = EquilibriumGraphRewriter(
        rewriters, max_use_ratio=10.0, cleanup_rewriters=[MergeOptimizer()]
    )
    theirs.name = "equilibrium"
    return theirs, Equilibrium(theirs)


def test_later_sweeps_visit_what_changed():
    length, others = 30, 200
    visits = []
    for which in (0, 1):
        x = y = T.vector("x")
        for _ in range(length):
            y = T.exp(y)
        unrelated = x
        for _ in range(others):
            unrelated = T.sin(unrelated)
        graph = FunctionGraph([x], [T.tanh(y), unrelated], clone=False)
        counted = Counter()
        equilibria(counted)[which].rewrite(graph)
        assert graph.outputs[0].owner.inputs[0] is x
        visits.append(counted)
    theirs, ours = visits
    assert theirs[T.sin] > length * others
    assert ours[T.sin] == others


def test_a_rewrite_without_end_is_said(monkeypatch):
    @node_rewriter([T.exp, T.sin])
    def there_and_back(fgraph, node):
        return [(T.sin if node.op == T.exp else T.exp)(node.inputs[0])]

    theirs = EquilibriumGraphRewriter([there_and_back], max_use_ratio=10.0)
    theirs.name = "endless"
    x = T.vector("x")
    graph = FunctionGraph([x], [T.exp(x)], clone=False)
    with pytest.raises(AssertionError, match="endless: .*there_and_back.* were applied"):
        with theano.change_flags(on_opt_error="raise"):
            Equilibrium(theirs).rewrite(graph)


class NoSine(Feature):
    """Refuses a graph that has a sine."""

    def on_validate(self, fgraph):
        if any(node.op == T.sin for node in fgraph.apply_nodes):
            raise InconsistencyError("a sine")


def test_a_rewrite_whose_result_is_refused_is_not_tried_for_ever():
    tries = Counter()

    @node_rewriter([T.exp, T.cosh])
    def to_sine(fgraph, node):
        tries[node.op] += 1
        assert tries.total() < 100, "there is no end"
        return [T.sin(node.inputs[0])]

    x = T.vector("x")
    graph = FunctionGraph([x], [T.tanh(T.exp(T.cosh(x)))], clone=False)
    graph.attach_feature(ReplaceValidate())
    graph.attach_feature(NoSine())
    theirs = EquilibriumGraphRewriter(
        [to_sine], failure_callback=EquilibriumGraphRewriter.warn_inplace, max_use_ratio=10.0
    )
    Equilibrium(theirs).rewrite(graph)
    assert tries == {T.exp: 1, T.cosh: 1}
    assert [node.op for node in graph.toposort()] == [T.cosh, T.exp, T.tanh]
