"""A product and its transpose, written as separate products, become one product.

    x.dot(y), y.T.dot(x.T)   ->   p, p.T

PyTensor merges products of equal operands in one order, and writes the transpose of a product as
a product of transposes, also where the product is needed as it is.
"""

from __future__ import annotations

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.math import Dot

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.graphs.rewriting import GraphRewriter, copy_stack_trace


class TransposedProducts(GraphRewriter):
    """Compute a product and its transpose once."""

    name = "transposed_products"

    def apply(self, graph: FunctionGraph) -> None:
        """Make of each product a transpose that is the transpose of an earlier one."""
        products: dict[tuple[Variable, bool, Variable, bool], Variable] = {}
        replacements: list[tuple[Variable, Variable]] = []
        for node in in_order(graph):
            if not is_a(node.op, Dot):
                continue
            product = node.outputs[0]
            (left, left_turned), (right, right_turned) = map(transposed_from, node.inputs)
            of = products.get((right, not right_turned, left, not left_turned))
            if of is None:
                products[left, left_turned, right, right_turned] = product
                continue
            turned = of.dimshuffle(1, 0)  # type: ignore[attr-defined]
            copy_stack_trace(product, turned)
            replacements.append((product, product.type.filter_variable(turned)))
        graph.replace_all(replacements, reason=self.name)


def transposed_from(matrix: Variable) -> tuple[Variable, bool]:
    """Return what a matrix is the transpose of, and whether it is one."""
    turned = False
    while _is_transpose(matrix.owner):
        matrix, turned = matrix.owner.inputs[0], not turned  # type: ignore[union-attr]
    return matrix, turned


def _is_transpose(node: Apply | None) -> bool:
    return node is not None and is_a(node.op, DimShuffle) and tuple(node.op.new_order) == (1, 0)
