"""The reason why a loop's draws have no code, where they have none."""

from __future__ import annotations

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply
from pytensor.tensor.random.op import RandomVariable

from theano.link.generators_as_arrays import is_generator
from theano.link.native.lowering.operations.sampling import generator_samples, random_states
from theano.pytensor_internals.graphs.scan import Scan
from theano.tensor.numpy_samplers.random_function import RandomFunction


def why_not_words(node: Apply) -> str | None:
    """Why a loop cannot draw from words; None if it draws from no generator."""
    inner = node.op.fgraph
    if not any(map(is_generator, [*inner.inputs, *inner.outputs])):
        return None
    for each in inner.toposort():
        reason: str | None = None
        if isinstance(each.op, RandomFunction):
            reason = random_states.why_no_code(each.op, each.inputs[2:])
        elif isinstance(each.op, RandomVariable):
            reason = generator_samples.why_no_code(each)
        elif isinstance(each.op, Scan | OpFromGraph):
            reason = why_not_words(each)
        elif any(map(is_generator, [*each.inputs, *each.outputs])):
            reason = f"{each.op} has a generator among its inputs or outputs"
        if reason:
            return reason
    return ""
