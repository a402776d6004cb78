"""Internals of PyTensor's tensors: operators that not every release has, indices, methods."""
# ruff: noqa: F401 -- this file re-exports

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.assumptions.specify import (
    SpecifyAssumptions,  # says of a matrix that it is triangular, symmetric or the like
)
from pytensor.graph.basic import Apply
from pytensor.tensor import (
    _as_tensor_variable as as_tensor_variable_of_class,  # by class: how it becomes a tensor
)
from pytensor.tensor.blas import (
    BatchedDot,  # products of matrices along the first dimension
    Dot22,  # a product of two matrices
    Dot22Scalar,  # a product of two matrices and a number
    Gemm,  # z * b + a * dot(x, y)
    GemmRelated,  # base of Gemm, Dot22 and Dot22Scalar
    Gemv,  # y * b + a * dot(A, x)
    gemm,
    gemm_inplace,
    gemm_no_inplace,
    gemv,
    gemv_inplace,
    gemv_no_inplace,
    ldflags,  # the flags that link a BLAS
    view_roots,  # the variables whose memory a variable is
)
from pytensor.tensor.blas import _dot22 as dot22
from pytensor.tensor.blas import _dot22scalar as dot22scalar
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.extra_ops import (
    _broadcast_assert as broadcast_assert,  # the assertion that a length is 1 or equal
)
from pytensor.tensor.linalg.constructors import (
    BlockDiagonal,  # matrices one after the other along a diagonal
)
from pytensor.tensor.linalg.products import (
    KroneckerProduct,  # the Kronecker product of two matrices
)
from pytensor.tensor.linalg.solvers.core import (
    SolveBase,  # base of the operators that solve a system
)
from pytensor.tensor.linalg.solvers.linear_control import (
    TRSYL,  # a x + x b = c, where a and b are triangles with blocks of two on their diagonals
)
from pytensor.tensor.linalg.solvers.tridiagonal import (
    LUFactorTridiagonal,  # three diagonals -> those of the factors, and which rows were exchanged
    SolveLUFactorTridiagonal,  # those and right sides -> the solution
)
from pytensor.tensor.math import (
    _conj as conj_of_elements,  # the conjugate also of real numbers
)
from pytensor.tensor.random.type import (
    RandomType,  # the type of random generators
)
from pytensor.tensor.reshape import (
    JoinDims,  # makes one dimension of several
    SplitDims,  # makes several of one
)
from pytensor.tensor.signal.conv import Convolve1d  # a vector with another one
from pytensor.tensor.subtensor import (
    as_index_constant,  # an entry of an index as a constant, if it is one
    get_canonical_form_slice,  # (slice, length) -> one without negative numbers, direction
    get_idx_list,  # (all inputs, idx_list) -> the entries of the index
    indices_from_subtensor,  # (inputs that are indices, idx_list) -> the entries of the index
    unflatten_index_variables,  # the same, of variables
)
from pytensor.tensor.symbolic import (
    TensorSymbolicOp,  # an operator that is a graph of tensors: `build_inner_graph`
)
from pytensor.tensor.type import (
    dtensor5s,  # several variables of five dimensions
    itensor5s,
)
from pytensor.tensor.utils import (
    hash_from_ndarray,  # the hash of an array: values, dtype, shape
    shape_of_variables,  # shapes of a graph's variables, for given shapes of its inputs
)
from pytensor.tensor.variable import (
    _tensor_py_operators as TensorOperators,  # the methods and operators of tensors
)

# what PyTensor 3.3 no longer has, and what it moved
if sys.version_info >= (3, 12):
    from pytensor.conditional.op import (
        IfElse,  # the lazy choice between values: `n_outs`, `as_view`
        ifelse,  # makes it
    )
    from pytensor.tensor.blas.blas_c import (
        BaseBLAS,  # base of operators whose C calls BLAS
        CGemv,  # Gemv in C
        cgemv_inplace,
        cgemv_no_inplace,
        must_initialize_y_gemv,  # whether BLAS reads what gemv is to overwrite
    )
    from pytensor.tensor.special import (
        logaddexp,  # log(sum(exp(x))) of several operands
        logsumexp,  # the same along axes
    )

    from theano.pytensor_internals.since_3_3.elementwise import (
        angle,  # operators of one or two operands, element by element
        complex_from_polar,
        deg2rad,
        gammal,
        gammau,
        rad2deg,
    )
    from theano.pytensor_internals.since_3_3.log_sums import (
        GRADIENT_RULES,  # class of an operator that is a graph -> the operator with a gradient
    )
    from theano.pytensor_internals.since_3_3.rank_one_update import (
        Ger,  # A + a * outer(x, y)
        ger,
        ger_destructive,
    )
    from theano.pytensor_internals.since_3_3.rank_one_update import Ger as CGer
    from theano.pytensor_internals.since_3_3.rank_one_update import ger as cger_no_inplace
    from theano.pytensor_internals.since_3_3.rank_one_update import ger_destructive as cger_inplace
    from theano.pytensor_internals.since_3_3.rows_at_positions import (
        AdvancedIncSubtensor1,  # x[index] set or increased along the first dimension
        AdvancedSubtensor1,  # x[index] along the first dimension
        with_rows_repeated,  # (changed) -> the same where one row was set at several positions
    )
else:
    from theano.pytensor_internals.before_3_3.symbolic import GRADIENT_RULES
    from theano.pytensor_internals.before_3_3.tensor import (
        AdvancedIncSubtensor1,
        AdvancedSubtensor1,
        BaseBLAS,
        CGemv,
        CGer,
        Ger,
        IfElse,
        angle,
        cgemv_inplace,
        cgemv_no_inplace,
        cger_inplace,
        cger_no_inplace,
        complex_from_polar,
        deg2rad,
        gammal,
        gammau,
        ger,
        ger_destructive,
        ifelse,
        logaddexp,
        logsumexp,
        must_initialize_y_gemv,
        rad2deg,
        with_rows_repeated,
    )


def check_repeated_lengths(node: Apply, values: Sequence[np.ndarray]) -> None:
    """Raise ValueError where a length is 1 that the types do not say may be repeated.

    `node` is an element-wise operation, or one on a batch.
    """
    op: Any = node.op
    op._check_runtime_broadcast(node, values)


def check_repeated_rows(node: Apply, x: np.ndarray, y: np.ndarray, index: np.ndarray) -> None:
    """Do the same, for the rows `y` that are set in `x` or added to it."""
    op: Any = node.op
    op._check_runtime_broadcasting(node, x, y, index)
