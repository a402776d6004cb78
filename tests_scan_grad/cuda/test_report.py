"""The report of a function's kernels, and the number of blocks that the model finds."""

from __future__ import annotations

import numpy as np
import pytest

import theano
import theano.tensor as T
from tests_scan_grad.cuda.measured import gated_gradient
from tests_scan_grad.loop_counts import python_mode
from theano.ifelse import ifelse
from theano.link.cuda import Device, NoKernel, report
from theano.link.cuda.kernel import kernel_of_loop, lowered
from theano.pytensor_internals.graphs.scan import Scan


def shapes(batch: int, width: int) -> list[np.ndarray]:
    """Return inputs of a gated network."""
    zeros = np.zeros((3, batch, width), "float32")
    return [zeros, zeros[0], *[np.zeros((width, width), "float32")] * 3]


def test_a_small_network_has_one_block_and_a_large_one_many():
    function = gated_gradient("float32")
    small, large = (report(function, *shapes(*sizes)).loops for sizes in ((1, 64), (32, 512)))
    assert [loop.name for loop in small] == ["gated", "grad_of_gated"]
    assert {loop.kernel.blocks for loop in small} == {1}
    assert {loop.kernel.barriers for loop in small} == {0}
    assert {loop.kernel.blocks for loop in large} == {128}
    assert {loop.kernel.barriers for loop in large} == {2}
    assert "128 blocks of 256 threads" in str(large[0])


def test_products_of_one_state_read_it_once():
    (forward, backward) = report(gated_gradient("float32"), *shapes(16, 256)).loops
    counts = [
        [len(group.products) for group in loop.kernel.plan.groups.values()]
        for loop in (forward, backward)
    ]
    assert counts == [[2, 1], [1, 1]]


def test_weights_that_do_not_fit_are_refused():
    loops = report(
        gated_gradient("float32"), *shapes(2, 64), device=Device(blocks=2, own_bytes=4096)
    ).loops
    assert [loop.kernel for loop in loops] == [None, None]
    assert "bytes in each block's memory, which has 4096" in loops[0].reason


def test_no_block_has_more_than_the_device_has():
    device = Device(own_bytes=163 * 1024)
    for loop in report(gated_gradient("float32"), *shapes(80, 1000), device=device).loops:
        assert loop.kernel is None or loop.kernel.own_bytes <= device.own_bytes


def test_shared_variables_and_loops_without_a_kernel():
    w = theano.shared(np.ones((3, 3)), name="w")
    x = T.matrix("x")
    h, _ = theano.scan(lambda x, h: T.tanh(x + h.dot(w)), x, T.zeros(3), name="plain")

    def with_loop(row):
        inner, _ = theano.scan(lambda a, b: a * T.tanh(b), row, T.zeros(()), name="inner")
        return inner[-1]

    nested, _ = theano.scan(lambda h, s: s + with_loop(T.tanh(h + s)), h, T.zeros(()), name="outer")
    function = theano.function([x], nested)
    found = {loop.name: loop for loop in report(function, np.ones((4, 3))).loops}
    assert found["plain"].kernel is not None
    assert str(found["outer"]) == "outer: no kernel: a loop inside it"


def test_a_missing_input_is_an_error():
    function = gated_gradient("float32")
    with pytest.raises(TypeError, match="report: the function takes the arguments .* missing: "):
        report(function, *shapes(1, 4)[:2])


def test_shapes_that_do_not_fit_together_are_refused():
    x, w = T.matrix("x"), T.matrix("w")
    h, _ = theano.scan(lambda x, h, w: T.tanh(x + h.dot(w)), x, T.zeros_like(x[0]), non_sequences=w)
    function = theano.function([x, w], h, mode=python_mode())
    (node,) = (n for n in function.maker.fgraph.toposort() if isinstance(n.op, Scan))
    loop = lowered(node.op)
    sizes = {a.name: (3, 4) if len(a.shape) == 2 else (3,) for a in loop.arguments}
    with pytest.raises(NoKernel, match="sizes"):
        kernel_of_loop(loop, sizes)


def test_a_lazy_choice_is_refused():
    x = T.vector("x")
    s, _ = theano.scan(
        lambda x, s: ifelse(T.gt(x, 0), T.tanh(s.dot(T.ones((3, 3)))), s), x, T.ones(3), name="lazy"
    )
    (loop,) = report(theano.function([x], s), np.ones(4)).loops
    assert str(loop) == "lazy: no kernel: a lazy choice inside it"
