"""Values of a step that have the same shape in every step: only those can be kept as traces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.shape import Reshape, Shape, Shape_i
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import order_of
from theano.rewriting.lazy_shapes import LazyShapeFeature
from theano.scan_module.loop.arguments import Loop
from theano.scan_module.step.operation_kinds import is_sized_by_operands
from theano.scan_module.step.sparse_matrices import is_sparse


def sized_by_inputs(values: Iterable[Variable]) -> set[Variable]:
    """Values that operations give a shape which follows from shapes of the graph's inputs.

    Parameters
    ----------
    values
        They and all that they are computed from are looked at, without inferring a shape.
    """
    sized: set[Variable] = set()
    for node in order_of(values):
        if is_sized_by_operands(node) and all(v.owner is None or v in sized for v in node.inputs):
            sized.update(node.outputs)
    return sized


class FixedShapes:
    """Values of a step that have the same shape in every step, with that shape.

    A length that is computed from the values of a sequence or a state may differ between steps,
    and a shape that an operation does not give beforehand may too.

    Parameters
    ----------
    loop
        A loop.
    values
        Values of its step that are asked about, if they lead to no output of it.
    """

    def __init__(self, loop: Loop, values: Iterable[Variable] = ()):
        values = tuple(v for v in values if isinstance(v.type, TensorType) and not is_sparse(v))
        self._inputs = loop.inner_inputs
        self._outputs = [*loop.inner_outputs, *values]
        self._sized = {*self._inputs, *sized_by_inputs(self._outputs)}
        self._invariants = {entry.inner for entry in loop.invariants}
        self._shapes: LazyShapeFeature | None = None

    def includes(self, value: Variable) -> bool:
        """Return whether the value has the same shape in every step, as far as is known.

        That of a sparse matrix says nothing of how many elements it holds.
        """
        if not isinstance(value.type, TensorType) or is_sparse(value):
            return False
        if value in self._sized or None not in value.type.shape:
            return True
        if self._is_reshaped_alike(value.owner):
            return True
        shape = self.shape(value)
        return shape is not None and all(self._is_fixed(length) for length in shape)

    def _is_reshaped_alike(self, node: Apply | None) -> bool:
        """Return whether it gives an array of one shape another one, the same in every step."""
        if node is None or not is_a(node.op, Reshape):
            return False
        array, lengths = node.inputs
        return self._is_fixed(lengths) and self.includes(array)

    def shape(self, value: Variable) -> Sequence[Variable] | None:
        """Return the lengths of a value in terms of the step, None if it has none."""
        if self._shapes is None:
            graph = FunctionGraph(self._inputs, self._outputs, clone=False)
            self._shapes = LazyShapeFeature()
            graph.attach_feature(self._shapes)
        return self._shapes.lengths_of(value)

    def _is_fixed(self, length: Variable) -> bool:
        """Return whether a length is computed from invariants and from shapes of inputs of the step."""
        pending = [length]
        seen = set()
        while pending:
            variable = pending.pop()
            if variable in seen or variable in self._invariants or is_a(variable, Constant):
                continue
            seen.add(variable)
            node = variable.owner
            if node is None:
                return False
            if isinstance(node.op, Shape | Shape_i) and node.inputs[0].owner is None:
                continue
            pending.extend(node.inputs)
        return True


def values_of_fixed_shape(loop: Loop, values: Iterable[Variable]) -> set[Variable]:
    """Those of the values whose shape follows from shapes of what enters the step.

    Parameters
    ----------
    loop
        A loop.
    values
        Values of its step; they need not lead to an output of it.
    """
    values = list(values)
    shapes = FixedShapes(loop, values)
    return {value for value in values if shapes.includes(value)}
