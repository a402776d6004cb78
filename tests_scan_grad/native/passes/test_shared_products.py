"""Steps that run a loop for many steps share its products among threads, and copy no empty memory."""

import theano
from tests_scan_grad.memory.nets import training
from theano.link.native.ir.ir import View
from theano.link.native.lowering.loop import Loop
from theano.link.native.passes.pipeline import watched_passes
from theano.link.native.statements.base import of_kind
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.gemm import Gemm


def segments_of(name):
    """Return the loops over segments that a budget makes of a network."""
    found = []

    def watch(lowered, after):
        if isinstance(lowered, Loop) and after == "place_in_memory":
            found.append(lowered)

    with watched_passes(watch), theano.config.change_flags(cache_optimizations=False):
        training(name, memory_budget=20)
    return [loop for loop in found if loop.name.startswith("segments_of_")]


def test_products_of_segments_are_shared_among_threads():
    loops = segments_of("lstm")
    assert len(loops) >= 2
    for loop in loops:
        products = list(of_kind(loop.step.statements, Gemm))
        assert products and all(product.packed is None for product in products)
        assert not loop.step.packed


def test_a_step_copies_no_memory_that_nothing_has_written():
    for loop in segments_of("gru"):
        for copy in of_kind(loop.step.statements, Copy):
            source = copy.source
            if isinstance(source, View) and source.buffer.root().role == "invariant":
                assert source.ndim < 3
