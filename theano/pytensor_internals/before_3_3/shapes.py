"""Shapes of what operators compute, where PyTensor passes the graph to `infer_shape`, too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor

METHODS_OF_GRAPH = frozenset({"infer_shape", "do_constant_folding"})


def shape_rule(method: Callable) -> Callable:
    """Return an `infer_shape` of a node and shapes that may be called with the graph before them."""

    @functools.wraps(method)
    def adapted(self: Op, *arguments: object) -> Any:
        return method(self, *arguments[-2:])

    return adapted


def shape_function(function: Callable) -> Callable:
    """Return what `FromFunctionOp` takes for a function of a node and shapes."""

    def of_graph(graph: FunctionGraph, node: Apply, shapes: Sequence) -> Any:
        return function(node, shapes)

    return of_graph


def shapes_by(op: Op, node: Apply, shapes: Sequence) -> Any:
    """Return the shapes of the outputs of a node, as an operator works them out."""
    return op.infer_shape(None, node, shapes)  # type: ignore[attr-defined]


def shapes_by_base(base: Any, node: Apply, shapes: Sequence) -> Any:
    """Return the same by the base class of an operator, `super()`."""
    return base.infer_shape(None, node, shapes)


def length_along(array: Variable, axis: int) -> TensorVariable:
    """Return the length of an array along an axis; PyTensor works out no other."""
    return known_tensor(array).shape[axis]
