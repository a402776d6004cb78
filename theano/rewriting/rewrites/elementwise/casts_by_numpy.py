"""Casts in Python wrap as those in C do.

PyTensor's Python goes element by element through Python's own numbers, and NumPy refuses one that
its type has no room for: ``cast(int8, "uint8")`` of -1 raises, as does a cast of infinity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar.basic import Cast
from pytensor.tensor.elemwise import Elemwise

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter


class CastByNumPy(Elemwise):
    """A cast of an array, by NumPy as a whole."""

    def prepare_node(
        self, node: Apply, storage_map: object, compute_map: object, impl: object
    ) -> None:
        """No function of single elements is needed."""

    def perform(self, node: Apply, inputs: Any, output_storage: Any) -> None:
        """Cast the array."""
        with np.errstate(invalid="ignore", over="ignore"):
            cast = np.asarray(inputs[0]).astype(node.outputs[0].type.dtype)  # type: ignore[attr-defined]
        output_storage[0][0] = cast


@node_rewriter([Elemwise])
def cast_by_numpy(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``cast(x)`` -> the same as one operation of NumPy."""
    op: Any = node.op
    if type(op) is not Elemwise or not isinstance(op.scalar_op, Cast):
        return None
    made = CastByNumPy(op.scalar_op, op.inplace_pattern)(*node.inputs)
    copy_stack_trace(node.outputs[0], made)
    return [made]  # type: ignore[list-item]
