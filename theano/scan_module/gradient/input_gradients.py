"""From what a backward loop computes to the gradients of a loop's inputs, in their order."""

from __future__ import annotations

from collections.abc import Mapping

from pytensor import tensor as pt
from pytensor.configdefaults import config as pytensor_config
from pytensor.gradient import disconnected_type, grad_undefined
from pytensor.graph.basic import Variable
from pytensor.graph.null_type import NullType
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.scan_module.gradient.cotangent_states import first_row_gradient, is_carried
from theano.scan_module.gradient.differentiated_loop import DifferentiatedLoop
from theano.scan_module.gradient.step_gradient import is_connected
from theano.scan_module.loop.arguments import Invariant, Sequence, State, Untraced
from theano.scan_module.loop.reversed_rows import reversed_rows
from theano.scan_module.loop.roles import OuterInputs

Entry = Sequence | State | Invariant


def of_sequence(
    found: DifferentiatedLoop, entry: Sequence, gradient: TensorVariable
) -> TensorVariable:
    """Gradients of a sequence in forward order, zero for rows that no step back reached."""
    forward = reversed_rows(gradient)
    if not found.is_truncated and found.run.loop.condition is None:
        return forward
    first = found.steps - found.backward_steps
    zeros = pt.zeros_like(entry.outer, dtype=gradient.type.dtype)
    return pt.set_subtensor(zeros[first : found.steps], forward)


def of_state(
    found: DifferentiatedLoop, state: State, cotangents: TensorVariable | None
) -> TensorVariable:
    """Gradient with respect to a state's initial buffer.

    Parameters
    ----------
    found
        The loop.
    state
        The state.
    cotangents
        The state's buffer of cotangents after the backward loop; None if nothing flows back.
    """
    given = found.cotangents.states[found.run.loop.ordered_states().index(state)]
    if cotangents is not None and is_carried(found, state):
        return first_row_gradient(found, state, cotangents)
    if cotangents is not None:
        gradient = reversed_rows(cotangents)
    elif is_connected(given):
        gradient = known_tensor(given)
    else:
        return pt.zeros_like(state.outer)
    if found.is_longer_than_run(state):
        # what the steps did not touch is what it was
        whole = known_tensor(given) if is_connected(given) else pt.zeros_like(state.outer)
        return gradient if cotangents is None else _begun_with(whole, gradient)
    if found.run.loop.condition is None:
        return gradient
    return _begun_with(pt.zeros_like(state.outer), gradient)


def _begun_with(whole: TensorVariable, rows: TensorVariable) -> TensorVariable:
    return pt.set_subtensor(whole[: rows.shape[0]], rows)


def in_order_of_inputs(
    found: DifferentiatedLoop, gradients: Mapping[Entry | Untraced | None, Variable]
) -> list[Variable]:
    """Return a gradient for each input of the node: given, zero, disconnected or undefined."""
    loop, node = found.run.loop, found.node
    given: OuterInputs[Entry | Untraced | None] = OuterInputs(
        n_steps=None,
        sequences=[*loop.sequences],
        states=[*loop.ordered_states()],
        untraced=[*loop.untraced],
        trace_lengths=[None] * len(found.cotangents.traces),
        invariants=[*loop.invariants],
    )
    pattern = node.op.connection_pattern(node)
    connected = [k for k, c in enumerate(found.cotangents.in_order()) if is_connected(c)]
    results = []
    for position, (entry, outer) in enumerate(zip(given.in_order(), node.inputs, strict=True)):
        reasons = [v for v in _read_by_step(entry) if v in found.step.undefined]
        if not any(pattern[position][k] for k in connected):
            results.append(disconnected_type())
        elif reasons:
            results.append(NullType(found.step.undefined[reasons[0]])())
        elif entry in gradients:
            results.append(gradients[entry])
        elif entry in loop.untraced:
            why = "the state is not kept step by step"
            results.append(grad_undefined(node.op, position, outer, why))
        elif not hasattr(outer.type, "dtype"):
            why = "a generator of random numbers has no gradient"
            results.append(grad_undefined(node.op, position, outer, why))
        else:
            results.append(pt.zeros_like(outer, dtype=_gradient_dtype(outer)))
    return results


def _read_by_step(entry: Entry | Untraced | None) -> list[Variable]:
    """Return the variables by which a step reads a sequence, a state or an invariant."""
    if isinstance(entry, State):
        return [tap.inner for tap in entry.reads]
    return [entry.inner] if isinstance(entry, Sequence | Invariant) else []


def _gradient_dtype(variable: Variable) -> str:
    dtype = variable.type.dtype
    return dtype if dtype.startswith(("float", "complex")) else pytensor_config.floatX
