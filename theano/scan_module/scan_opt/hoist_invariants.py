"""HoistInvariants: what is the same in every step is computed once, before the loop.

It is legal for whatever follows from the loop's invariants alone. What is checked in a step (an
assertion) stays there: a loop of no steps checks nothing. A state or an output that is invariant
stays one; only its value is passed in.
"""

from __future__ import annotations

from dataclasses import replace

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.traversal import ancestors
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import (
    Alloc,
    AllocEmpty,
    MakeVector,
    get_underlying_scalar_constant_value,
)
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.type import TensorType, integer_dtypes

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import order_of
from theano.rewriting.filled_arrays import allocated
from theano.rewriting.lengths import lengths_of
from theano.scan_module.loop.arguments import Invariant, Loop, Trace, output_of
from theano.scan_module.report.describe import describe
from theano.scan_module.report.headings import HOISTED
from theano.scan_module.scan_opt.loop_rewriter import Checked, Finding, LoopRewriter
from theano.scan_module.step.normal_form import normal_form
from theano.scan_module.step.step_analysis import StepAnalysis


class HoistInvariants(LoopRewriter):
    """Pass to a loop, as invariants, the values that its steps compute from invariants."""

    name = "HoistInvariants"
    heading = HOISTED

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Return which values of the step, and which outputs, are the same in every step."""
        whole = normal_form(node)
        step = StepAnalysis(whole)
        repeated = repeated_traces(whole, step)
        loop = replace(whole, traces=tuple(t for t in whole.traces if t not in repeated))
        values = invariant_values(loop, step)
        if not values and not repeated:
            return None

        def transform() -> dict[Variable, Variable]:
            replacements = {output_of(trace): value for trace, value in repeated.items()}
            if loop.outputs:
                reduced = with_invariants(loop, step, values).without_unused_inputs()
                replacements |= reduced.build(type(node.op)).replacements()
            return replacements

        findings = [
            *(Finding(f"invariant {describe(v, loop)}", True, "computed once") for v in values),
            *(
                Finding(f"output {describe(trace.inner, whole)}", True, "one value, repeated")
                for trace in repeated
            ),
        ]
        return Checked(findings, transform)


def repeated_traces(loop: Loop, step: StepAnalysis) -> dict[Trace, Variable]:
    """Traces of an invariant value, which are its repetition; none if the loop may stop early."""
    if loop.condition is not None:
        return {}
    repeated = {}
    for trace in loop.traces:
        known = trace.inner in step.invariant_inputs or _can_leave(trace.inner, step)
        if known and trace.length is loop.n_steps and isinstance(trace.inner.type, TensorType):
            value = step.outer_value(trace.inner)
            rows = allocated(value, loop.n_steps, *lengths_of(value))
            repeated[trace] = output_of(trace).type.filter_variable(rows)
    return repeated


def with_invariants(loop: Loop, step: StepAnalysis, values: list[Variable]) -> Loop:
    """Return the loop with values of its step passed to it."""
    edited, fresh = loop.with_values_read(values)
    invariants = tuple(
        Invariant(value.type.filter_variable(step.outer_value(value)), fresh[value])
        for value in values
    )
    return replace(edited, invariants=(*edited.invariants, *invariants))


def invariant_values(loop: Loop, step: StepAnalysis) -> list[Variable]:
    """Return the invariant values that varying operations, or the loop's outputs, read.

    A list of lengths, or an array of one number everywhere, is made in the step: of it, the lengths
    are read. Engines then know these, and that number. So is memory that nothing has written: a step
    that was passed it would copy it.
    """
    read: dict[Variable, None] = {}
    for node in order_of(loop.inner_outputs):
        if any(step.varies(output) for output in node.outputs):
            for value in node.inputs:
                lengths = None if is_a(node.op, HasInnerGraph) else _lengths_of(value, step)
                read.update(dict.fromkeys([value] if lengths is None else lengths))
    read.update(dict.fromkeys(loop.inner_outputs))
    return [value for value in read if _can_leave(value, step)]


def _lengths_of(value: Variable, step: StepAnalysis) -> list[Variable] | None:
    """Return the lengths that a list of lengths, or an array of one constant or none, is made from; else None."""
    node = value.owner
    if node is None:
        return None
    if is_a(node.op, AllocEmpty):
        known = {v for v in node.inputs if is_a(v, Constant) or v in step.invariant_inputs}
        # lengths that the step would compute engines may not know before it
        return node.inputs if all(v in known or _can_leave(v, step) for v in node.inputs) else None
    if is_a(node.op, Alloc):
        number = get_underlying_scalar_constant_value(node.inputs[0], raise_not_constant=False)
        return None if isinstance(number, Variable) else node.inputs[1:]
    return _items_of(value)


def _items_of(value: Variable) -> list[Variable] | None:
    """Return the integers that a list is put together from; None of what is no such list."""
    node, kind = value.owner, value.type
    if node is None or not isinstance(kind, TensorType) or kind.dtype not in integer_dtypes:
        return None
    is_item = is_a(node.op, DimShuffle) and node.inputs[0].type.ndim == 0
    if is_a(node.op, MakeVector) or is_item:
        return node.inputs
    is_part = is_a(node.op, Subtensor) and all(is_a(v, Constant) for v in node.inputs[1:])
    return _items_of(node.inputs[0]) if is_part else None


def _can_leave(value: Variable, step: StepAnalysis) -> bool:
    if value.owner is None or is_a(value, Constant) or step.varies(value):
        return False
    behind = ancestors([value])
    # checks of shapes are statements about lengths, which are the same without a step
    is_length = isinstance(value.type, TensorType) and value.type.dtype in integer_dtypes
    checks = any(v.owner is not None and isinstance(v.owner.op, CheckAndRaise) for v in behind)
    return (is_length or not checks) and any(v in step.invariant_inputs for v in ancestors([value]))
