"""Matrix products, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.utils import InconsistencyError
from pytensor.tensor.blas import (
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
from pytensor.tensor.blas import _dot22 as _dot22
from pytensor.tensor.blas import _dot22scalar as _dot22scalar
from pytensor.tensor.rewriting import blas as _rewrites
from pytensor.tensor.rewriting.blas import (
    GemmOptimizer,
    _as_scalar,
    _factor_canonicalized,
    _is_real_matrix,
    _is_real_vector,
    blas_optdb,
)
from pytensor.tensor.rewriting.blas import _gemm_canonicalize as _terms_of_product

from theano.gof.local_rewriters import OfPyTensor
from theano.tensor.batched import batched_dot, batched_tensordot

# Asked as Theano's rewrites were: ``rewrite.transform(node)``.
local_dot22_to_dot22scalar = OfPyTensor(
    _rewrites.local_dot22_to_dot22scalar, "local_dot22_to_dot22scalar"
)
local_dot22_to_ger_or_gemv = OfPyTensor(
    _rewrites.local_dot22_to_ger_or_gemv, "local_dot22_to_ger_or_gemv"
)
local_dot_to_dot22 = OfPyTensor(_rewrites.local_dot_to_dot22, "local_dot_to_dot22")
local_gemm_to_gemv = OfPyTensor(_rewrites.local_gemm_to_gemv, "local_gemm_to_gemv")
local_gemm_to_ger = OfPyTensor(_rewrites.local_gemm_to_ger, "local_gemm_to_ger")
local_inplace_gemm = OfPyTensor(_rewrites.local_inplace_gemm, "local_inplace_gemm")
local_inplace_gemv = OfPyTensor(_rewrites.local_inplace_gemv, "local_inplace_gemv")
local_inplace_ger = OfPyTensor(_rewrites.local_inplace_ger, "local_inplace_ger")


def res_is_a(var: Variable, op: Op) -> bool:
    """Say whether `op` computes the variable."""
    return var.owner is not None and var.owner.op == op


def _gemm_canonicalize(r: Variable, scale: Any, rval: list, maxclients: int | None) -> Any:
    """Write a sum of scaled matrices as a list of pairs: a scale and a matrix."""
    graph = FunctionGraph(None, [r], clone=False)
    return _terms_of_product(graph, r, scale, rval, maxclients)
