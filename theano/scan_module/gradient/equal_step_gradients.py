"""Gradients of steps that are equal, such as those of a network's layers: derived once.

Steps are compared in the form that a ``Scan`` op is hashed by, together with the user's lines that
made them, which errors name. What is kept is a copy, so that nobody changes it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from pytensor.graph.basic import Variable

from theano.pytensor_internals.graphs.annotations import known_tensors
from theano.pytensor_internals.graphs.graph import frozen_graph_inside
from theano.pytensor_internals.graphs.scan import Scan
from theano.scan_module.gradient.equal_gradients import what_decides_gradient
from theano.scan_module.gradient.step_gradient import StepGradient, differentiate_step, is_connected
from theano.scan_module.loop.arguments import Loop, fresh_like
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.step.equal_steps import lines_of_values
from theano.scan_module.step.loop_shapes import forget_the_first

# how many are remembered, those of the last loops
STEPS_KEPT = 32
_of_equal_steps: dict[Hashable, StepGradient] = {}


def gradient_of_step(op: Scan, loop: Loop, output_cotangents: list[Variable]) -> StepGradient:
    """Return the gradient of a loop's step, derived unless that of an equal step is available.

    Parameters
    ----------
    op
        The loop's op.
    loop
        The loop, with inner variables that nothing else uses.
    output_cotangents
        Cotangents of the node's outputs: states, traces, untraced; some may be disconnected.
    """
    key = _what_decides(op, output_cotangents)
    known = _of_equal_steps.get(key)
    if known is not None:
        return _in_variables_of(loop, known)
    found = differentiate_step(loop, output_cotangents)
    forget_the_first(_of_equal_steps, STEPS_KEPT)
    apart = loop.with_step([fresh_like(v) for v in loop.inner_inputs], loop.inner_outputs)
    _of_equal_steps[key] = _in_variables_of(apart, found)
    return found


def _what_decides(op: Scan, output_cotangents: list[Variable]) -> Hashable:
    connected = tuple(is_connected(cotangent) for cotangent in output_cotangents)
    nodes = op.fgraph.toposort()
    attributes = tuple(what_decides_gradient(node.op) for node in nodes)
    return op.info, frozen_graph_inside(op), connected, lines_of_values(nodes), attributes


def _in_variables_of(loop: Loop, known: StepGradient) -> StepGradient:
    """Return the same gradient, computed from the inner inputs of another loop of an equal step."""
    inputs = dict(zip(known.loop.inner_inputs, loop.inner_inputs, strict=True))
    given = [c for cotangents in known.write_cotangents for c in cotangents]
    given += known.trace_cotangents
    placeholders = {c: fresh_like(c) for c in given if c is not None}
    outputs = known.loop.inner_outputs
    made = known_tensors(copied([*outputs, *known.gradients.values()], {**inputs, **placeholders}))
    return replace(
        known,
        loop=loop.with_inner_outputs(made[: len(outputs)]),
        write_cotangents=[
            [None if c is None else placeholders[c] for c in cotangents]
            for cotangents in known.write_cotangents
        ],
        trace_cotangents=[None if c is None else placeholders[c] for c in known.trace_cotangents],
        gradients={
            inputs[variable]: gradient
            for variable, gradient in zip(known.gradients, made[len(outputs) :], strict=True)
        },
        undefined={inputs[variable]: why for variable, why in known.undefined.items()},
    )
