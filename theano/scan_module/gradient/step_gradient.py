"""The gradient of one step of a loop, before anyone asks where its forward values come from."""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.gradient import DisconnectedType, grad
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.null_type import NullType
from pytensor.tensor.type import TensorType, continuous_dtypes, integer_dtypes
from pytensor.tensor.variable import TensorVariable

from theano.derivatives.lines import with_lines
from theano.pytensor_internals.graphs.annotations import all_results, known_tensor, known_tensors
from theano.pytensor_internals.graphs.graph import features_of, remove_feature
from theano.scan_module.gradient.connections import connection_pattern
from theano.scan_module.gradient.equal_gradients import MergeBeforeGradients
from theano.scan_module.gradient.forward_loops import unify_forward_loops
from theano.scan_module.gradient.rules.chosen_operands import compare_operands
from theano.scan_module.gradient.rules.symbolic_gradients import with_rules, without_rules
from theano.scan_module.loop.arguments import Loop, fresh_like
from theano.scan_module.step.shape_only_uses import replace_shape_only_uses
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class StepGradient:
    """The step of a loop together with its gradient, computations shared by both merged.

    Attributes
    ----------
    loop
        The loop; its step shares variables with the gradients.
    write_cotangents
        For each state, for each write: the placeholder of its cotangent, or None if inactive.
    trace_cotangents
        For each trace the placeholder of its cotangent, or None.
    gradients
        Inner input -> its gradient, for those that have one.
    undefined
        Inner input -> why its gradient is undefined.
    """

    loop: Loop
    write_cotangents: list[list[Variable | None]]
    trace_cotangents: list[Variable | None]
    gradients: dict[Variable, TensorVariable]
    undefined: dict[Variable, str]


def is_differentiable(variable: Variable) -> bool:
    """Return whether a variable can carry a gradient."""
    return getattr(variable.type, "dtype", None) in continuous_dtypes


def is_integer(variable: Variable) -> bool:
    """Return whether a variable is a tensor of integers."""
    return isinstance(variable.type, TensorType) and variable.type.dtype in integer_dtypes


def is_connected(cotangent: Variable) -> bool:
    """Return whether a cotangent carries anything."""
    return not isinstance(cotangent.type, DisconnectedType | NullType)


def differentiate_step(loop: Loop, output_cotangents: list[Variable]) -> StepGradient:
    """Differentiate the step with respect to all of its inputs that can carry a gradient.

    Parameters
    ----------
    loop
        The forward loop, with inner variables that nothing else uses.
    output_cotangents
        Cotangents of the node's outputs: states, traces, untraced; some may be disconnected.
    """
    states = loop.ordered_states()
    active_states, active_traces = _active(loop, output_cotangents)
    write_cotangents: list[list[Variable | None]] = [
        [_placeholder(tap.inner) if active else None for tap in state.writes]
        for state, active in zip(states, active_states, strict=True)
    ]
    trace_cotangents: list[Variable | None] = [
        _placeholder(trace.inner) if active else None
        for trace, active in zip(loop.traces, active_traces, strict=True)
    ]
    pairs = [
        (tap.inner, cotangent)
        for state, cotangents in zip(states, write_cotangents, strict=True)
        for tap, cotangent in zip(state.writes, cotangents, strict=True)
        if cotangent is not None
    ]
    pairs += [
        (trace.inner, cotangent)
        for trace, cotangent in zip(loop.traces, trace_cotangents, strict=True)
        if cotangent is not None
    ]
    gradients, undefined = _gradients(loop, pairs)
    return _merged(loop, write_cotangents, trace_cotangents, gradients, undefined)


def _placeholder(variable: Variable) -> Variable:
    cotangent = fresh_like(variable)
    cotangent.name = f"d{variable.name}" if variable.name else "cotangent"
    return cotangent


def _active(loop: Loop, output_cotangents: list[Variable]) -> tuple[list[bool], list[bool]]:
    """Return which states and which traces may have a cotangent that is not zero."""
    states = loop.ordered_states()
    inner_outputs = loop.inner_outputs
    pattern = connection_pattern(loop.inner_inputs, inner_outputs)
    given = loop.roles.outer_outputs(output_cotangents)
    active_states = [
        is_connected(cotangent) and is_differentiable(state.writes[0].inner)
        for state, cotangent in zip(states, given.states, strict=True)
    ]
    active_traces = [
        is_connected(cotangent) and is_differentiable(trace.inner)
        for trace, cotangent in zip(loop.traces, given.traces, strict=True)
    ]
    state_rows = loop.roles.inner_inputs(range(len(pattern))).states
    while True:
        writes = [
            active
            for state, active in zip(states, active_states, strict=True)
            for _ in state.writes
        ]
        active_columns = [k for k, active in enumerate(writes + active_traces) if active]
        changed = False
        for position, state in enumerate(states):
            if active_states[position] or not is_differentiable(state.writes[0].inner):
                continue
            if any(
                pattern[row][column] for row in state_rows[position] for column in active_columns
            ):
                active_states[position] = changed = True
        if not changed:
            return active_states, active_traces


def _gradients(
    loop: Loop, pairs: list[tuple[Variable, Variable]]
) -> tuple[dict[Variable, Variable], dict[Variable, str]]:
    if not pairs:
        return {}, {}
    untraced = {entry.inner_input for entry in loop.untraced}
    # integers that all steps compute with have a gradient, as they have outside of loops
    integers = {entry.inner for entry in loop.invariants if is_integer(entry.inner)}
    wanted = [
        variable
        for variable in loop.inner_inputs
        if variable not in untraced and (is_differentiable(variable) or variable in integers)
    ]
    totals: dict[Variable, TensorVariable] = {}
    for variable, cotangent in pairs:
        total = known_tensor(cotangent)
        totals[variable] = totals[variable] + total if variable in totals else total
    # A copy of each output, so that an output that is also an input of the step still counts.
    outputs, stands_for = with_rules(list(totals))
    known = {
        known_tensor(v).copy(): total for v, total in zip(outputs, totals.values(), strict=True)
    }

    def derive(wrt: Sequence[Variable]) -> Sequence[Variable | None]:
        return all_results(
            grad(
                None,
                wrt,
                known_grads=known,
                disconnected_inputs="ignore",
                return_disconnected="none",
                null_gradients="return",
            )
        )

    results = with_lines(derive, list(known), wanted)
    gradients, undefined = {}, {}
    for variable, gradient in zip(wanted, results, strict=True):
        if gradient is None:
            continue
        if isinstance(gradient.type, NullType):
            undefined[variable] = gradient.type.why_null
        else:
            gradients[variable] = gradient
    by_step = without_rules(list(gradients.values()), stands_for)
    return dict(zip(gradients, by_step, strict=True)), undefined


def _merged(
    loop: Loop,
    write_cotangents: list[list[Variable | None]],
    trace_cotangents: list[Variable | None],
    gradients: dict[Variable, Variable],
    undefined: dict[Variable, str],
) -> StepGradient:
    """Merge equal computations of the step and of its gradient, so that each exists once."""
    placeholders = [c for cotangents in write_cotangents for c in cotangents if c is not None]
    placeholders += [c for c in trace_cotangents if c is not None]
    step_outputs = loop.inner_outputs
    graph = FunctionGraph(
        inputs=[*loop.inner_inputs, *placeholders],
        outputs=[*step_outputs, *gradients.values()],
        clone=False,
    )
    unify_forward_loops(graph)
    MergeBeforeGradients().rewrite(graph)
    changed = compare_operands(graph)
    if replace_shape_only_uses(graph) or changed:
        MergeBeforeGradients().rewrite(graph)
    merged_outputs = known_tensors([*graph.outputs])
    for feature in features_of(graph):
        remove_feature(graph, feature)
    return StepGradient(
        loop=loop.with_inner_outputs(merged_outputs[: len(step_outputs)]),
        write_cotangents=write_cotangents,
        trace_cotangents=trace_cotangents,
        gradients=dict(zip(gradients, merged_outputs[len(step_outputs) :], strict=True)),
        undefined=undefined,
    )
