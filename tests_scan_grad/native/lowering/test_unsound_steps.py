"""Verification, on request, of what lowerings and passes make, after each pass."""

import pytensor
import pytensor.tensor as pt
import pytest

import theano
from tests_scan_grad.native.loops import native_mode, numbers
from theano.link.native.ir.ir import Buffer, Scalar, View
from theano.link.native.lowering import lowered_loops
from theano.link.native.lowering.step import Step
from theano.link.native.passes import pipeline
from theano.link.native.spec.statements import UnsoundStep, verify
from theano.link.native.statements.copy import Copy
from theano.link.native.statements.gemm import Gemm
from theano.link.native.statements.numbers import Load


def matrix(name, *shape, role="invariant"):
    return View.of(Buffer(name, "float64", shape, role))


def step_with(*statements):
    step = Step("step")
    step.number_types["v0"] = "float64"
    for statement in statements:
        step.append(statement)
    return step


def test_a_number_that_is_read_before_it_is_defined():
    copy = Copy(matrix("y", 2, role="row"), Scalar("v0", "float64"))
    one = View(matrix("x", 2).buffer, (), (), (), (1,))
    verify(step_with(Load(Scalar("v0", "float64"), one), copy), "the lowering")
    with pytest.raises(UnsoundStep, match="statement 0 of step, copy: it reads v0 before"):
        verify(step_with(copy), "the lowering")


def test_a_temporary_that_nothing_has_written():
    x, y = matrix("t0", 2, role="temporary"), matrix("y", 2, role="row")
    verify(step_with(Copy(x, matrix("x", 2)), Copy(y, x)), "the lowering")
    with pytest.raises(UnsoundStep, match="it reads t0, which nothing has written"):
        verify(step_with(Copy(y, x)), "the lowering")


@pytest.mark.parametrize("start, step", [(1, 1), (-1, 1), (1, -1), (0, 2)])
def test_a_view_outside_of_its_buffer(start, step):
    buffer = Buffer("x", "float64", (4,), "invariant")
    part = View(buffer, (4,), (0,), (step,), (start,))
    with pytest.raises(UnsoundStep, match="a view of x reaches from .* axis 0, whose size is 4"):
        verify(step_with(Copy(matrix("y", 4, role="row"), part)), "the lowering")


def test_a_view_with_an_axis_too_few():
    buffer = Buffer("x", "float64", (4, 5), "invariant")
    part = View(buffer, (4,), (0,), (1,), (0,))
    with pytest.raises(UnsoundStep, match="a view of x has"):
        verify(step_with(Copy(matrix("y", 4, role="row"), part)), "the lowering")


def test_shapes_that_disagree_and_an_operand_that_is_not_packed():
    a, b, out = matrix("a", 2, 3), matrix("b", 4, 5), matrix("y", 2, 5, role="row")
    with pytest.raises(UnsoundStep, match="sizes are 4 and 3 that must be the same"):
        verify(step_with(Gemm(a, b, out)), "the lowering")
    with pytest.raises(UnsoundStep, match="its operand is at 0 among 0 that are packed"):
        verify(step_with(Gemm(a, matrix("b", 3, 5), out, 0)), "the lowering")


def loop_of_a_product():
    """A loop that was not lowered before."""
    lowered_loops._lowered.cache_clear()
    x, w = pt.dmatrix("x"), pt.dmatrix("w")
    y = pytensor.scan(
        lambda h, w: pt.tanh(pt.dot(h, w)),
        outputs_info=[x],
        non_sequences=[w],
        n_steps=3,
        return_updates=False,
    )
    return [x, w], y


def test_a_pass_that_breaks_a_step_is_named(monkeypatch):
    def lose_the_first_statement(lowered):
        del lowered.step.statements[:1]

    broken = pipeline.Pass(lose_the_first_statement, (pipeline.Loop,))
    monkeypatch.setattr(pipeline, "PASSES", (*pipeline.PASSES, broken))
    inputs, y = loop_of_a_product()
    with pytest.raises(UnsoundStep, match="after lose_the_first_statement, statement 0 of "):
        pytensor.function(inputs, pt.exp(-y) + 0.125, mode=native_mode())


def test_it_is_a_flag():
    """The flag is set in all of these tests, and off for users."""
    assert theano.config.native.verify
    looked = []
    inputs, y = loop_of_a_product()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "verify", lambda step, after: looked.append(after))
        f = pytensor.function(inputs, y, mode=native_mode())
        assert {"the lowering", "mark_materialized", "overwrite_inputs"} <= {*looked}
        looked.clear()
        with theano.change_flags({"native.verify": False}):
            pytensor.function(inputs, 2 * y, mode=native_mode())
        assert not looked
    assert f(numbers(2, 2), numbers(2, 2, seed=1)).shape[1:] == (2, 2)


def test_rows_without_gaps_in_a_place_with_gaps():
    class RowsWithoutGaps(Copy):
        def views_without_gaps(self):
            return [self.target]

    for width, wrong in ((3, False), (5, True)):
        rows, joined = (
            matrix("t0", 2, 3, role="temporary"),
            matrix("y", 2, width, role="row").buffer,
        )
        rows.buffer.place = View(joined, (2, 3), (0, 1), (1, 1), (0, 0))
        step = step_with(RowsWithoutGaps(rows, matrix("x", 2, 3)))
        if wrong:
            with pytest.raises(UnsoundStep, match="it writes t0 without the gaps"):
                verify(step, "the lowering")
        else:
            verify(step, "the lowering")
