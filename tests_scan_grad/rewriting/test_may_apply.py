"""A rewrite of which it is said that it cannot do anything does nothing."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytensor.compile.mode import optdb
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import PatternNodeRewriter

import theano
import theano.tensor as T
from tests_scan_grad import networks
from tests_scan_grad.loop_counts import theano_scan
from theano.pytensor_internals.graphs.rewriting import names_in
from theano.rewriting import chosen, equilibrium, may_apply
from theano.rewriting.changes import Changes, attached
from theano.tensor import nnet


@pytest.fixture(scope="module")
def refused():
    """Provide how often each rewrite was left out; each is also applied, and changes nothing."""
    counts: Counter[str] = Counter()
    node_question, graph_question = may_apply.node_question, may_apply.graph_question

    def of_node(rewriter):
        question = node_question(rewriter)

        def asked(fgraph, node):
            answer = question(fgraph, node)
            if not answer:
                counts[str(rewriter)] += 1
                assert not rewriter.transform(fgraph, node), f"{rewriter} changes {node}"
            return answer

        return question and asked

    def of_graph(rewriter):
        question = graph_question(rewriter)

        def asked(fgraph):
            answer = question(fgraph)
            if not answer:
                counts[str(rewriter.name)] += 1
                with attached(fgraph, Changes()) as changes:
                    rewriter.apply(fgraph)
                assert changes.count == 0, f"{rewriter} changes the graph"
            return answer

        return question and asked

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equilibrium, "node_question", of_node)
        patch.setattr(equilibrium, "graph_question", of_graph)
        patch.setattr(theano.config, "cache_optimizations", False)
        # the rewrites of a mode keep their questions
        chosen._kept.cache_clear()
        yield counts
    chosen._kept.cache_clear()


@pytest.mark.parametrize("build", [networks.lstm, networks.attention, networks.bidirectional])
def test_of_networks(build, refused):
    network = build(theano_scan)
    cost, weights = network.cost, network.weights
    changed, updates = [], []
    for weight, slope in zip(weights, theano.grad(cost, weights), strict=True):
        mean, square = (theano.shared(np.zeros((1,) * weight.ndim)) for _ in range(2))
        means, squares = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * T.sqr(slope)
        updates += [(mean, means[:1]), (square, squares[:1])]
        changed.append(weight - 0.01 * (means / 0.9) / (T.sqrt(squares / 0.99) + 1e-8))
    theano.function(network.inputs, [cost, *changed], updates=updates)
    asked = {"local_greedy_distributor", "topo_constant_folding"}
    asked |= {"local_add_canonizer", "local_mul_canonizer"}
    asked |= {"local_useless_elemwise", "local_useless_elemwise_comparison", "local_expm1"}
    # its work is another's in PyTensor 3.3, where nobody registers it
    asked |= {"local_mul_zero"} & names_in(optdb["canonicalize"])
    for name in asked:
        assert refused[name] > 0


UNARY = (
    T.neg,
    T.exp,
    T.log,
    T.log1p,
    T.tanh,
    T.arctanh,
    T.sqr,
    nnet.sigmoid,
    T.erf,
    lambda x: 1 - x,
    lambda x: -1 + x,
    lambda x: T.exp(x) - 1,
    lambda x: -1 + T.exp(x),
    lambda x: 1 / x,
    lambda x: 3 * x,
    lambda x: x + np.int8(3),
    lambda x: x / 2,
    lambda x: x * T.constant(np.ones((1, 1))),
    T.inv,
    abs,
    lambda x: x.T,
    lambda x: x.dimshuffle("x", *range(x.ndim)) if x.ndim < 2 else x,
    T.zeros_like,
    lambda x: T.ones_like(x) * 2,
    lambda x: x.sum(axis=0) if x.ndim else x,
    lambda x: x[:1] if x.ndim else x,
)
BINARY = (
    T.add,
    T.sub,
    T.mul,
    T.true_div,
    T.fill,
    lambda a, b: a * (b + a) / b,
    lambda a, b: (a - b) - (b - a),
    lambda a, b: a / (b * 2) / abs(a),
    lambda a, b: (a / b + 1) * b,
    lambda a, b: T.switch(T.gt(a, 0), a, b),
    lambda a, b: a * np.float64(0),
    lambda a, b: T.maximum(a, a) + T.minimum(b, b.shape.sum()),
    lambda a, b: T.switch(T.lt(a.shape.sum(), 0), a, b),
    lambda a, b: T.switch(T.and_(T.eq(a, a), T.neq(b, a)), a, b),
    lambda a, b: T.switch(T.or_(T.ge(a, a), T.le(b.shape.prod(), a)), a, b),
)


@st.composite
def expressions(draw):
    """An expression of square matrices, numbers and constants."""
    values = [T.matrix("x"), T.matrix("y"), T.scalar("s"), T.lvector("i")]
    values += [T.constant(2.0), T.constant(np.zeros(3)), T.constant(3)]
    for _ in range(draw(st.integers(1, 9))):
        if draw(st.booleans()):
            values.append(draw(st.sampled_from(UNARY))(draw(st.sampled_from(values))))
        else:
            pair = draw(st.sampled_from(values)), draw(st.sampled_from(values))
            values.append(draw(st.sampled_from(BINARY))(*pair))
    return values


@settings(deadline=None, max_examples=150)
@given(values=expressions())
def test_of_generated_expressions(values, refused):
    rewriter = theano.Mode("native").excluding("inplace").optimizer
    inputs = values[:4]
    rewriter.rewrite(FunctionGraph(inputs, [values[-1], values[-1].sum()], clone=True))


@pytest.mark.parametrize(
    ("expression", "simplified"),
    [
        (lambda x: T.neg(T.neg(x)), lambda x: x),
        (lambda x: T.log(1 - nnet.sigmoid(x)), lambda x: -nnet.softplus(x)),
        (lambda x: 1 - T.erf(x), T.erfc),
        (lambda x: (x / T.tanh(x) + 1) * T.tanh(x), lambda x: x + T.tanh(x)),
        (lambda x: x * T.zeros_like(x), T.zeros_like),
    ],
)
def test_what_applies_is_applied(expression, simplified, refused):
    x = T.matrix("x")
    found, expected = (
        theano.function([x], [of(x)], mode="NATIVE").maker.fgraph.toposort()
        for of in (expression, simplified)
    )
    assert [str(node.op) for node in found] == [str(node.op) for node in expected]


def test_patterns_are_left_out_by_their_operations(refused):
    pattern = PatternNodeRewriter((T.exp, (T.log, "x")), "x", name="exp_of_log")
    # PyTensor 3.3 matches as quickly as anyone could ask
    question = may_apply.node_question(pattern) or pattern.transform
    x = T.matrix("x")
    fgraph = FunctionGraph([x], [T.exp(T.log(x)), T.exp(x), T.log(x)], clone=False)
    applies = [bool(question(fgraph, output.owner)) for output in fgraph.outputs]
    assert applies == [True, False, False]
