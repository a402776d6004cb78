"""HoistInvariants: what is the same in every step is computed once, before the loop.

It is legal for whatever follows from the loop's invariants alone. What is checked in a step (an
assertion) stays there: a loop of no steps checks nothing. A state or an output that is invariant
stays one; only its value is passed in.
"""

from __future__ import annotations

from dataclasses import replace

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import copy_stack_trace
from pytensor.graph.traversal import ancestors, io_toposort
from pytensor.raise_op import CheckAndRaise

from theano.scan_module.loop import Invariant, Loop, fresh_like, take_apart
from theano.scan_module.scan_opt.describe import describe
from theano.scan_module.scan_opt.loop_rewriter import LoopRewriter
from theano.scan_module.scan_opt.step_analysis import StepAnalysis, normalized


class HoistInvariants(LoopRewriter):
    """Pass to a loop, as invariants, the values that its steps compute from invariants."""

    name = "HoistInvariants"

    def rewrite_loop(self, graph: FunctionGraph, node: Apply) -> None:
        """Hoist the invariant values of one loop."""
        loop = normalized(take_apart(node))
        step = StepAnalysis(loop)
        values = invariant_values(loop, step)
        if not values:
            return
        fresh = {value: fresh_like(value) for value in values}
        edited = loop.with_inner_outputs(clone_replace(loop.inner_outputs, replace=fresh))
        invariants = tuple(
            Invariant(value.type.filter_variable(step.outer_value(value)), fresh[value])
            for value in values
        )
        built = replace(edited, invariants=(*edited.invariants, *invariants)).build(type(node.op))
        replacements = built.replacements()
        for value in values:
            self.note(graph, node, f"invariant {describe(value, loop)}", True, "computed once")
        for old, new in replacements.items():
            copy_stack_trace(old, new)
        graph.replace_all(list(replacements.items()), reason=self.name)


def invariant_values(loop: Loop, step: StepAnalysis) -> list[Variable]:
    """The invariant values that varying operations, or the loop's outputs, read."""
    read: dict[Variable, None] = {}
    for node in io_toposort(loop.inner_inputs, loop.inner_outputs):
        if any(step.varies(output) for output in node.outputs):
            read.update(dict.fromkeys(node.inputs))
    read.update(dict.fromkeys(loop.inner_outputs))
    return [value for value in read if _can_leave(value, step)]


def _can_leave(value: Variable, step: StepAnalysis) -> bool:
    if value.owner is None or isinstance(value, Constant) or step.varies(value):
        return False
    behind = ancestors([value])
    checks = any(v.owner is not None and isinstance(v.owner.op, CheckAndRaise) for v in behind)
    return not checks and any(v in step.invariant_inputs for v in ancestors([value]))
