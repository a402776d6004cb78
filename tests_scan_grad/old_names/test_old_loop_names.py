"""Theano 1.0's names for the parts of a loop and for its rewrites."""

import numpy as np
import pytest
from pytensor.graph.rewriting.utils import rewrite_graph

import theano
import theano.tensor as T
from tests_scan_grad.loop_counts import products
from theano.scan_module.scan_op import Scan


def loops_of(function):
    return [n for n in function.maker.fgraph.toposort() if isinstance(n.op, Scan)]


def cumulated_squares():
    x, c = T.vector("x"), T.scalar("c")
    squares, _ = theano.scan(
        lambda x_t, before, c: before + c * x_t**2,
        sequences=x,
        outputs_info=T.constant(0.0, dtype=c.dtype),
        non_sequences=c,
    )
    return [x, c], squares


def test_the_loops_of_a_compiled_function_are_ours():
    inputs, squares = cumulated_squares()
    for mode in ("FAST_RUN", "FAST_COMPILE"):
        function = theano.function(inputs, squares, mode=mode)
        (node,) = loops_of(function)
        assert function([1.0, 2.0, 3.0], 2.0).tolist() == [2.0, 10.0, 28.0]
        assert node.op.as_while is False


def test_parts_of_a_loop_have_theanos_names():
    _, squares = cumulated_squares()
    node = squares.owner.inputs[0].owner
    op = node.op
    assert (op.n_seqs, op.n_mit_sot, op.n_sit_sot, op.n_nit_sot, op.n_shared_outs) == (
        1,
        0,
        1,
        0,
        0,
    )
    assert (len(op.inputs), len(op.outputs)) == (3, 1)
    assert list(op.outer_seqs(node)) == list(op.outer_seqs(node.inputs))
    assert list(op.outer_sitsot_outs(node)) == list(node.outputs)
    # number of steps | sequence | state | the scalar
    assert op.var_mappings["inner_inp_from_outer_inp"] == {0: [], 1: [0], 2: [1], 3: [2]}
    assert op.var_mappings["outer_inp_from_outer_out"] == {0: 2}


def test_old_names_of_rewrites_exclude_those_of_today():
    x, w = T.matrix("x"), T.matrix("w")
    sums, _ = theano.scan(
        lambda x_t, before, w: T.tanh(before + x_t.dot(w)),
        sequences=x,
        outputs_info=T.zeros((3,)),
        non_sequences=w,
    )

    def products_in_the_step(mode):
        (node,) = loops_of(theano.function([x, w], sums, mode=mode))
        return products(node.op.fn.maker.fgraph)

    mode = theano.Mode("py", "fast_run")
    assert products_in_the_step(mode) == 0
    assert products_in_the_step(mode.excluding("scanOp_pushout_seqs_ops")) == 1


OLD_CLASSES = {
    "PushOutNonSeqScan": {"HoistInvariants"},
    "PushOutSeqScan": {"HoistFromSequences"},
    "PushOutDot1": {"PushOutDotAccumulate"},
    "PushOutScanOutput": {"PushOutDotAccumulate", "PushOutTracedProducts"},
    "ScanSaveMem": {"fewer_steps", "shorten_outputs", "shorten_traces", "trim_empty_buffers"},
    "ScanInplaceOptimizer": {"scan_make_inplace"},
}


@pytest.mark.parametrize("old", OLD_CLASSES)
def test_names_of_old_classes_exclude_the_rewrites_of_today(old):
    def names(mode):
        return {rewrite.name for rewrite in mode.optimizer}

    mode = theano.Mode("py", "fast_run")
    assert names(mode) - names(mode.excluding(old)) == OLD_CLASSES[old]
    with theano.config.change_flags(optimizer_excluding=old, mode="FAST_RUN"):
        left = names(theano.compile.get_default_mode())
    assert not left & OLD_CLASSES[old] and "MergeDots" in left


def products_summed():
    """The last of a state that a product is added to: what follows from w alone is invariant."""
    x, w = T.matrix("x"), T.matrix("w")
    sums, _ = theano.scan(
        lambda x_t, before, w: before + x_t.dot(T.exp(w)),
        sequences=x,
        outputs_info=T.zeros((3,)),
        non_sequences=w,
    )
    return [x, w], sums[-1]


@pytest.mark.parametrize("name", OLD_CLASSES)
def test_old_classes_are_rewrites_of_loops(name):
    inputs, last = products_summed()
    graph = theano.gof.FunctionGraph(inputs, [last], clone=True)
    rewrite_graph(graph, include=("canonicalize",))
    before = loops_of_graph(graph)
    getattr(theano.scan_module.scan_opt, name)().rewrite(graph)
    assert loops_of_graph(graph) != before
    if name == "ScanInplaceOptimizer":
        assert loops_of_graph(graph)[0].op.destroy_map
        return
    f = theano.function(graph.inputs, graph.outputs, mode=theano.Mode("py", None))
    values = np.arange(6.0).reshape(2, 3), np.eye(3)
    np.testing.assert_allclose(f(*values)[0], values[0].sum(0) @ np.exp(values[1]))


def loops_of_graph(graph):
    return [node for node in graph.toposort() if isinstance(node.op, Scan)]
