"""Rewrites of linear algebra that see through the checks of its results."""

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.linalg import Cholesky

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace, node_rewriter
from theano.pytensor_internals.operations.tensor import SolveBase
from theano.pytensor_internals.operations.tensor_rewrites import blockwise_of
from theano.tensor.rewrite_registration import register_canonicalize


@register_canonicalize
@node_rewriter([blockwise_of(SolveBase)])
def lift_check_of_factor_over_solve(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Solve with a Cholesky factor itself, and check the factor's check afterwards.

    solve(check(L, holds), b) -> check(solve(L, b), holds), also of a transposed L

    The other rewrites then find that the matrix is triangular.
    """
    matrix, *others = node.inputs
    found = _checked_factor(matrix)
    if found is None:
        return None
    factor, check = found
    solution = node.op.make_node(factor, *others).outputs[0]
    checked = check.op(solution, *check.inputs[1:])
    copy_stack_trace(node.outputs[0], [solution, checked])
    return [checked]


def _checked_factor(matrix: Variable) -> tuple[Variable, Apply] | None:
    """Return the factor without its check, and the check's node."""
    transpose = None
    node = matrix.owner
    if node is not None and _is_transpose(node):
        transpose, node = node, node.inputs[0].owner
    if node is None or not isinstance(node.op, CheckAndRaise):
        return None
    factor = node.inputs[0]
    if factor.owner is None or not isinstance(_core_of(factor.owner), Cholesky):
        return None
    return (factor if transpose is None else transpose.op(factor)), node


def _is_transpose(node: Apply | None) -> bool:
    if node is None or not isinstance(node.op, DimShuffle):
        return False
    return node.op.is_left_expanded_matrix_transpose


def _core_of(node: Apply):
    return getattr(node.op, "core_op", node.op)
