"""A product of matrices that is scaled, and read by nothing else, is scaled as it is computed.

PyTensor's rewrite asks for no more than a product and a factor: where anything else reads the
product, as every optimizer with a momentum does, it is then computed twice.
"""

from __future__ import annotations

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.math import mul

from theano.pytensor_internals.graphs.rewriting import node_rewriter
from theano.pytensor_internals.operations.tensor import Dot22
from theano.pytensor_internals.operations.tensor_rewrites import local_dot22_to_dot22scalar


@node_rewriter([mul])
def scaled_product(graph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """``c * dot22(x, y)`` -> ``dot22scalar(x, y, c)``, where nothing else reads the product."""
    for operand in node.inputs:
        product = operand.owner
        if product is not None and isinstance(product.op, Dot22):
            if len(graph.clients[operand]) > 1:
                return None
    return local_dot22_to_dot22scalar.transform(graph, node) or None
