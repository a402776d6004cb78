"""Shapes of a graph's variables, worked out when a rewrite asks for them.

PyTensor's feature works out the shape of every node that comes into a graph, and each rewrite
brings nodes that the next one replaces: a third of the compilation of a recurrent network.
Few shapes are ever asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.configdefaults import config
from pytensor.graph.basic import Apply, Constant, Variable, equal_computations
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import second
from pytensor.tensor.basic import constant
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.shape import Shape_i
from pytensor.tensor.subtensor import IncSubtensor

from theano.pytensor_base.graph import AlreadyThere
from theano.pytensor_base.rewriting import GraphRewriter
from theano.pytensor_base.tensor_rewrites import ShapeFeature

# how many variables may compute two shapes that are rewritten in order to compare them
MOST_COMPARED = 150


class ShapesOnDemand(dict):
    """Symbolic shape by variable; one that is not there yet is worked out when it is read."""

    def __init__(self, feature: LazyShapeFeature):
        super().__init__()
        self._feature = feature

    def __missing__(self, variable: Variable) -> Any:
        self._feature.work_out(variable)
        return super().__getitem__(variable)

    def get(self, variable: Variable, default: Any = None) -> Any:
        """The shape of a variable, worked out; the default where it has none."""
        shape = self[variable]
        return default if shape is None else shape


class UncheckedLengths(ShapeFeature):
    """PyTensor's shapes of a graph, without comparing the lengths of element-wise operands.

    They have one shape, or computing fails and says so. PyTensor compares their lengths once more
    where only the shape is asked for.
    """

    def get_node_infer_shape(self, node: Apply) -> Any:
        """The shapes of what a node computes."""
        shapes = super().get_node_infer_shape(node)
        if not isinstance(node.op, Elemwise):
            return shapes
        return [tuple(_without_check(length) for length in shape) for shape in shapes]


class LazyShapeFeature(UncheckedLengths):
    """PyTensor's shapes of a graph, each worked out when it is first read.

    A variable that takes another's place has the same shape. Where the other's is known, it is
    handed on; where it is not, the other is remembered, in case that the node of the new one
    cannot tell its shape.

    Parameters
    ----------
    simplify
        Rewrites a graph of lengths in place, before two are compared; None: they are compared as
        they are.
    """

    def __init__(self, simplify: Callable[[FunctionGraph], None] | None = None):
        self._simplify = simplify

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
        if new_variable not in shapes and tells_all(shape, variable):
            self.set_shape(new_variable, shape)
        else:
            self._know(new_variable)
        super().on_change_input(fgraph, node, i, variable, new_variable, reason)

    def same_shape(self, x, y, dim_x=None, dim_y=None) -> bool:
        """Whether two variables have the same shape, or the same length along two axes.

        PyTensor copies what computes both shapes, rewrites the copy with its own rewrites and
        compares. Here the rewrites are those of this package, and it is left out where the two are equal as they are, where there is nothing to fold, or where
        they are so long that they hardly become equal.
        Nothing is worked out where both have the shape of a third.
        """
        if dim_x == dim_y and _has_the_shape_of(x) is _has_the_shape_of(y):
            return True
        shapes = self.shape_of[x], self.shape_of[y]
        if None in shapes:
            return False
        lengths_x, lengths_y = (
            list(shape) if axis is None else [shape[axis]]
            for shape, axis in zip(shapes, (dim_x, dim_y), strict=True)
        )
        if len(lengths_x) != len(lengths_y):
            return False
        if equal_computations(lengths_x, lengths_y):
            return True
        behind = list(ancestors([*lengths_x, *lengths_y]))
        if len(behind) > MOST_COMPARED or not any(_can_be_folded(v.owner) for v in behind):
            return False
        if self._simplify is None:
            return False
        graph = FunctionGraph(outputs=[*lengths_x, *lengths_y], clone=True)
        self._simplify(graph)
        count = len(lengths_x)
        pairs = zip(graph.outputs[:count], graph.outputs[count:], strict=True)
        return all(equal_computations([ours], [other]) for ours, other in pairs)

    def _know(self, variable: Variable) -> None:
        if variable not in self.shape_of:
            self.work_out(variable)

    def work_out(self, variable: Variable) -> None:
        """Find the shape of a variable and of all that it needs, one node at a time."""
        # no line of the user's made what computes a shape
        with config.change_flags(traceback__limit=0):
            self._work_out(variable)

    def _work_out(self, variable: Variable) -> None:
        waiting = [variable]
        while waiting:
            now = waiting[-1]
            if now in self.shape_of:
                waiting.pop()
                continue
            node, source = now.owner, _has_the_shape_of(now)
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
        if before is not None and not tells_all(self.shape_of[variable], variable):
            self._know(before)
            self.update_shape(variable, before)


def _has_the_shape_of(variable: Variable) -> Variable:
    """What a variable has the shape of, as the nodes that compute it say themselves."""
    while (source := _source_of_shape(variable)) is not None:
        variable = source
    return variable


def _source_of_shape(variable: Variable) -> Variable | None:
    """The operand that has the shape of a result, if there is one whatever the others are."""
    node = variable.owner
    if node is None:
        return None
    if isinstance(node.op, IncSubtensor):
        return node.inputs[0]
    if isinstance(node.op, Elemwise) and node.op.scalar_op == second:
        filled, value = node.inputs
        return filled if all(value.type.broadcastable) else None
    return None


def _without_check(length: Variable) -> Variable:
    checked = length.owner is not None and isinstance(length.owner.op, CheckAndRaise)
    return length.owner.inputs[0] if checked else length


def tells_all(shape: tuple[Variable, ...] | None, variable: Variable) -> bool:
    """Whether a shape is more than a way to write the variable's own length."""
    return shape is None or not any(_is_own_length(length, variable) for length in shape)


def _is_own_length(length: Variable, variable: Variable) -> bool:
    owner = length.owner
    return owner is not None and isinstance(owner.op, Shape_i) and owner.inputs[0] is variable


def _length_is_read(fgraph: FunctionGraph, node: Apply, i: int, variable: Variable) -> bool:
    """Whether a node reads a length of a variable, or read it until its input was changed."""
    readers = [*fgraph.clients.get(variable, ()), (node, i)]
    return any(isinstance(reader.op, Shape_i) for reader, _ in readers)


def _can_be_folded(node: Apply | None) -> bool:
    return node is not None and all(isinstance(v, Constant) for v in node.inputs)


class AttachLazyShapes(GraphRewriter):
    """Gives a graph its shapes, in the place of PyTensor's rewriter that does so."""

    name = "ShapeOpt"

    def __init__(self, simplify: Callable[[FunctionGraph], None]):
        self._simplify = simplify

    def apply(self, fgraph: FunctionGraph) -> None:
        """Attach the feature; a graph that has one keeps it."""
        fgraph.attach_feature(LazyShapeFeature(self._simplify))
