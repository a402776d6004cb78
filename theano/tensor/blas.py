"""Matrix products, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op

from theano.gof.rewriters.local_rewriters import OfPyTensor
from theano.pytensor_internals.graphs.graph import InconsistencyError
from theano.pytensor_internals.operations.tensor import (
    BatchedDot,
    Dot22,
    Dot22Scalar,
    Gemm,
    Gemv,
    Ger,
    gemm,
    gemm_inplace,
    gemm_no_inplace,
    gemv,
    gemv_inplace,
    gemv_no_inplace,
    ger,
    ger_destructive,
    ldflags,
)
from theano.pytensor_internals.operations.tensor import dot22 as _dot22
from theano.pytensor_internals.operations.tensor import dot22scalar as _dot22scalar
from theano.pytensor_internals.operations.tensor_rewrites import GemmOptimizer, blas_optdb
from theano.pytensor_internals.operations.tensor_rewrites import as_scalar as _as_scalar
from theano.pytensor_internals.operations.tensor_rewrites import blas as _rewrites
from theano.pytensor_internals.operations.tensor_rewrites import (
    factor_canonicalized as _factor_canonicalized,
)
from theano.pytensor_internals.operations.tensor_rewrites import is_real_matrix as _is_real_matrix
from theano.pytensor_internals.operations.tensor_rewrites import is_real_vector as _is_real_vector
from theano.pytensor_internals.operations.tensor_rewrites import (
    local_dot22_to_ger_or_gemv as _local_dot22_to_ger_or_gemv,
)
from theano.pytensor_internals.operations.tensor_rewrites import (
    local_gemm_to_ger as _local_gemm_to_ger,
)
from theano.pytensor_internals.operations.tensor_rewrites import (
    local_inplace_ger as _local_inplace_ger,
)
from theano.pytensor_internals.operations.tensor_rewrites import terms_of_sum as _terms_of_product
from theano.tensor.linear_algebra.batched import batched_dot, batched_tensordot

# Asked as Theano's rewrites were: ``rewrite.transform(node)``.
local_dot22_to_dot22scalar = OfPyTensor(
    _rewrites.local_dot22_to_dot22scalar, "local_dot22_to_dot22scalar"
)
local_dot22_to_ger_or_gemv = OfPyTensor(_local_dot22_to_ger_or_gemv, "local_dot22_to_ger_or_gemv")
local_dot_to_dot22 = OfPyTensor(_rewrites.local_dot_to_dot22, "local_dot_to_dot22")
local_gemm_to_gemv = OfPyTensor(_rewrites.local_gemm_to_gemv, "local_gemm_to_gemv")
local_gemm_to_ger = OfPyTensor(_local_gemm_to_ger, "local_gemm_to_ger")
local_inplace_gemm = OfPyTensor(_rewrites.local_inplace_gemm, "local_inplace_gemm")
local_inplace_gemv = OfPyTensor(_rewrites.local_inplace_gemv, "local_inplace_gemv")
local_inplace_ger = OfPyTensor(_local_inplace_ger, "local_inplace_ger")


def res_is_a(var: Variable, op: Op) -> bool:
    """Return whether `op` computes the variable."""
    return var.owner is not None and var.owner.op == op


def _gemm_canonicalize(r: Variable, scale: object, rval: list, maxclients: int | None) -> Any:
    """Write a sum of scaled matrices as a list of pairs: a scale and a matrix."""
    graph = FunctionGraph(None, [r], clone=False)
    return _terms_of_product(graph, r, scale, rval, maxclients)
