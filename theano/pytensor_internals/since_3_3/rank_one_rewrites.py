"""Rewrites of products with one column and one row to rank-one updates, by Theano's names."""

from __future__ import annotations

import numpy as np
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.basic import copy_stack_trace, node_rewriter
from pytensor.tensor.basic import constant, get_underlying_scalar_constant_value, zeros
from pytensor.tensor.blas import _dot22, gemm_no_inplace
from pytensor.tensor.exceptions import NotScalarConstantError
from pytensor.tensor.rewriting.blas import local_dot22_to_gemv
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensors
from theano.pytensor_internals.since_3_3.rank_one_update import ger, ger_destructive


def _is_outer(x: Variable, y: Variable) -> bool:
    """Return whether x has one column and y has one row."""
    return x.type.shape[1] == 1 and y.type.shape[0] == 1


def _update(
    node: Apply, addend: Variable, scale: Variable, x: TensorVariable, y: TensorVariable
) -> list:
    updated = ger(addend, scale, x.dimshuffle(0), y.dimshuffle(1))
    copy_stack_trace(node.outputs, updated)
    return [updated]


def _zeros_for(x: TensorVariable, y: TensorVariable) -> Variable:
    return zeros((x.shape[0], y.shape[1]), dtype=x.dtype)


@node_rewriter([gemm_no_inplace])
def local_gemm_to_ger(fgraph: FunctionGraph, node: Apply) -> list | None:
    """``z * b + a * x.dot(y)`` of a column and a row, where b is 0 or 1."""
    z, a, x, y, b = known_tensors(node.inputs)
    if not _is_outer(x, y):
        return None
    try:
        kept = np.asarray(get_underlying_scalar_constant_value(b)).item()
    except NotScalarConstantError:
        return None
    addends = {0: _zeros_for, 1: lambda x, y: z}
    return _update(node, addends[kept](x, y), a, x, y) if kept in addends else None


@node_rewriter([_dot22])
def local_dot22_to_ger_or_gemv(fgraph: FunctionGraph, node: Apply) -> list | None:
    """Return a product of a column and a row, or of a matrix and a vector."""
    x, y = known_tensors(node.inputs)
    if not _is_outer(x, y):
        return local_dot22_to_gemv.transform(fgraph, node)
    return _update(node, _zeros_for(x, y), constant(np.ones((), dtype=x.dtype)), x, y)


@node_rewriter([ger], inplace=True)
def local_inplace_ger(fgraph: FunctionGraph, node: Apply) -> list | None:
    """Return a rank-one update that overwrites the matrix."""
    updated = ger_destructive(*node.inputs)
    copy_stack_trace(node.outputs, updated)
    return [updated]
