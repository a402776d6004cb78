"""PushOutTracedProducts: a product that no later step reads is computed once, after the loop.

An output layer in the step of a network, or the gradient with respect to a sequence, ends in a
trace: no state depends on it. Then the loop need only store the operand, and the product of all
steps is one:

    for t:  dx[t] = d[t].dot(U.T)      ->   dx = D.dot(U.T), the rows of all steps at once

What lies between the product and the trace leaves the loop with it. It is legal because no step
reads the value; where an operand is not at hand outside, it is stored in place of the trace.
"""

from __future__ import annotations

from dataclasses import replace

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors
from pytensor.tensor.type import TensorType

from theano.pytensor_base.rewriting import copy_stack_trace
from theano.scan_module.loop.arguments import BuiltLoop, Loop, State, Tap, Trace, take_apart
from theano.scan_module.report.describe import describe
from theano.scan_module.scan_opt.loop_rewriter import LoopRewriter
from theano.scan_module.scan_opt.outside.all_steps_at_once import AllSteps
from theano.scan_module.scan_opt.outside.outside_values import steps_run
from theano.scan_module.scan_opt.outside.rows_of_sequences import all_rows
from theano.scan_module.step.step_analysis import StepAnalysis, normalized


class PushOutTracedProducts(LoopRewriter):
    """Compute traces that hold products outside, where no step reads them."""

    name = "PushOutTracedProducts"

    def rewrite_loop(self, graph: FunctionGraph, node: Apply) -> None:
        """Take the traces out of one loop that can be computed after it."""
        if not node.op.info.n_nit_sot or not (node.op.info.n_sit_sot or _has_states(node)):
            return
        loop = normalized(take_apart(node))
        step = StepAnalysis(loop)
        placeholders = Placeholders(loop, step)
        all_steps = AllSteps(step, placeholders.variables)
        leaving: list[Trace] = []
        read: list[Variable] = []
        for trace in loop.traces:
            if not self._is_candidate(trace, loop, step, placeholders, all_steps):
                continue
            value = all_steps.value(trace.inner)
            if value is None:
                self.note(
                    graph,
                    node,
                    f"output {describe(trace.inner, loop)}",
                    False,
                    "one of its operations cannot be done for all steps at once",
                )
            else:
                self.note(
                    graph,
                    node,
                    f"output {describe(trace.inner, loop)}",
                    True,
                    "computed after the loop",
                )
                leaving.append(trace)
                read.append(value)
        if not leaving:
            return
        replacements = push_out(loop, step, leaving, placeholders.used_by(read), type(node.op))
        for old, new in replacements.items():
            copy_stack_trace(old, new)
        graph.replace_all(
            [(old, old.type.filter_variable(new)) for old, new in replacements.items()],
            reason=self.name,
        )

    def _is_candidate(self, trace, loop, step, placeholders, all_steps) -> bool:
        return (
            trace.length is loop.n_steps
            and trace.inner not in placeholders.variables
            and step.varies(trace.inner)
            and all_steps.holds_product(trace.inner)
        )


def _has_states(node: Apply) -> bool:
    return bool(node.op.info.n_mit_mot or node.op.info.n_mit_sot)


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
        own_results += [entry.inner_output for entry in loop.carried]
        own_results += [] if loop.condition is None else [loop.condition]
        core = {
            variable
            for variable in ancestors([*own_results, *loop.inner_inputs])
            if step.varies(variable)
            and isinstance(variable.type, TensorType)
            and step.shape_is_fixed(variable)
        }
        self.variables: dict[Variable, Variable] = {
            variable: TensorType(variable.type.dtype, (None, *variable.type.shape))()
            for variable in core
        }

    def used_by(self, values: list[Variable]) -> list[Variable]:
        """The values of the step whose placeholders the expressions read."""
        reached = set(ancestors(values))
        return [v for v, placeholder in self.variables.items() if placeholder in reached]


def push_out(
    loop: Loop, step: StepAnalysis, leaving: list[Trace], read: list[Variable], op_class: type
) -> dict[Variable, Variable]:
    """The loop without the leaving traces, and these outside, as replacements.

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
    at_hand = {tap.inner for state in loop.states for tap in readable_taps(state)}
    at_hand |= {entry.inner for entry in loop.sequences}
    at_hand |= {trace.inner for trace in loop.traces if trace not in leaving}
    new_traces = {v: Trace(loop.n_steps, v) for v in read if v not in at_hand}
    kept = tuple(trace for trace in loop.traces if trace not in leaving)
    reduced = replace(loop, traces=(*kept, *new_traces.values())).without_unused_inputs()
    built = reduced.build(op_class)
    all_steps = AllSteps(step, {v: _all_steps_of(v, loop, new_traces, built) for v in read})
    replacements = built.replacements()
    replacements |= {trace.output: all_steps.value(trace.inner) for trace in leaving}
    return replacements


def readable_taps(state: State) -> list[Tap]:
    """The places of a state that its buffer still holds after the loop, step by step."""
    written = [tap.offset for tap in state.writes]
    taps = [tap for tap in state.writes if not any(o < tap.offset for o in written)]
    taps += [tap for tap in state.reads if not any(o <= tap.offset for o in written)]
    return taps


def _all_steps_of(
    variable: Variable, loop: Loop, new_traces: dict[Variable, Trace], built: BuiltLoop
) -> Variable:
    if variable in new_traces:
        return built.outputs[new_traces[variable]]
    for trace in built.loop.traces:
        if trace.inner is variable:
            return built.outputs[trace]
    for state in loop.states:
        for tap in readable_taps(state):
            if tap.inner is variable:
                return loop.rows_at(state, built.outputs[state], tap.offset)
    for entry in loop.sequences:
        if entry.inner is variable:
            if loop.condition is None:
                return all_rows(entry, loop)
            return entry.outer[: steps_run(loop, built)]
    raise KeyError(f"no output of the loop holds {variable}")
