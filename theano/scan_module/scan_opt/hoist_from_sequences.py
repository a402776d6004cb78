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

from theano.pytensor_base.rewriting import copy_stack_trace
from theano.scan_module.loop.arguments import Loop, Sequence, Trace, fresh_like, take_apart
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.report.describe import describe
from theano.scan_module.scan_opt.loop_rewriter import LoopRewriter
from theano.scan_module.scan_opt.outside.all_steps_at_once import AllSteps
from theano.scan_module.scan_opt.outside.rows_of_sequences import all_rows
from theano.scan_module.step.step_analysis import StepAnalysis, normalized, product_of


class HoistFromSequences(LoopRewriter):
    """Compute products of sequences, and loops without states, for all steps at once."""

    name = "HoistFromSequences"

    def rewrite_loop(self, graph: FunctionGraph, node: Apply) -> None:
        """Hoist what can be hoisted out of one loop."""
        if not node.op.info.n_seqs:
            return
        loop = normalized(take_apart(node))
        step = StepAnalysis(loop)
        candidates = [v for v in products_of_step(loop) if step.follows_from_sequences(v)]
        candidates = [v for v in candidates if step.varies(v)]
        if loop.condition is not None:
            for variable in candidates:
                subject = f"product {describe(variable, loop)}"
                self.note(graph, node, subject, False, "the loop may stop early")
            return
        all_steps = AllSteps(step, {entry.inner: all_rows(entry, loop) for entry in loop.sequences})
        replacements = hoist_traces(loop, all_steps)
        hoisted_traces = [t for t in loop.traces if t.output in replacements]
        loop = replace(loop, traces=tuple(t for t in loop.traces if t not in hoisted_traces))
        values = self._values_to_hoist(graph, node, loop, candidates, all_steps)
        if not values and not hoisted_traces:
            return
        for trace in hoisted_traces:
            subject = f"output {describe(trace.inner, loop)}"
            self.note(graph, node, subject, True, "computed for all steps at once")
        if loop.outputs:
            reduced = with_sequences(loop, values).without_unused_inputs()
            replacements |= reduced.build(type(node.op)).replacements()
        for old, new in replacements.items():
            copy_stack_trace(old, new)
        graph.replace_all(
            [(old, old.type.filter_variable(new)) for old, new in replacements.items()],
            reason=self.name,
        )

    def _values_to_hoist(self, graph, node, loop, candidates, all_steps):
        """The products that the rest of the step still needs, with their values of all steps."""
        still_used = set(products_of_step(loop))
        values: dict[Variable, Variable] = {}
        for variable in candidates:
            if variable not in still_used:
                continue
            value = all_steps.value(variable)
            subject = f"product {describe(variable, loop)}"
            if value is None:
                self.note(graph, node, subject, False, "an operand cannot be had for all steps")
            else:
                self.note(graph, node, subject, True, "one product before the loop")
                values[variable] = value
        return values


def products_of_step(loop: Loop) -> list[Variable]:
    """The products in a step, in the order in which they are computed."""
    graph = FunctionGraph(loop.inner_inputs, loop.inner_outputs, clone=False)
    return [v for node in graph.toposort() for v in node.outputs if product_of(v) is not None]


def hoist_traces(loop: Loop, all_steps: AllSteps) -> dict[Variable, Variable]:
    """Traces that need no loop: those that hold a product, or all if no state is left.

    A trace is hoisted only if it is as long as the loop.
    """
    values: dict[Trace, Variable] = {}
    for trace in loop.traces:
        if trace.length is loop.n_steps and all_steps.step.varies(trace.inner):
            value = all_steps.value(trace.inner)
            if value is not None:
                values[trace] = value
    vanishes = not loop.states and not loop.carried and len(values) == len(loop.traces)
    return {
        trace.output: value
        for trace, value in values.items()
        if vanishes or all_steps.holds_product(trace.inner) or trace.inner.owner is None
    }


def with_sequences(loop: Loop, values: dict[Variable, Variable]) -> Loop:
    """The loop with values of its step read from new sequences."""
    fresh = {variable: fresh_like(variable) for variable in values}
    new_outputs = copied(loop.inner_outputs, fresh)
    sequences = tuple(Sequence(value, fresh[variable]) for variable, value in values.items())
    edited = loop.with_inner_outputs(new_outputs)
    return replace(edited, sequences=(*edited.sequences, *sequences))
