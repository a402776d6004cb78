"""Shapes of a graph's variables, worked out when a rewrite asks for them, as PyTensor 3.3 does.

PyTensor 3.0 works out the shape of every node that comes into a graph, and each rewrite
brings nodes that the next one replaces: a third of the compilation of a recurrent network.
Few shapes are ever asked for.
"""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.features import AlreadyThere
from pytensor.graph.fg import FunctionGraph
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import Split, cast, constant
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.rewriting.shape import ShapeFeature
from pytensor.tensor.shape import Reshape, Shape_i
from pytensor.tensor.subtensor import Subtensor

from theano.pytensor_internals.graphs.reshaped_lengths import shape_of_reshape
from theano.pytensor_internals.graphs.shape_sources import has_the_shape_of
from theano.pytensor_internals.graphs.slice_lengths import shape_of_slices
from theano.pytensor_internals.graphs.split_lengths import shapes_of_split
from theano.pytensor_internals.graphs.untraced import untraced


class ShapesOnDemand(dict):
    """Symbolic shape by variable; one that is not there yet is worked out when it is read."""

    def __init__(self, feature: ShapesWhenAsked):
        super().__init__()
        self._feature = feature

    def __missing__(self, variable: Variable) -> Any:
        self._feature.work_out(variable)
        return super().__getitem__(variable)

    def get(self, variable: Variable, default: object = None) -> Any:
        """Return the shape of a variable, worked out; the default where it has none."""
        shape = self[variable]
        return default if shape is None else shape


class UncheckedLengths(ShapeFeature):
    """PyTensor's shapes of a graph, without comparing the lengths of element-wise operands.

    They have one shape, or computing fails and says so. PyTensor compares their lengths once more
    where only the shape is asked for.
    """

    def get_shape(self, var: Variable, idx: int) -> Any:
        """One length of a variable, of an input by itself where it was that of one that is gone."""
        known = self.shape_of[var][idx].owner
        if var.owner is None and known is not None and isinstance(known.op, Shape_i):
            if known.inputs[0] not in self.fgraph.variables:
                self.set_shape_i(var, idx, self.shape_ir(idx, var))
        return super().get_shape(var, idx)

    def get_node_infer_shape(self, node: Apply) -> Any:
        """Return the shapes of what a node computes."""
        shape = None
        if isinstance(node.op, Subtensor):
            shape = shape_of_slices(node, self.get_shape)
        elif isinstance(node.op, Reshape):
            shape = shape_of_reshape(node, self.get_shape, lambda length: length)
        elif isinstance(node.op, Split):
            parts = shapes_of_split(node, self.get_shape, lambda length: length)
            if parts is not None:
                return parts
        if shape is not None:
            return [shape]
        shapes = super().get_node_infer_shape(node)
        if isinstance(node.op, Subtensor):
            return [tuple(map(_whole, shape)) for shape in shapes]
        if not isinstance(node.op, Elemwise):
            return shapes
        return [tuple(_without_check(length) for length in shape) for shape in shapes]


class ShapesWhenAsked(UncheckedLengths):
    """PyTensor's shapes of a graph, each worked out when it is first read.

    A variable that takes another's place has the same shape. Where the other's is known, it is
    handed on; where it is not, the other is remembered, in case that the node of the new one
    cannot give its shape.

    """

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Begin with no shape known."""
        if hasattr(fgraph, "shape_feature"):
            raise AlreadyThere("This FunctionGraph already has a ShapeFeature")
        fgraph.shape_feature = self  # type: ignore[attr-defined]
        self.fgraph = fgraph
        self.lscalar_one = constant(1, dtype="int64")
        self.shape_of = ShapesOnDemand(self)
        self.shape_of_reverse_index: dict[Variable, set[Variable]] = {}
        self.scheduled: dict[Apply, Variable] = {}
        self._instead_of: dict[Variable, Variable] = {}

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Do nothing: the shapes of what a node computes may never be asked for."""

    def on_change_input(self, fgraph, node, i, variable, new_variable, reason=None) -> None:
        """Hand the shape of a variable on to the one that takes its place."""
        shapes = self.shape_of
        if variable not in shapes and not _length_is_read(fgraph, node, i, variable):
            if new_variable not in shapes:
                self._instead_of.setdefault(new_variable, variable)
            return
        shape = shapes[variable]
        if new_variable not in shapes and gives_all_lengths(shape, variable):
            self.set_shape(new_variable, shape)
        else:
            self._know(new_variable)
        super().on_change_input(fgraph, node, i, variable, new_variable, reason)

    def lengths_of(self, variable: Variable) -> tuple[Variable, ...] | None:
        """Return the lengths of a variable along its axes; None where it is no array."""
        shape: tuple[Variable, ...] | None = self.shape_of[variable]
        return shape

    def _know(self, variable: Variable) -> None:
        if variable not in self.shape_of:
            self.work_out(variable)

    def work_out(self, variable: Variable) -> None:
        """Find the shape of a variable and of all that it needs, one node at a time."""
        # no line of the user's made what computes a shape
        with untraced:
            self._work_out(variable)

    def _work_out(self, variable: Variable) -> None:
        waiting = [variable]
        while waiting:
            now = waiting[-1]
            if now in self.shape_of:
                waiting.pop()
                continue
            node, source = now.owner, has_the_shape_of(now)
            needed = [] if node is None else node.inputs if source is now else [source]
            missing = [v for v in needed if v not in self.shape_of]
            if missing:
                waiting.extend(missing)
                continue
            waiting.pop()
            if node is None:
                self.init_r(now)
            elif source is now:
                self._infer(node)
            else:
                self.set_shape(now, self.shape_of[source])
            self._ask_the_one_before(now)

    def _infer(self, node: Apply) -> None:
        """Find the shapes of what a node computes, from those of its inputs."""
        known = {out: self.shape_of.pop(out) for out in node.outputs if out in self.shape_of}
        super().on_import(self.fgraph, node, "its shape is read")
        # what was handed on came from the graph as the user wrote it
        self.shape_of.update(known)

    def _ask_the_one_before(self, variable: Variable) -> None:
        before = self._instead_of.pop(variable, None)
        if before is not None and not gives_all_lengths(self.shape_of[variable], variable):
            self._know(before)
            self.update_shape(variable, before)


def _whole(length: object) -> Any:
    # PyTensor subtracts a start that is a uint64 from an int64, which gives a float64
    return cast(length, "int64") if getattr(length, "dtype", None) == "float64" else length


def _without_check(length: Variable) -> Variable:
    checked = length.owner is not None and isinstance(length.owner.op, CheckAndRaise)
    return length.owner.inputs[0] if checked else length


def gives_all_lengths(shape: tuple[Variable, ...] | None, variable: Variable) -> bool:
    """Return whether a shape is more than a way to write the variable's own length."""
    return shape is None or not any(_is_own_length(length, variable) for length in shape)


def _is_own_length(length: Variable, variable: Variable) -> bool:
    owner = length.owner
    return owner is not None and isinstance(owner.op, Shape_i) and owner.inputs[0] is variable


def _length_is_read(fgraph: FunctionGraph, node: Apply, i: int, variable: Variable) -> bool:
    """Return whether a node reads a length of a variable, or read it until its input was changed."""
    readers = [*fgraph.clients.get(variable, ()), (node, i)]
    return any(isinstance(reader.op, Shape_i) for reader, _ in readers)
