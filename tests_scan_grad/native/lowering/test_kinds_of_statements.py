"""Kinds of statements: a new one is one file, and none can leave out what passes ask of it."""

from __future__ import annotations

import re

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.scan.op import Scan

import theano
from tests_scan_grad.native.loops import both, check, native_mode, numbers, same, scan
from tests_scan_grad.native.lowering.toy_kind import NANOSECONDS, MirroredRows, TimesMirrored
from tests_scan_grad.native.runtime import runtime_calls
from theano.link.native import profile, source
from theano.link.native.ir.ir import Buffer, View
from theano.link.native.ir.partitions import Serial, Sharing
from theano.link.native.ir.sizes import Sizes
from theano.link.native.lowering.lowered_loops import loops_of_their_own
from theano.link.native.passes.step_time import nanoseconds
from theano.link.native.render.numbers_in_c import time_in_c
from theano.link.native.render.registry import lines_of, writer_of_task
from theano.link.native.render.writer import Writer
from theano.link.native.statements.base import Statement, Work
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.tasks import WriteEye

STEPS, ROWS, COLUMNS = 6, 4, 150


def loop_with_the_toy():
    x, h, w = pt.dtensor3("x"), pt.dmatrix("h"), pt.dmatrix("w")
    (y,) = scan(
        lambda x, h, w: MirroredRows()(pt.tanh(x + pt.dot(h, w))),
        sequences=[x],
        outputs_info=[h],
        non_sequences=[w],
    )
    weights = numbers(COLUMNS, COLUMNS, seed=2) / COLUMNS
    return [x, h, w], y, [numbers(STEPS, ROWS, COLUMNS), numbers(ROWS, COLUMNS, seed=1), weights]


def lowered(inputs, output):
    """The loop of an output, as the linker lowers it."""
    function = pytensor.function(inputs, output, mode=native_mode())
    (node,) = (n for n in function.maker.fgraph.toposort() if isinstance(n.op, Scan))
    return loops_of_their_own()(node.op, [], "loop")


def test_a_kind_of_statement_in_one_file_runs_in_a_loop_and_outside():
    inputs, y, values = loop_with_the_toy()
    check(inputs, [y, MirroredRows()(inputs[1])], values)


def test_it_is_shared_among_threads(any_work):
    inputs, y, values = loop_with_the_toy()
    native, reference = both(inputs, [y])
    assert re.search(r"j = first\d; j < end\d;", source(native))
    runtime_calls.set_threads(1)
    alone = native(*values)
    same(alone, reference(*values))
    for threads in (2, 3):
        runtime_calls.set_threads(threads)
        np.testing.assert_array_equal(native(*values)[0], alone[0])


def test_it_is_timed_by_the_steps_estimate():
    inputs, y, _ = loop_with_the_toy()
    step = lowered(inputs, y).step
    toys = [statement for statement in step.statements if isinstance(statement, TimesMirrored)]
    assert len(toys) == 1
    (takes,) = nanoseconds(toys, step.sizes)
    assert takes.each == NANOSECONDS and len(takes.shape) == 2
    # with all that takes as often a time
    assert nanoseconds([*toys, *toys], step.sizes) == [Work(2 * NANOSECONDS, takes.shape)]


def test_it_is_counted_in_the_profile():
    inputs, y, values = loop_with_the_toy()
    f = theano.function(inputs, y, mode="NATIVE", profile=True)
    f(*values)
    (loop,) = profile(f).loops
    (counted,) = (s for s in loop.statements if s.text == "timesmirrored")
    assert counted.operation == "MirroredRows" and counted.calls == STEPS
    assert counted.operations == ROWS * COLUMNS * STEPS
    assert counted.bytes == 2 * 8 * ROWS * COLUMNS * STEPS


@pytest.mark.short_segments
def test_statements_that_repeat_are_one_function():
    x = pt.dmatrix("x")
    y = x
    for _ in range(4):
        y = MirroredRows()(y)
    f = pytensor.function([x], y, mode=native_mode())
    expected = numbers(3, 5)
    for _ in range(4):
        expected = expected * expected[::-1]
    same([f(numbers(3, 5))], [expected])
    assert len(re.findall(r"noinline.* statement\d+\(", source(f))) == 1
    assert len(re.findall(r"^ +statement\d+\(", source(f), re.M)) == 4


@pytest.mark.parametrize(
    "lacking", ["values_read", "partition", "touches", "nanoseconds", "operations"]
)
def test_a_kind_that_leaves_something_out_cannot_be_defined(lacking):
    members = {name: value for name, value in vars(TimesMirrored).items() if name != lacking}
    with pytest.raises(TypeError, match=f"Lacking as a kind of statement lacks {lacking}$"):
        type(Statement)("Lacking", (Statement,), members)


def test_a_kind_that_does_not_say_where_it_is_a_function_cannot_be_defined():
    members = {name: value for name, value in vars(TimesMirrored).items() if name != "as_function"}
    with pytest.raises(TypeError, match="lacks as_function"):
        type(Statement)("Lacking", (Statement,), members)


def test_a_kind_that_nothing_writes_as_c_is_named():
    alike = type(Statement)("Unwritten", (Statement,), dict(vars(TimesMirrored)))
    view = View.of(Buffer("x", "float64", (100, 30), "temporary"))
    with pytest.raises(TypeError, match="nothing writes Unwritten as C"):
        lines_of(alike(view, view), Writer(Sizes(), False, lambda kind, text: -1), None)


def test_a_task_that_nothing_writes_as_c_is_named():
    with pytest.raises(TypeError, match="nothing writes Toy as C"):
        writer_of_task(type("Toy", (), {})(), checks=False)
    with pytest.raises(TypeError, match="nothing writes what may fail in WriteEye as C"):
        writer_of_task(WriteEye(), checks=True)


def test_a_kernel_takes_as_long_as_to_move_what_they_touch():
    x, y = (View.of(Buffer(name, "float64", (100, 30), "temporary")) for name in "xy")
    takes = nanoseconds([Kernel([y], [x], None)], Sizes())
    assert takes == [Work(0.2, (100, 30))] and time_in_c(takes) == "0.2 * 100 * 30"


def test_a_loop_inside_takes_all_of_its_steps():
    x, w = pt.dtensor3("x"), pt.dmatrix("w")

    def outer(x, w):
        return scan(
            lambda h, w: pt.tanh(pt.dot(h, w)), outputs_info=[x], non_sequences=[w], n_steps=7
        )[0][-1]

    (y,) = scan(outer, sequences=[x], non_sequences=[w])
    loop = lowered([x, w], y)
    (inner,) = loop.step.loops
    (call,) = (s for s in loop.step.statements if s.called)
    assert len(call.nanoseconds()) == sum(len(s.nanoseconds()) for s in inner.step.statements)
    assert all(work.shape[0] == 7 and work.each > 0 for work in call.nanoseconds())
    assert isinstance(call.partition(Sharing(), loop.step.sizes), Serial)


def test_the_code_says_why_a_step_has_one_thread():
    x = pt.dtensor3("x")
    (y,) = scan(
        lambda x: scan(lambda h: pt.tanh(h), outputs_info=[x], n_steps=3)[0][-1], sequences=[x]
    )
    native, _ = both([x], [y])
    assert "/* One thread: the loop inside is shared among all threads" in source(native)


def test_a_product_that_a_kernel_reads_as_a_whole_is_not_split():
    """Gates that are read apart, and a cumulative sum over all of them."""
    h, w = pt.tensor("h", shape=(3, 4)), pt.tensor("w", shape=(4, 8))

    def step(h, w):
        gates = pt.dot(h, w)
        return pt.tanh(gates[:, :4]) * gates[:, 4:] + 0.1 * pt.cumsum(gates, axis=1)[:, :4]

    (y,) = scan(step, outputs_info=[h], non_sequences=[w], n_steps=3)
    check([h, w], [y], [numbers(3, 4), numbers(4, 8, seed=1)])
