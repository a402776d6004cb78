"""Which values of a step have the same shape in every step: only those can be stored as traces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytensor.graph.basic import Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.type import TensorType

from theano.scan_module.loop import Loop, Trace
from theano.schedule.lazy_shapes import LazyShapeFeature


def values_of_fixed_shape(loop: Loop, values: Iterable[Variable]) -> set[Variable]:
    """Those of the values whose shape follows from shapes of what enters the step.

    Parameters
    ----------
    loop
        A loop.
    values
        Values of its step; they need not lead to an output of it.

    Notes
    -----
    A length that is computed from a sequence or a state may differ between steps, and a shape
    that an operation cannot tell beforehand may too.
    """
    values = [value for value in values if isinstance(value.type, TensorType)]
    fixed = {value for value in values if None not in value.type.shape}
    unknown = [value for value in values if value not in fixed]
    if not unknown:
        return fixed
    traces = tuple(Trace(loop.n_steps, value) for value in unknown)
    extended = replace(loop, traces=(*loop.traces, *traces))
    graph = FunctionGraph(extended.inner_inputs, extended.inner_outputs, clone=False)
    shapes = LazyShapeFeature()
    graph.attach_feature(shapes)
    invariants = {entry.inner for entry in loop.invariants}
    for value in unknown:
        shape = shapes.shape_of.get(value)
        if shape is not None and all(_is_fixed(length, invariants) for length in shape):
            fixed.add(value)
    return fixed


def _is_fixed(length: Variable, invariants: set[Variable]) -> bool:
    """Whether a length is computed from invariants and from shapes of inputs of the step."""
    pending = [length]
    seen = set()
    while pending:
        variable = pending.pop()
        if variable in seen or variable in invariants or isinstance(variable, Constant):
            continue
        seen.add(variable)
        node = variable.owner
        if node is None:
            return False
        if isinstance(node.op, Shape | Shape_i) and node.inputs[0].owner is None:
            continue
        pending.extend(node.inputs)
    return True
