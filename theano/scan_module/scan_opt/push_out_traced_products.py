"""PushOutTracedProducts: a product that no later step reads is computed once, after the loop.

An output layer in the step of a network, or the gradient with respect to a sequence, ends in a
trace: no state depends on it. Then the loop need only store the operand, and the product of all
steps is one:

    for t:  dx[t] = d[t].dot(U.T)      ->   dx = D.dot(U.T), the rows of all steps at once

What lies between the product and the trace leaves the loop with it. It is legal because no step
reads the value; where an operand is not available outside, it is kept in place of the trace.
"""

from __future__ import annotations

from dataclasses import replace

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.annotations import only_result
from theano.scan_module.loop.arguments import Loop, Trace, output_of
from theano.scan_module.loop.available_rows import Available, available_values
from theano.scan_module.loop.roles import Roles
from theano.scan_module.report.describe import describe
from theano.scan_module.report.headings import PUSHED_OUT
from theano.scan_module.scan_opt.loop_rewriter import Checked, Finding, LoopRewriter
from theano.scan_module.scan_opt.push_out.all_steps_at_once import AllSteps
from theano.scan_module.scan_opt.push_out.outside_values import values_of_all_steps
from theano.scan_module.step.normal_form import normal_form
from theano.scan_module.step.step_analysis import StepAnalysis


class PushOutTracedProducts(LoopRewriter):
    """Compute traces that hold products outside, where no step reads them."""

    name = "PushOutTracedProducts"
    heading = PUSHED_OUT

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Return which traces that hold a product can be computed after the loop."""
        roles = Roles.of(node.op)
        if not roles.traces or not roles.states:
            return None
        loop = normal_form(node)
        step = StepAnalysis(loop)
        placeholders = Placeholders(loop, step)
        all_steps = AllSteps(step, placeholders.variables)
        values = {
            trace: all_steps.value(trace.inner)
            for trace in loop.traces
            if trace.length is loop.n_steps
            and trace.inner not in placeholders.variables
            and step.varies(trace.inner)
            and all_steps.holds_product(trace.inner)
        }
        findings = [
            Finding(
                f"output {describe(trace.inner, loop)}",
                value is not None,
                "one of its operations cannot be done for all steps at once"
                if value is None
                else "computed after the loop",
            )
            for trace, value in values.items()
        ]
        leaving = {trace: value for trace, value in values.items() if value is not None}
        if not leaving:
            return Checked(findings)
        read = placeholders.used_by(list(leaving.values()))
        return Checked(findings, lambda: push_out(loop, step, list(leaving), read, type(node.op)))


class Placeholders:
    """Stands for the values, in all steps, of what the loop computes for its own sake.

    Parameters
    ----------
    loop
        The loop.
    step
        Facts about its step.
    """

    def __init__(self, loop: Loop, step: StepAnalysis):
        self.loop = loop
        own_results = [tap.inner for state in loop.states for tap in state.writes]
        own_results += [entry.inner_output for entry in loop.untraced]
        own_results += [] if loop.condition is None else [loop.condition]
        core = dict.fromkeys(
            variable
            for variable in ancestors([*own_results, *loop.inner_inputs])
            if step.varies(variable)
            and isinstance(variable.type, TensorType)
            and step.shape_is_fixed(variable)
        )
        self.variables: dict[Variable, Variable] = {
            variable: TensorType(variable.type.dtype, (None, *variable.type.shape))()
            for variable in core
        }

    def used_by(self, values: list[Variable]) -> list[Variable]:
        """Return the values of the step whose placeholders the expressions read."""
        reached = set(ancestors(values))
        return [v for v, placeholder in self.variables.items() if placeholder in reached]


def push_out(
    loop: Loop, step: StepAnalysis, leaving: list[Trace], read: list[Variable], op_class: type
) -> dict[Variable, Variable]:
    """Return the loop without the leaving traces, and these outside, as replacements.

    Parameters
    ----------
    loop
        The loop.
    step
        Facts about its step.
    leaving
        The traces to compute outside.
    read
        The values of the step that computing them takes.
    op_class
        The class of the loop's op.
    """
    kept = tuple(trace for trace in loop.traces if trace not in leaving)
    # a state of which few rows are read otherwise may be shortened
    available = available_values(loop) | {trace.inner: Available(trace) for trace in kept}
    available = {v: place for v, place in available.items() if place.entry not in leaving}
    new_traces = {
        v: Trace(loop.n_steps, v) for v in read if v not in available or available[v].as_given
    }
    reduced = replace(loop, traces=(*kept, *new_traces.values())).without_unused_inputs()
    built = reduced.build(op_class)
    available |= {value: Available(trace) for value, trace in new_traces.items()}
    all_steps = AllSteps(step, {v: values_of_all_steps(available[v], loop, built) for v in read})
    replacements = built.replacements()
    replacements |= {
        output_of(trace): only_result(all_steps.value(trace.inner)) for trace in leaving
    }
    return replacements
