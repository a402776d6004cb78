"""HoistFromSequences: what a step computes from sequences alone is computed before the loop.

A product of a sequence's element with an invariant matrix, the input projection of a recurrent
network, becomes one product of all steps. If nothing of a loop needs a state, as in ``map``, the
loop goes altogether. Elementwise work stays in a loop that runs anyway: there its operands are at
hand, and its results need no memory.

It is legal because such a value does not depend on earlier steps. A loop that may stop early is
left alone: it would compute values of steps that never run.
"""

from __future__ import annotations

from dataclasses import replace

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.order import in_order
from theano.scan_module.loop.arguments import Loop, Sequence, Trace, output_of
from theano.scan_module.loop.roles import Roles
from theano.scan_module.report.describe import describe
from theano.scan_module.report.headings import HOISTED
from theano.scan_module.scan_opt.loop_rewriter import Checked, Finding, LoopRewriter
from theano.scan_module.scan_opt.push_out.all_steps_at_once import AllSteps
from theano.scan_module.scan_opt.push_out.rows_of_sequences import all_rows
from theano.scan_module.step.normal_form import normal_form
from theano.scan_module.step.step_analysis import (
    StepAnalysis,
    correlation_of,
    product_of,
)


class HoistFromSequences(LoopRewriter):
    """Compute products of sequences, and loops without states, for all steps at once."""

    name = "HoistFromSequences"
    heading = HOISTED

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Return which products, and which outputs, follow from sequences alone."""
        if not Roles.of(node.op).sequences:
            return None
        whole = normal_form(node)
        step = StepAnalysis(whole)
        candidates = [v for v in products_of_step(whole) if step.follows_from_sequences(v)]
        candidates = [v for v in candidates if step.varies(v)]
        if whole.condition is not None:
            return Checked([_product(v, whole, "the loop may stop early") for v in candidates])
        known = {entry.inner: all_rows(entry, whole) for entry in whole.sequences}
        all_steps = AllSteps(step, known)
        hoisted = hoist_traces(whole, all_steps)
        loop = replace(whole, traces=tuple(t for t in whole.traces if t not in hoisted))
        still_used = set(products_of_step(loop))
        products = {v: all_steps.value(v) for v in candidates if v in still_used}
        values = {variable: value for variable, value in products.items() if value is not None}

        def transform() -> dict[Variable, Variable]:
            replacements = {output_of(trace): value for trace, value in hoisted.items()}
            if loop.outputs:
                reduced = with_sequences(loop, values).without_unused_inputs()
                replacements |= reduced.build(type(node.op)).replacements()
            return replacements

        findings = [
            _product(v, loop, None if v in values else "an operand cannot be had for all steps")
            for v in products
        ]
        findings += [
            Finding(f"output {describe(trace.inner, loop)}", True, "computed for all steps at once")
            for trace in hoisted
        ]
        return Checked(findings, transform if values or hoisted else None)


def _product(variable: Variable, loop: Loop, why_not: str | None) -> Finding:
    kind = "product" if correlation_of(variable) is None else "correlation"
    subject = f"{kind} {describe(variable, loop)}"
    return Finding(subject, why_not is None, why_not or f"one {kind} before the loop")


def products_of_step(loop: Loop) -> list[Variable]:
    """Return the products and correlations in a step, in the order in which they are computed."""
    graph = FunctionGraph(loop.inner_inputs, loop.inner_outputs, clone=False)
    return [
        v
        for node in in_order(graph)
        for v in node.outputs
        if product_of(v) is not None or correlation_of(v) is not None
    ]


def hoist_traces(loop: Loop, all_steps: AllSteps) -> dict[Trace, Variable]:
    """Return the values of traces that need no loop: those that hold a product, or all if no state is left.

    A trace is hoisted only if it is as long as the loop.
    """
    values: dict[Trace, Variable] = {}
    for trace in loop.traces:
        if trace.length is loop.n_steps and all_steps.step.varies(trace.inner):
            value = all_steps.value(trace.inner)
            if value is not None:
                values[trace] = value
    vanishes = not loop.states and not loop.untraced and len(values) == len(loop.traces)
    return {
        trace: value
        for trace, value in values.items()
        if vanishes or all_steps.holds_product(trace.inner) or trace.inner.owner is None
    }


def with_sequences(loop: Loop, values: dict[Variable, Variable]) -> Loop:
    """Return the loop with values of its step read from new sequences."""
    edited, fresh = loop.with_values_read(list(values))
    sequences = tuple(
        Sequence(known_tensor(value), fresh[variable]) for variable, value in values.items()
    )
    return replace(edited, sequences=(*edited.sequences, *sequences))
