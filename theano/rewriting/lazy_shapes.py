"""Shapes of a graph's variables, worked out when a rewrite asks for them, and compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.graph.basic import Apply, Constant, equal_computations
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors

from theano.pytensor_internals.graphs.rewriting import GraphRewriter
from theano.pytensor_internals.graphs.shape_sources import has_the_shape_of
from theano.pytensor_internals.operations.tensor_rewrites import ShapesWhenAsked

# how many variables may compute two shapes that are rewritten in order to compare them
MOST_COMPARED = 150


class LazyShapeFeature(ShapesWhenAsked):
    """The shapes of a graph, each worked out when it is first read.

    Parameters
    ----------
    simplify
        Rewrites a graph of lengths in place, before two are compared; None: they are compared as
        they are.
    """

    def __init__(self, simplify: Callable[[FunctionGraph], None] | None = None):
        super().__init__()
        self._simplify = simplify

    def clone(self) -> LazyShapeFeature:
        """One for a copy of the graph."""
        return type(self)(self._simplify)

    def same_shape(self, x, y, dim_x=None, dim_y=None) -> bool:
        """Return whether two variables have the same shape, or the same length along two axes.

        PyTensor copies what computes both shapes, rewrites the copy with its own rewrites and
        compares. Here the rewrites are those of this package, and it is left out where the two are
        equal as they are, where there is nothing to fold, or where they are so long that they
        hardly become equal.
        Nothing is worked out where both have the shape of a third.
        """
        if dim_x == dim_y and has_the_shape_of(x) is has_the_shape_of(y):
            return True
        lengths: list[list[Any]] = []
        for variable, axis in ((x, dim_x), (y, dim_y)):
            shape = self.lengths_of(variable)
            if shape is None:
                return False
            lengths.append(list(shape) if axis is None else [shape[axis]])
        lengths_x, lengths_y = lengths
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


def _can_be_folded(node: Apply | None) -> bool:
    return node is not None and all(isinstance(v, Constant) for v in node.inputs)


class AttachLazyShapes(GraphRewriter):
    """Gives a graph its shapes, in place of PyTensor's rewriter that does so."""

    name = "ShapeOpt"

    def __init__(self, simplify: Callable[[FunctionGraph], None]):
        self._simplify = simplify

    def apply(self, fgraph: FunctionGraph) -> None:
        """Attach the feature; a graph that has one keeps it."""
        fgraph.attach_feature(LazyShapeFeature(self._simplify))
