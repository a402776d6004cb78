"""Products and transposes of structured matrices: looked for where one is made.

PyTensor asks of each product and transpose, at each visit, whether an operand is diagonal,
orthogonal, a selection or symmetric, and follows it to the graph's inputs: an eighth of a deep network's compilation, and growing faster than the
network. No fact can come of it unless something in the graph makes such a matrix.
"""

from __future__ import annotations

from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.basic import AllocDiag, Eye
from pytensor.tensor.blockwise import Blockwise

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import GraphRewriter, out2in
from theano.pytensor_internals.names_in_messages import LINEAR_ALGEBRA
from theano.pytensor_internals.operations.tensor import SpecifyAssumptions
from theano.pytensor_internals.operations.tensor_rewrites import (
    dot_diag_to_elemwise,
    orthogonal_dot_transpose_to_eye,
    selection_dot_to_indexing,
    useless_symmetric_transpose,
)

# excluded from Theano's modes by name; StructuredProducts runs them
BY_NAME = (
    "dot_diag_to_elemwise",
    "orthogonal_dot_transpose_to_eye",
    "selection_dot_to_indexing",
    "useless_symmetric_transpose",
)

_MAKERS = (AllocDiag, Eye, SpecifyAssumptions)


class StructuredProducts(GraphRewriter):
    """PyTensor's rewrites of such products, in graphs that make such matrices."""

    name = "structured_products"

    def __init__(self) -> None:
        self._rewrites = out2in(
            dot_diag_to_elemwise,
            orthogonal_dot_transpose_to_eye,
            selection_dot_to_indexing,
            useless_symmetric_transpose,
        )

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Require what the rewrites do."""
        self._rewrites.add_requirements(fgraph)

    def apply(self, fgraph: FunctionGraph) -> None:
        """Rewrite the products, if a node of the graph makes a matrix of a known structure."""
        if any(_makes_structure(node.op) for node in fgraph.apply_nodes):
            self._rewrites.apply(fgraph)


def _makes_structure(op: object) -> bool:
    op = op.core_op if is_a(op, Blockwise) else op
    return isinstance(op, _MAKERS) or type(op).__module__.startswith(LINEAR_ALGEBRA)
