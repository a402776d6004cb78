"""Operators on sparse matrices whose gradient may be structured or not, and which say so.

PyTensor's compare equal whichever gradient they have: a copy of a graph then gives both the
gradient of one of them.
"""

from __future__ import annotations

from pytensor.graph.basic import Variable
from pytensor.tensor.subtensor import AdvancedSubtensor

from theano.pytensor_internals.operations.sparse import DenseFromSparse as _PyTensorDenseFromSparse
from theano.pytensor_internals.operations.sparse import SpSum as _PyTensorSpSum
from theano.pytensor_internals.operations.tensor import AdvancedSubtensor1


class DenseFromSparse(_PyTensorDenseFromSparse):
    """A sparse matrix as a dense one.

    Parameters
    ----------
    structured : bool
        Whether the gradient is zero where the matrix stores nothing.
    """

    __props__ = ("sparse_grad",)  # type: ignore[assignment]


class SpSum(_PyTensorSpSum):
    """The sum of a sparse matrix over an axis or over both: see `sp_sum`."""

    __props__ = ("axis", "structured")  # type: ignore[assignment]


dense_from_sparse = DenseFromSparse()


def sp_sum(x: Variable, axis: int | None = None, sparse_grad: bool = False) -> Variable:
    """Return the sum of a sparse matrix.

    Parameters
    ----------
    x : sparse matrix
        The matrix.
    axis : int, optional
        0 or 1; by default the sum is over both.
    sparse_grad : bool
        Whether the gradient is zero where the matrix stores nothing.

    Returns
    -------
    variable
        A dense vector, or a scalar.

    Raises
    ------
    ValueError
        `axis` is neither None nor 0 nor 1.
    """
    total: Variable = SpSum(axis, sparse_grad)(x)  # type: ignore[assignment]
    return total


def sparse_grad(var: Variable) -> Variable:
    """Return ``x[indices]`` again, such that its gradient with respect to x is a sparse matrix.

    Parameters
    ----------
    var : Variable
        What indexing a matrix with a vector of integers gave.

    Returns
    -------
    Variable

    Raises
    ------
    TypeError
        `var` is something else.
    """
    node = var.owner
    if node is None or not isinstance(node.op, AdvancedSubtensor | AdvancedSubtensor1):
        raise TypeError(f"sparse_grad: expected x[indices] with a vector of integers, got {var}")
    x, *indices = node.inputs
    if len(indices) > 1:
        raise TypeError(f"sparse_grad: expected one vector of indices, got {len(indices)} of {var}")
    rows: Variable = AdvancedSubtensor1(sparse_grad=True)(x, indices[0])  # type: ignore[assignment]
    return rows
