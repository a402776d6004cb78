"""A loop is given each length once: PyTensor finds out later which of them are equal, and makes it again.

Until then the C compiler has been started for the loop as it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.graph import remove_feature
from theano.pytensor_internals.graphs.reshaped_lengths import entry_of_list
from theano.pytensor_internals.operations.tensor import get_idx_list
from theano.rewriting.lazy_shapes import LazyShapeFeature
from theano.rewriting.times_of_rewrites import SecondsByLoop
from theano.scan_module.loop.arguments import Invariant, unpack
from theano.scan_module.loop.roles import given_to
from theano.scan_module.loop.step_copy import copied
from theano.scan_module.report.headings import MERGED
from theano.scan_module.scan_opt.loop_rewriter import Checked, LoopRewriter

# Fewer lengths are seldom equal, and to find that out takes the shapes of all that is before a loop.
FEWEST = 3


class OneLengthEach(LoopRewriter):
    """Pass lengths that are known to be equal to a loop once."""

    name = "one_length_each"
    heading = MERGED

    def apply(self, graph: FunctionGraph) -> SecondsByLoop:
        """Visit each loop, with the shapes of the graph as it is now available."""
        shapes = LazyShapeFeature()
        graph.attach_feature(shapes)
        try:
            return super().apply(graph)
        finally:
            remove_feature(graph, shapes)

    def check(self, graph: FunctionGraph, node: Apply) -> Checked | None:
        """Return which of the lengths that a loop is given are another one."""
        if sum(map(_may_be_length, given_to(node).invariants)) < FEWEST:
            return None
        loop = unpack(node)
        first: dict[Any, Invariant] = {}
        others: dict[Variable, Variable] = {}
        lengths = _Lengths(graph.shape_feature)  # type: ignore[attr-defined]
        for entry in loop.invariants:
            if _may_be_length(entry.outer):
                same = first.setdefault(lengths.key(entry.outer), entry)
                if same is not entry:
                    others[entry.inner] = same.inner
        if not others:
            return None

        def transform() -> dict[Variable, Variable]:
            edited = loop.with_inner_outputs(copied(loop.inner_outputs, others))
            kept = tuple(entry for entry in edited.invariants if entry.inner not in others)
            return replace(edited, invariants=kept).build(type(node.op)).replacements()

        return Checked(transform=transform)


def _may_be_length(variable: Variable) -> bool:
    kind = variable.type
    return isinstance(kind, TensorType) and kind.ndim == 0 and kind.dtype == "int64"


class _Lengths:
    """Lengths in terms of lengths of a graph's inputs."""

    def __init__(self, shapes: LazyShapeFeature):
        self._shapes = shapes

    def key(self, length: Any) -> Any:
        """Something that is equal for two lengths that are computed in the same way."""
        node = length.owner
        if isinstance(length, Constant):
            return int(length.data)
        if node is None:
            return length
        match node.op:
            case Shape_i(i=axis):
                return self._of_array(node.inputs[0], axis)
            case Subtensor(idx_list=places):
                entry, source = entry_of_list(length), node.inputs[0].owner
                if entry is not length:
                    return self.key(entry)
                if source is not None and isinstance(source.op, Shape):
                    (place,) = get_idx_list(node.inputs, places)
                    if isinstance(place, Constant):
                        return self._of_array(source.inputs[0], int(place.data))
            case Elemwise():
                return (node.op, *map(self.key, node.inputs))
        return length

    def _of_array(self, array: Any, axis: int) -> Any:
        axis %= array.type.ndim
        length = self._shapes.get_shape(array, axis)
        read = length.owner
        itself = read is not None and isinstance(read.op, Shape_i) and read.inputs[0] is array
        return (array, axis) if itself else self.key(length)
