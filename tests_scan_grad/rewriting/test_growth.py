"""Rewriting grows like the graph: what it calls, for graphs of n, 2n and 4n parts."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
import pytest
from pytensor.graph.features import Feature
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.utils import MissingInputError

import theano
import theano.tensor as T
from theano.rewriting.arranged import canonicalize
from theano.rewriting.imports import imports_by_membership

# what twice as many parts may add, next to what the parts added before
MOST = 2.4


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions of Python are called."""
    counts: Counter[str] = Counter()

    def count(frame, event, argument):
        counts[event] += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counts["call"]


def growth(compiled: Callable[[int], object], parts: int) -> float:
    """Return the ratio of what 2n parts add to 2n to what n parts add to n."""
    # what is imported, and compared for the first time
    compiled(3)
    few, more, most = (calls_of(lambda n=n: compiled(n)) for n in (parts, 2 * parts, 4 * parts))
    return (most - more) / (more - few)


def canonical(inputs, outputs) -> FunctionGraph:
    """Rewrite a copy of a graph as modes of this package begin to."""
    graph = FunctionGraph(inputs, outputs, clone=True)
    canonicalize(graph)
    return graph


def chain(length: int) -> None:
    """Rewrite the gradient of a chain, which is a product of as many sums."""
    x = T.dvector("x")
    h = x
    for _ in range(length):
        h = T.tanh(h)
    canonical([x], [theano.grad(h.sum(), x)])


def test_calls_grow_like_the_graph():
    assert growth(chain, 20) < MOST


@pytest.mark.parametrize("known", [True, False])
def test_nodes_are_imported_in_pytensors_order(known):
    x, y = T.dvector("x"), T.dvector("y")
    old = T.exp(x)
    graph = FunctionGraph([x, y], [old + T.log(y)], clone=False)
    orders: list[list] = []
    for by_membership in (False, True):
        seen: list = []

        class Watch(Feature):
            def on_import(self, fgraph, node, reason, seen=seen):
                seen.append(node.op)

        shared = T.log(y) if known else T.sin(y)
        new = T.tanh(shared * T.sqr(x)) + T.cos(shared)
        copied = graph.clone()
        with imports_by_membership(copied) if by_membership else nullcontext():
            copied.attach_feature(Watch())
            seen.clear()
            first = copied.outputs[0].owner.inputs[0]
            mapped = dict(zip(graph.inputs, copied.inputs, strict=True))
            copied.replace(first, clone_replace(new, mapped), reason="a test")
        assert "import_node" not in vars(copied)
        assert {c for v in copied.variables for c in copied.clients[v]} >= {
            (node, k) for node in copied.apply_nodes for k in range(len(node.inputs))
        }
        orders.append(seen)
    assert orders[0] == orders[1]
    assert len(orders[0]) == 6


def test_an_input_that_is_missing_is_named():
    x, missing = T.dvector("x"), T.dvector("missing")
    graph = FunctionGraph([x], [T.exp(x)], clone=False)
    with imports_by_membership(graph), pytest.raises(MissingInputError, match="missing"):
        graph.replace(graph.outputs[0], T.log(missing))


def test_a_product_of_many_sums_is_not_multiplied_out():
    x = T.dvector("x")
    values = [1 - T.sqr(T.sin(k * x)) for k in range(2, 40)]
    graph = canonical([x], [T.mul(*values)])
    product = graph.outputs[0].owner
    assert len(product.inputs) == len(values)


@pytest.mark.parametrize("combined", [T.add, T.mul])
def test_partial_sums_that_others_read_are_kept(combined):
    x = T.dvector("x")
    partial, read = x, []
    for k in range(2, 20):
        partial = combined(partial, T.sin(k * x))
        read.append(T.tanh(partial))
    graph = canonical([x], [*read, partial])
    sizes = [len(node.inputs) for node in graph.apply_nodes if node.op == combined]
    assert max(sizes) == 2
    # the sines have a product each
    assert len(sizes) == (len(read) if combined is T.add else 2 * len(read))


def test_partial_products_that_others_read_are_kept_next_to_quotients_and_constants():
    x = T.dvector("x")
    partial, read = x, []
    for k in range(2, 20):
        partial = partial * T.sin(x + k) / 3
        read.append(T.tanh(partial))
    graph = canonical([x], [*read, partial])
    sizes = [len(node.inputs) for node in graph.apply_nodes if node.op in (T.mul, T.true_div)]
    assert sum(sizes) <= 3 * len(read)


def test_the_gradient_of_a_network_with_residuals_adds_once_a_layer():
    x, weights = T.dmatrix("x"), [T.dmatrix(f"W{k}") for k in range(8)]
    h = x
    for weight in weights:
        h = h + T.tanh(T.dot(h, weight))
    function = theano.function([x, *weights], theano.grad(T.sqr(h).sum(), weights))
    sums = [node for node in function.maker.fgraph.apply_nodes if node.op == T.add]
    assert {len(node.inputs) for node in sums} == {2}
    assert len(sums) <= 2 * len(weights)


def test_sums_are_flat_but_for_what_others_read():
    x, y, z, w = T.dvectors("x", "y", "z", "w")
    partial = x + y
    graph = canonical([x, y, z, w], [T.exp(partial), T.exp(partial + (z + w))])
    kept, flat = graph.outputs
    terms = flat.owner.inputs[0].owner.inputs
    assert terms == [kept.owner.inputs[0], *graph.inputs[2:]]


def test_what_cancels_does_so_whoever_reads_it():
    x, y = T.dvectors("x", "y")
    product, total = x * y, x + y
    outputs = [product, product / y, total, total - y]
    graph = canonical([x, y], outputs)
    assert graph.outputs[1] is graph.inputs[0]
    assert graph.outputs[3] is graph.inputs[0]


def test_what_cancels_keeps_the_length_of_what_is_left():
    s, x = T.dscalar("s"), T.dvector("x")
    product = s * T.exp(x)
    function = theano.function([s, x], [T.tanh(product), product / T.exp(x)], mode="FAST_COMPILE")
    np.testing.assert_array_equal(function(2.0, [1000.0, 1.0])[1], [2.0, 2.0])
