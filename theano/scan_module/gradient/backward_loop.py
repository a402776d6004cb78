"""The backward loop: from the gradient of one step to the gradient of the whole loop.

The backward loop runs over the steps in reverse. States of the forward loop give buffers of
cotangents (``cotangent_states``), sequences give traces, and invariants give accumulators. What it
computes becomes the gradients of the loop's inputs (``input_gradients``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor, known_tensors
from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.scan_module.gradient.cotangent_states import accumulator, cotangent_states
from theano.scan_module.gradient.differentiated_loop import DifferentiatedLoop
from theano.scan_module.gradient.equal_step_gradients import gradient_of_step
from theano.scan_module.gradient.input_gradients import in_order_of_inputs, of_sequence, of_state
from theano.scan_module.gradient.saved_values import ForwardStep, choose_saved_values
from theano.scan_module.gradient.step_gradient import StepGradient
from theano.scan_module.loop.arguments import BuiltLoop, Loop, State, Trace, Untraced, fresh_like
from theano.scan_module.loop.available_rows import available_values, rows_of
from theano.scan_module.loop.reversed_rows import reversed_rows
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.step.fixed_shapes import values_of_fixed_shape
from theano.scan_module.step.shape_only_uses import with_shapes_from_outside
from theano.scan_module.step.sparse_matrices import is_sparse, named

# How the name of a backward loop begins
GRADIENT_OF = "grad_of_"


def loop_pullback(
    node: Apply,
    loop: Loop,
    output_cotangents: list[Variable],
    extend: Callable[[Loop, list[Variable]], BuiltLoop],
    policy: str,
    op_class: type[PyTensorScan],
) -> list[Variable]:
    """Gradients of a loop with respect to its node's inputs.

    Parameters
    ----------
    node
        The forward node.
    loop
        The forward loop as taken from the node.
    output_cotangents
        One for each output of the node; disconnected ones allowed.
    extend
        Builds the forward loop again with values to be saved as further traces.
    policy
        Which values to save, see ``choose_saved_values``.
    op_class
        The class of the backward loop's op.
    """
    step = _without_sparse_matrices(gradient_of_step(node.op, loop, output_cotangents))
    loop = step.loop
    run = BuiltLoop.of(node, loop)
    available = available_values(loop)
    reads = [tap.inner for state in loop.states for tap in state.reads]
    saved = choose_saved_values(
        ForwardStep(
            available=[*available, *(entry.inner for entry in loop.invariants)],
            unavailable=[entry.inner_input for entry in loop.untraced],
            overwritten=[variable for variable in reads if variable not in available],
            invariants=[entry.inner for entry in loop.invariants],
            savable=lambda values: values_of_fixed_shape(loop, values),
        ),
        list(step.gradients.values()),
        _cotangents(step),
        policy,
    )
    if saved:
        run = extend(loop, saved)
    found = DifferentiatedLoop.of(node, run, _with_unreachable(step, run), output_cotangents)
    return _input_gradients(found, op_class)


def _cotangents(step: StepGradient) -> list[Variable]:
    cotangents = [c for row in step.write_cotangents for c in row] + step.trace_cotangents
    return [c for c in cotangents if c is not None]


def _without_sparse_matrices(step: StepGradient) -> StepGradient:
    """Return a gradient by a sparse matrix is undefined: a backward loop has no state that adds them up."""
    undefined = {
        entry.inner: f"The gradient of a loop by the sparse matrix {named(entry.outer)} is not defined: a loop"
        " adds up arrays. Have the step make the matrix, by theano.sparse.CSR or CSC, and take the"
        " gradient by the array of its elements"
        for entry in step.loop.invariants
        if entry.inner in step.gradients and is_sparse(entry.inner)
    }
    return replace(
        step,
        gradients={v: gradient for v, gradient in step.gradients.items() if v not in undefined},
        undefined={**step.undefined, **undefined},
    )


def _with_unreachable(step: StepGradient, run: BuiltLoop) -> StepGradient:
    """Return a gradient that needs a generator's past state is undefined: that state is gone."""
    unavailable = {entry.inner_input for entry in run.loop.untraced}
    if not unavailable:
        return step
    available = available_values(run.loop)
    lost = [
        variable
        for variable, gradient in step.gradients.items()
        if any(
            leaf in unavailable and leaf not in available
            for leaf in ancestors([gradient], blockers=list(available))
        )
    ]
    why = "it depends on a state that the loop does not keep"
    return replace(
        step,
        gradients={v: gradient for v, gradient in step.gradients.items() if v not in lost},
        undefined={**step.undefined, **dict.fromkeys(lost, why)},
    )


def _input_gradients(found: DifferentiatedLoop, op_class: type[PyTensorScan]) -> list[Variable]:
    """Gradients in the order of the node's inputs."""
    loop, gradients = found.run.loop, found.step.gradients
    states, sequences, sums_of_rows = cotangent_states(found)
    traces = {
        entry: Trace(found.backward_steps, gradients[entry.inner])
        for entry in loop.sequences
        if entry.inner in gradients
    }
    sums = {
        entry: accumulator(found, entry) for entry in loop.invariants if entry.inner in gradients
    }
    sequences += [
        found.sequence(inner, reversed_rows(known_tensor(given)))
        for inner, given in zip(found.step.trace_cotangents, found.cotangents.traces, strict=True)
        if inner is not None
    ]
    name = f"{GRADIENT_OF}{loop.settings.name}" if loop.settings.name else None
    backward = Loop(
        n_steps=found.backward_steps,
        sequences=tuple(sequences),
        states=(*(state for state in states.values() if state is not None), *sums.values()),
        traces=tuple(traces.values()),
        settings=replace(loop.settings, name=name),
    )
    results = (
        _results(found, backward, sums_of_rows, op_class)
        if backward.states or backward.traces
        else {}
    )
    return in_order_of_inputs(
        found,
        {
            **{e: of_sequence(found, e, results[trace]) for e, trace in traces.items()},
            **{
                e: of_state(found, e, None if state is None else results[state])
                for e, state in states.items()
            },
            **{e: results[total][-1] for e, total in sums.items()},
        },
    )


def _results(
    found: DifferentiatedLoop,
    backward: Loop,
    sums: dict[Variable, TensorVariable],
    op_class: type[PyTensorScan],
) -> dict[State | Trace | Untraced, TensorVariable]:
    """Give the backward step its forward values, all at once, and make the node."""
    forward = found.run.loop
    available = available_values(forward)
    invariants = {entry.inner: entry for entry in forward.invariants}
    placeholders: dict[Variable, Variable] = {**sums}
    read = []
    used_invariants = []
    for variable in ancestors(backward.inner_outputs, blockers=[*available, *invariants]):
        if variable in invariants:
            used_invariants.append(invariants[variable])
        elif variable in available:
            placeholders[variable] = fresh_like(variable)
            rows = reversed_rows(rows_of(available[variable], found.run))
            read.append(found.sequence(placeholders[variable], rows))
    outputs = copied(backward.inner_outputs, placeholders)
    edited = replace(
        backward.with_inner_outputs(outputs),
        sequences=(*backward.sequences, *read),
        invariants=tuple(used_invariants),
    )
    # of some values only the shapes were read
    built = with_shapes_from_outside(edited).without_unused_inputs().build(op_class)
    return dict(zip(backward.results, known_tensors([*built.outputs.values()]), strict=True))
