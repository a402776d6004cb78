"""Products of matrices, whichever operation computes them."""

from __future__ import annotations

from collections.abc import Iterable

from pytensor.graph.basic import Apply
from pytensor.graph.op import HasInnerGraph, Op
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.math import Dot

from theano.pytensor_base.scan import Scan as PyTensorScan
from theano.pytensor_base.tensor import BatchedDot, GemmRelated, Gemv, Ger

# GemmRelated: Gemm, Dot22 and Dot22Scalar
PRODUCTS = (Dot, GemmRelated, Gemv, Ger, BatchedDot)


def is_product(op: Op) -> bool:
    """Whether an operation is a product of vectors, matrices or stacks of them."""
    return isinstance(op.core_op if isinstance(op, Blockwise) else op, PRODUCTS)


def products_among(nodes: Iterable[Apply]) -> list[Apply]:
    """The products among the nodes and in graphs inside them, but not in loops."""
    found: list[Apply] = []
    for node in nodes:
        if is_product(node.op):
            found.append(node)
        elif isinstance(node.op, HasInnerGraph) and not isinstance(node.op, PyTensorScan):
            found += products_among(node.op.fgraph.toposort())
    return found
