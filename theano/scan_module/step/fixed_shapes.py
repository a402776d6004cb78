"""Which values of a step have the same shape in every step: only those can be stored as traces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import toposort
from pytensor.tensor.basic import Join
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.math import Dot
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.special import LogSoftmax, Softmax
from pytensor.tensor.subtensor import IncSubtensor, Subtensor
from pytensor.tensor.type import TensorType

from theano.pytensor_base.tensor import AdvancedSubtensor1
from theano.scan_module.loop.arguments import Loop, Trace
from theano.schedule.lazy_shapes import LazyShapeFeature
from theano.tensor.nnet.row_operator import RowOperator

# What they compute is as large as the shapes of the operands say, whatever is in the operands.
_SIZED_BY_OPERANDS = (
    *(Elemwise, DimShuffle, CAReduce, Dot, Softmax, LogSoftmax),
    *(IncSubtensor, AdvancedSubtensor1, RowOperator),
)
# The same, if all operands but these are constants: first, last
_SIZED_IF_CONSTANT = {Subtensor: slice(1, None), Join: slice(0, 1)}


def sized_by_inputs(values: Iterable[Variable]) -> set[Variable]:
    """Values that operations give a shape which follows from shapes of the graph's inputs.

    Parameters
    ----------
    values
        They and all that they are computed from are looked at, without inferring a shape.
    """
    sized: set[Variable] = set()
    for node in toposort(list(values)):
        if _sized_by_operands(node) and all(v.owner is None or v in sized for v in node.inputs):
            sized.update(node.outputs)
    return sized


def _sized_by_operands(node: Apply) -> bool:
    if isinstance(node.op, _SIZED_BY_OPERANDS):
        return True
    counted = _SIZED_IF_CONSTANT.get(type(node.op))
    return counted is not None and all(isinstance(v, Constant) for v in node.inputs[counted])


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
    sized = sized_by_inputs(values)
    fixed = {value for value in values if value in sized or None not in value.type.shape}
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
