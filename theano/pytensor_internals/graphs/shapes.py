"""The shapes of operators' results, as operators say them: `infer_shape(self, node, shapes)`."""
# ruff: noqa: F401 -- this file re-exports

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.tensor.shape import Shape_i
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor

if sys.version_info >= (3, 12):
    # methods of operators to which PyTensor passes the graph first
    METHODS_OF_GRAPH = frozenset({"do_constant_folding"})

    def shape_rule(method: Callable) -> Callable:
        """Mark the `infer_shape` of an operator."""
        return method

    def shape_function(function: Callable) -> Callable:
        """Return what `FromFunctionOp` takes for a function of a node and shapes."""
        return function

    def shapes_by(op: Op, node: Apply, shapes: Sequence) -> Any:
        """Return the shapes of the outputs of a node, as an operator works them out."""
        return op.infer_shape(node, shapes)  # type: ignore[attr-defined]

    def shapes_by_base(base: Any, node: Apply, shapes: Sequence) -> Any:
        """Return the same by the base class of an operator, `super()`."""
        return base.infer_shape(node, shapes)

    def length_along(array: Variable, axis: int) -> TensorVariable:
        """Return the length of an array along an axis, as a variable that rewriting works out."""
        return known_tensor(Shape_i(axis)(array))

else:
    from theano.pytensor_internals.before_3_3.shapes import (
        METHODS_OF_GRAPH,
        length_along,
        shape_function,
        shape_rule,
        shapes_by,
        shapes_by_base,
    )
