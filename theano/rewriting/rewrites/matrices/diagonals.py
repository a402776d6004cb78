"""Diagonals of products and of element-wise work, and matrices with a diagonal that is filled.

What is not on a diagonal is not computed:

    diagonal(dot(A, B))   ->   (A * B.T).sum(axis=1)
    diagonal(f(x))        ->   f(diagonal(x))

A number that is written on a diagonal is a choice for each element:

    fill_diagonal(x, v)   ->   switch(eq(columns - rows, 0), v, x)

PyTensor's rewrites also take diagonals along the first axes of stacks, in another order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import AllocDiag, ExtractDiag, arange, diagonal, switch
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.extra_ops import FillDiagonal, FillDiagonalOffset
from pytensor.tensor.math import Dot, eq, minimum

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.operations.tensor_rewrites import subtensor_lift
from theano.rewriting.rewrites.of_pytensor.guards import same_length


@node_rewriter([ExtractDiag])
def diagonal_of_parts(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Return the diagonal of a matrix, or of a stack of them, computed from its operands."""
    matrix: Any = node.inputs[0]
    op: Any = node.op
    made = matrix.owner
    if made is None or (op.axis1, op.axis2) != (matrix.type.ndim - 2, matrix.type.ndim - 1):
        return None
    if is_a(made.op, AllocDiag):
        return subtensor_lift.local_extract_diag_of_alloc_diag.transform(graph, node) or None
    # what else reads the matrix has it computed
    if len(graph.clients[matrix]) > 1:
        return None
    result: Any = None
    if is_a(made.op, Dot) and op.offset == 0 and _is_of_floats(made):
        result = _of_product(graph, *made.inputs)
    elif is_a(made.op, Elemwise) and len(made.outputs) == 1:
        result = _of_elements(made, op)
    if result is None:
        return None
    copy_stack_trace(node.outputs, result)
    return [result]


@node_rewriter([FillDiagonal, FillDiagonalOffset])
def filled_diagonal(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Return a matrix with a number on a diagonal, element by element; engines have code for that."""
    matrix: Any = node.inputs[0]
    number: Any = node.inputs[1]
    if matrix.type.ndim != 2:
        return None
    offset = node.inputs[2] if len(node.inputs) > 2 else 0
    rows, columns = (arange(matrix.shape[axis]) for axis in range(2))
    on_diagonal = eq(columns[None, :] - rows[:, None], offset)
    result = node.outputs[0].type.filter_variable(switch(on_diagonal, number, matrix))
    copy_stack_trace(node.outputs, result)
    return [result]


def _is_of_floats(product: Apply) -> bool:
    """Return whether a product neither wraps nor rounds its operands to another dtype."""
    dtypes = {v.type.dtype for v in (*product.inputs, *product.outputs)}  # type: ignore[attr-defined]
    return len(dtypes) == 1 and np.dtype(dtypes.pop()).kind in "fc"


def _of_product(graph: FunctionGraph, left: Any, right: Any) -> Any:
    # a length of 1 that a type gives would be broadcast where the product has an error
    if left.type.broadcastable[1] != right.type.broadcastable[0]:
        return None
    columns = right.T
    if not same_length(getattr(graph, "shape_feature", None), left, 0, right, 1):
        length = minimum(left.shape[0], right.shape[1])
        left, columns = left[:length], columns[:length]
    return (left * columns).sum(axis=1)


def _of_elements(made: Apply, op: Any) -> Any:
    """Return the work on the diagonal of its one matrix; the other operands are numbers."""
    matrices = [v for v in made.inputs if not all(v.type.broadcastable)]  # type: ignore[attr-defined]
    if len(matrices) != 1 or any(matrices[0].type.broadcastable[-2:]):  # type: ignore[attr-defined]
        return None
    ndim = matrices[0].type.ndim  # type: ignore[attr-defined]
    operands = [
        diagonal(v, op.offset, op.axis1, op.axis2)
        if v is matrices[0]
        else v.dimshuffle(list(range(ndim - 1)))  # type: ignore[attr-defined]
        for v in made.inputs
    ]
    return made.op.make_node(*operands).outputs[0]
