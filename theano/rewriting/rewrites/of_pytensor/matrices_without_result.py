"""PyTensor's rewrites of inverses and factors, with the errors of what they replace.

They compute a result without the inverse, or the factor, that a graph asks for. Of a matrix that
has none the operation raises LinAlgError, or gives NaN; what takes its place has to do so, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from pytensor import tensor as pt
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.traversal import ancestors
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.linalg import Cholesky, LUFactor, MatrixInverse, MatrixPinv

from theano.pytensor_internals.graphs.rewriting import NodeRewriter, copy_stack_trace
from theano.pytensor_internals.operations.tensor import KroneckerProduct
from theano.rewriting.rewrites.of_pytensor.guarded import Guarded
from theano.rewriting.rewrites.of_pytensor.guards import Condition

Finish = Callable[[Apply, Any], Any]


class WithErrors(Guarded):
    """A rewrite of one result, to which the errors of the operation are added.

    Parameters
    ----------
    rewriter
        The rewrite.
    finish
        Takes the node and what the rewrite gives for it; returns what has its errors, too.
    holds
        Whether the rewrite is asked about a node.
    """

    def __init__(self, rewriter: NodeRewriter, finish: Finish, holds: Condition | None = None):
        super().__init__(rewriter, holds)
        self.finish = finish

    def transform(self, fgraph: FunctionGraph, node: Apply, *args: Any, **kwargs: Any) -> Any:
        """Return what the rewrite gives, with errors."""
        replaced = super().transform(fgraph, node, *args, **kwargs)
        if not replaced:
            return replaced
        (made,) = replaced
        finished = self.finish(node, made)
        copy_stack_trace(node.outputs, finished)
        return [finished]


_not_singular = CheckAndRaise(LinAlgError, "Singular matrix")


def solution_where_inverse_exists(product: Apply, solution: object) -> Any:
    """``solve(A, b)`` for ``inv(A).dot(b)``: it is finite where both are, or A is singular."""
    finite = [_finite(operand) for v in product.inputs for operand in _inverted_in(v)]
    return _not_singular(solution, _finite(solution) | ~pt.all(pt.stack(finite)))


def checked_reciprocals(inverse: Apply, diagonal: object) -> Any:
    """``diag(1 / d)`` for ``inv(diag(d))``: no element is zero, or the matrix is singular."""
    return _not_singular(diagonal, pt.neq(_diagonal(inverse.inputs[0]), 0).all())


def defined_roots(factor: Apply, roots: object) -> Any:
    """``diag(sqrt(d))`` for ``cholesky(diag(d))``: NaN where the matrix is not positive definite."""
    positive = (_diagonal(factor.inputs[0]) > 0).all(axis=-1)
    return pt.switch(positive[..., None, None], roots, _nan(roots))


def with_positive_diagonal(factor: Apply, triangle: Any) -> Any:
    """``L`` for ``cholesky(L.dot(L.T))``: with columns turned so that its diagonal is positive.

    NaN where the product is not positive definite, since the diagonal has a zero.
    """
    if _is_factor(triangle):
        return triangle
    diagonal = _diagonal(triangle)
    signs = pt.switch(pt.eq(diagonal, 0).any(axis=-1, keepdims=True), np.nan, pt.sign(diagonal))
    signs = signs.astype(triangle.type.dtype)
    lower = factor.op.core_op.lower
    return triangle * (signs[..., None, :] if lower else signs[..., :, None])


def of_an_inverse(fgraph: FunctionGraph, node: Apply) -> bool:
    """Return whether an inverse is computed, and no pseudo-inverse, which every matrix has."""
    return isinstance(_core(node), MatrixInverse)


def of_pseudo_inverses(fgraph: FunctionGraph, node: Apply) -> bool:
    """Return whether the pseudo-inverse of a pseudo-inverse is computed: no other inverse is sure to be."""
    inner = _through_shuffles(node.inputs[0]).owner
    return (
        isinstance(_core(node), MatrixPinv)
        and inner is not None
        and isinstance(_core(inner), MatrixPinv)
    )


def of_real_numbers(fgraph: FunctionGraph, node: Apply) -> bool:
    """Return whether diagonals have signs."""
    return node.outputs[0].type.dtype.startswith("float")


def of_what_has_factors(fgraph: FunctionGraph, node: Apply) -> bool:
    """Not Cholesky's factor of a Kronecker product, whose operands need not have one each."""
    inner = _through_shuffles(node.inputs[0]).owner
    of_product = inner is not None and isinstance(inner.op, KroneckerProduct)
    return not (of_product and isinstance(_core(node), Cholesky))


def without_factors_that_may_not_be(
    fgraph: FunctionGraph, node: Apply, made: list[Variable]
) -> bool:
    """Return whether a determinant is not read off factors that are NaN for some matrices that have one.

    Cholesky's factor is also that of another matrix where this one is not symmetric.
    """
    read = [v.owner for v in ancestors(made, blockers=fgraph.variables) if v.owner is not None]
    return not any(isinstance(_core(reader), Cholesky | LUFactor) for reader in read)


def _core(node: Apply) -> Any:
    return getattr(node.op, "core_op", node.op)


def _through_shuffles(variable: Variable) -> Variable:
    while variable.owner is not None and isinstance(variable.owner.op, DimShuffle):
        (variable,) = variable.owner.inputs
    return variable


def _inverted_in(operand: Variable) -> list[Any]:
    """Return the matrix of which a product's operand is the inverse, or the operand."""
    node = _through_shuffles(operand).owner
    if node is not None and isinstance(_core(node), MatrixInverse):
        return [node.inputs[0]]
    return [operand]


def _is_factor(triangle: Variable) -> bool:
    """Return whether it is a factor of Cholesky's, looked at or not, which has a positive diagonal."""
    node = _through_shuffles(triangle).owner
    while node is not None and isinstance(node.op, CheckAndRaise):
        node = _through_shuffles(node.inputs[0]).owner
    return node is not None and isinstance(_core(node), Cholesky)


def _diagonal(matrix: object) -> Any:
    return pt.diagonal(matrix, axis1=-2, axis2=-1)


def _finite(array: Any) -> Any:
    if not array.type.dtype.startswith(("float", "complex")):
        return pt.constant(True)
    return ~(pt.isnan(array) | pt.isinf(array)).any()


def _nan(like: Any) -> Any:
    return pt.constant(np.asarray(np.nan, like.type.dtype))
