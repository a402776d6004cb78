"""Functions on tensors, by Theano 1.0's names; PyTensor's own where they are the same."""
# ruff: noqa: F401, F403 -- this file re-exports

from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import Op
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import *
from pytensor.tensor.basic import (
    Alloc,
    AllocEmpty,
    ARange,
    Choose,
    ExtractDiag,
    Eye,
    MakeVector,
    Nonzero,
    PermuteRowElements,
    ScalarFromTensor,
    TensorFromScalar,
    alloc_diag,
    infer_static_shape,
    make_vector,
    register_transfer,
)
from pytensor.tensor.basic import diagonal as extract_diag
from pytensor.tensor.elemwise import CAReduce, Elemwise
from pytensor.tensor.exceptions import NotScalarConstantError, ShapeError
from pytensor.tensor.math import *
from pytensor.tensor.math import (
    Argmax,
    Dot,
    Sum,
    ceil_intdiv,
    isinf_,
    isnan_,
)
from pytensor.tensor.math import abs as abs_
from pytensor.tensor.math import reciprocal as inv
from pytensor.tensor.math import sign as sgn
from pytensor.tensor.shape import (
    Reshape,
    Shape,
    shape,
    shape_padaxis,
    shape_padleft,
    shape_padright,
)
from pytensor.tensor.variable import TensorConstant

from theano.compile.rebroadcast import Rebroadcast, addbroadcast, patternbroadcast, unbroadcast
from theano.compile.specify_shape import SpecifyShape, specify_shape
from theano.configparser import config
from theano.gof.utils import hashtype
from theano.gradient import (
    DisconnectedType,
    Lop,
    Rop,
    consider_constant,
    grad,
    grad_not_implemented,
    grad_undefined,
    numeric_grad,
    verify_grad,
)
from theano.printing import min_informative_str, pprint
from theano.pytensor_internals.operations.axes import Join, Split
from theano.pytensor_internals.operations.tensor import (
    angle,
    complex_from_polar,
    deg2rad,
    gammal,
    gammau,
    logaddexp,
    logsumexp,
    rad2deg,
)
from theano.pytensor_internals.operations.tensor import conj_of_elements as conj
from theano.pytensor_internals.operations.tensor_casts import convert_to_bool as _convert_to_bool
from theano.pytensor_internals.operations.tensor_casts import (
    convert_to_complex64 as _convert_to_complex64,
)
from theano.pytensor_internals.operations.tensor_casts import (
    convert_to_complex128 as _convert_to_complex128,
)
from theano.pytensor_internals.operations.tensor_casts import (
    convert_to_float16 as _convert_to_float16,
)
from theano.pytensor_internals.operations.tensor_casts import (
    convert_to_float32 as _convert_to_float32,
)
from theano.pytensor_internals.operations.tensor_casts import (
    convert_to_float64 as _convert_to_float64,
)
from theano.pytensor_internals.operations.tensor_casts import convert_to_int8 as _convert_to_int8
from theano.pytensor_internals.operations.tensor_casts import convert_to_int16 as _convert_to_int16
from theano.pytensor_internals.operations.tensor_casts import convert_to_int32 as _convert_to_int32
from theano.pytensor_internals.operations.tensor_casts import convert_to_int64 as _convert_to_int64
from theano.pytensor_internals.operations.tensor_casts import convert_to_uint8 as _convert_to_uint8
from theano.pytensor_internals.operations.tensor_casts import (
    convert_to_uint16 as _convert_to_uint16,
)
from theano.pytensor_internals.operations.tensor_casts import (
    convert_to_uint32 as _convert_to_uint32,
)
from theano.pytensor_internals.operations.tensor_casts import (
    convert_to_uint64 as _convert_to_uint64,
)
from theano.raise_op import assert_op
from theano.tensor.as_tensor import as_tensor, as_tensor_variable
from theano.tensor.constant_cache import constant, constant_cache
from theano.tensor.constants import (  # type: ignore[assignment]  # has other arguments than PyTensor's
    EmptyConstantError,
    extract_constant,
    get_scalar_constant_value,
)
from theano.tensor.elemwise import DimShuffle
from theano.tensor.extra_ops import repeat
from theano.tensor.extremes import (  # type: ignore[assignment]  # have other arguments than PyTensor's
    argmax,
    argmin,
    max,
    max_and_argmax,
    min,
)
from theano.tensor.linear_algebra.batched import batched_dot, batched_tensordot
from theano.tensor.linear_algebra.products import _dot
from theano.tensor.old.functions import chi2sf
from theano.tensor.old.operators import (
    AllocDiag,
    Default,
    MaxAndArgmax,
    Mean,
    Tile,
    Tri,
    default,
    setdefault,
)
from theano.tensor.old.shaping import (  # type: ignore[assignment]  # have other arguments than PyTensor's
    concatenate,
    flatten,
    join,
    reshape,
    split,
    stack,
    tile,
    transpose,
)
from theano.tensor.products_of_elements import prod
from theano.tensor.type import *
from theano.tensor.type import (
    Tensor,
    TensorType,
    all_dtypes,
    col,
    complex_dtypes,
    continuous_dtypes,
    discrete_dtypes,
    float_dtypes,
    int_dtypes,
    integer_dtypes,
    matrix,
    row,
    scalar,
    tensor,
    tensor3,
    tensor4,
    tensor5,
    tensor6,
    tensor7,
    uint_dtypes,
    vector,
    wmatrix,
)
from theano.tensor.var import TensorVariable

# Tolerances of `_allclose` by config.tensor.cmp_sloppy: (absolute, relative) for float16, float32
# and float64. Programs assign to the names below.
_TOLERANCES = {
    0: ((1e-3, 1e-3), (1e-5, 1e-5), (1e-8, 1e-5)),
    1: ((5e-3, 1e-2), (1e-4, 1e-3), (1e-3, 1e-4)),
    2: ((1e-2, 5e-2), (5e-4, 1e-3), (1e-3, 1e-4)),
}
(
    (float16_atol, float16_rtol),
    (float32_atol, float32_rtol),
    (float64_atol, float64_rtol),
) = _TOLERANCES.get(int(config.tensor.cmp_sloppy), _TOLERANCES[2])


def _get_atol_rtol(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Return the absolute and the relative tolerance for the less precise of two arrays."""
    dtypes = {str(a.dtype), str(b.dtype)}
    if "float16" in dtypes:
        return float16_atol, float16_rtol
    if dtypes & {"float32", "complex64"}:
        return float32_atol, float32_rtol
    return float64_atol, float64_rtol


def _allclose(
    a: TensorLike, b: TensorLike, rtol: float | None = None, atol: float | None = None
) -> bool:
    """``numpy.allclose`` with tolerances for the less precise dtype, unless they are given."""
    a, b = np.asarray(a), np.asarray(b)
    usual_atol, usual_rtol = _get_atol_rtol(a, b)
    return np.allclose(
        a,
        b,
        atol=usual_atol if atol is None else atol,
        rtol=usual_rtol if rtol is None else rtol,
    )
