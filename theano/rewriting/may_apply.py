"""Tests of whether a rewrite can do anything, which cost less than trying it.

Nine of ten visits of a rewrite to a node end without a change. The result True is allowed to be
wrong; no is not, which `tests_scan_grad/rewriting/test_may_apply.py` asks the rewrites themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.scalar import basic as scalars
from pytensor.scalar.basic import Second
from pytensor.tensor.basic import Alloc, Join, MakeVector, Split
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.math import Dot
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import (
    GraphRewriter,
    NodeRewriter,
    PatternNodeRewriter,
    pattern_question,
)
from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations.tensor_rewrites import (
    basic,
    local_add_canonizer,
    local_greedy_distributor,
    local_mul_canonizer,
    local_mul_zero,
    math,
    topological_second_sink,
)
from theano.rewriting.canonical_sums import PRODUCTS, SUMS
from theano.rewriting.distribution import saves_operations
from theano.rewriting.rewrites.elementwise.constants_by_own_code import FOLD_CONSTANTS
from theano.rewriting.rewrites.matrices.products_with_zeros import product_with_zeros
from theano.rewriting.rewrites.of_pytensor.guarded import Guarded

# a larger constant may be zero for all that is asked
NUMBERS_LOOKED_AT = 1000

NodeQuestion = Callable[[FunctionGraph, Apply], bool]
GraphQuestion = Callable[[FunctionGraph], bool]


def node_question(rewriter: NodeRewriter) -> NodeQuestion | None:
    """Return whether a rewrite may change a node; None where nothing is known."""
    if is_a(rewriter, Guarded):
        rewriter = rewriter.rewriter
    if type(rewriter) is PatternNodeRewriter:
        return pattern_question(rewriter)
    return _OF_NODES.get(rewriter)


def graph_question(rewriter: GraphRewriter) -> GraphQuestion | None:
    """Return whether a rewrite may change a graph; None where nothing is known."""
    return _OF_GRAPHS.get(rewriter)


# ---- nodes ----


def _has_a_zero(_: FunctionGraph, node: Apply) -> bool:
    """Return whether an operand may be zero, filled or computed from numbers."""
    return any(
        _may_be_zero(variable) if is_a(variable, Constant) else _may_be_number(variable)
        for variable in node.inputs
    )


def _may_be_zero(constant: Constant) -> bool:
    data = np.asarray(constant.data)
    return data.size > NUMBERS_LOOKED_AT or not data.all()


def _may_be_number(variable: Variable, depth: int = 10) -> bool:
    node = variable.owner
    if node is None:
        return is_a(variable, Constant)
    if depth == 0:
        return True
    if is_a(node.op, DimShuffle) or is_a(node.op, Alloc):
        return _may_be_number(node.inputs[0], depth - 1)
    if is_a(node.op, Elemwise):
        read = node.inputs[1:] if is_a(node.op.scalar_op, Second) else node.inputs
        return all(_may_be_number(operand, depth - 1) for operand in read)
    if is_a(node.op, Subtensor):
        return variable.type.ndim == 0 and _elements_may_be_numbers(node.inputs[0])
    if is_a(node.op, Shape_i):
        array: Any = node.inputs[0]
        return is_a(array, Constant) or array.type.shape[node.op.i] is not None
    return not isinstance(node.op, _NEVER_A_NUMBER)


def _elements_may_be_numbers(array: Variable) -> bool:
    """Return whether an array is a constant, or put together from its elements, or lengths."""
    return is_a(array, Constant) or (
        array.owner is not None and isinstance(array.owner.op, Join | MakeVector | Shape)
    )


def _of_scalars(*kinds: type) -> NodeQuestion:
    """Return a test of whether element-wise work is of one of some kinds."""
    known: dict[type, bool] = {}

    def asked(_: FunctionGraph, node: Apply) -> bool:
        scalar = node.op.scalar_op  # type: ignore[attr-defined]
        kind = type(scalar)
        if kind not in known:
            known[kind] = any(is_a(scalar, each) for each in kinds)
        return known[kind]

    return asked


_may_be_useless_of_two = _of_scalars(scalars.EQ, scalars.NEQ, scalars.XOR, scalars.AND, scalars.OR)
_may_be_useless_of_one = _of_scalars(scalars.Mul, scalars.Add, scalars.Identity)
_is_comparison = _of_scalars(
    *(scalars.LT, scalars.GT, scalars.LE, scalars.GE, scalars.EQ),
    *(scalars.ScalarMinimum, scalars.ScalarMaximum),
)


def _may_be_useless(fgraph: FunctionGraph, node: Apply) -> bool:
    """Return whether element-wise work may be its operand, or be known."""
    if len(node.inputs) == 1:
        return _may_be_useless_of_one(fgraph, node)
    return len(node.inputs) == 2 and _may_be_useless_of_two(fgraph, node)


def _reads_exponential(_: FunctionGraph, node: Apply) -> bool:
    return any(
        v.owner is not None
        and is_a(v.owner.op, Elemwise)
        and is_a(v.owner.op.scalar_op, scalars.Exp)
        for v in node.inputs
    )


# ---- graphs ----


def _has_constants_only(fgraph: FunctionGraph) -> bool:
    """Return whether there is a node that reads nothing but constants, and may be folded."""
    return any(
        all(v.owner is None and is_a(v, Constant) for v in node.inputs)
        and node.op.do_constant_folding(fgraph, node)
        for node in fgraph.apply_nodes
    )


def _reads_filled(fgraph: FunctionGraph) -> bool:
    """Return whether element-wise work, other than filling, reads what was filled."""
    return any(
        is_a(node.op, Elemwise)
        and not _is_filled(node)
        and any(_is_filled(variable.owner) for variable in node.inputs)
        for node in fgraph.apply_nodes
    )


def _is_filled(node: Apply | None) -> bool:
    return node is not None and is_a(node.op, Elemwise) and is_a(node.op.scalar_op, Second)


_NEVER_A_NUMBER = (CAReduce, Dot, IncSubtensor, Join, Reshape, Scan, SpecifyShape, Split)


def _may_be_another_product(fgraph: FunctionGraph, node: Apply) -> bool:
    """Return whether a product may be brought into canonical form, or is zero."""
    return PRODUCTS.may_change(fgraph, node) or _has_a_zero(fgraph, node)


_OF_NODES: dict[NodeRewriter, NodeQuestion] = {
    local_add_canonizer: SUMS.may_change,
    local_greedy_distributor: saves_operations,
    local_mul_canonizer: _may_be_another_product,
    local_mul_zero: _has_a_zero,
    basic.local_useless_elemwise: _may_be_useless,
    math.local_expm1: _reads_exponential,
    math.local_useless_elemwise_comparison: _is_comparison,
    product_with_zeros: _has_a_zero,
}
_OF_GRAPHS: dict[GraphRewriter, GraphQuestion] = {
    FOLD_CONSTANTS: _has_constants_only,
    topological_second_sink: _reads_filled,
}
