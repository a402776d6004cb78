"""Theano 1.0's `theano.tensor`: symbolic arrays and the functions on them."""
# ruff: noqa: F401, F403 -- this file re-exports

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.tensor import einsum, linalg, pad

from theano import compile, gof, gradient, printing
from theano import scalar as scal
from theano.configparser import config
from theano.gradient import hessian, jacobian
from theano.raise_op import Assert
from theano.support.lazy_names import lazy_names
from theano.tensor import (
    basic,
    elemwise,
    extra_ops,
    inplace,
    nlinalg,
    raw_random,
    shared_randomstreams,
    sharedvar,
    slinalg,
    subtensor,
    type,
    type_other,
    utils,
    var,
    xlogx,
)
from theano.tensor.basic import *
from theano.tensor.basic import abs_, default, inv, setdefault
from theano.tensor.elemwise import (  # type: ignore[assignment]  # `basic` has the `Any` of `typing`
    All,
    Any,
    CAReduce,
    DimShuffle,
    Elemwise,
    Prod,
    Sum,
)
from theano.tensor.extra_ops import (
    bartlett,
    bincount,
    compress,
    cumprod,
    cumsum,
    diff,
    fill_diagonal,
    fill_diagonal_offset,
    ravel_multi_index,
    searchsorted,
    squeeze,
    to_one_hot,
    unique,
    unravel_index,
)
from theano.tensor.sharedvar import (
    ScalarSharedVariable,
    TensorSharedVariable,
    scalar_constructor,
    shared_constructor,
    tensor_constructor,
)
from theano.tensor.sharedvar import tensor_constructor as _shared
from theano.tensor.sort import argsort, argtopk, sort, topk, topk_and_argtopk
from theano.tensor.subtensor import (
    AdvancedBooleanIncSubtensor,
    AdvancedBooleanSubtensor,
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    IncSubtensor,
    Subtensor,
    advanced_inc_subtensor,
    advanced_inc_subtensor1,
    advanced_set_subtensor,
    advanced_subtensor1,
    inc_subtensor,
    set_subtensor,
    take,
)
from theano.tensor.type_other import (
    NoneConst,
    NoneTypeT,
    SliceConstant,
    SliceType,
    make_slice,
    slicetype,
)
from theano.tensor.var import AsTensorError, TensorConstantSignature

_LAZY = {
    "blas": ".blas",
    "blas_c": ".blas_c",
    "blas_scipy": ".blas_scipy",
    "fft": ".fft",
    "fourier": ".fourier",
    "io": ".io",
    "nnet": ".nnet",
    "opt": ".opt",
    "opt_uncanonicalize": ".opt_uncanonicalize",
    "signal": ".signal",
    "load": ".io",
}
__getattr__, __dir__ = lazy_names(__name__, _LAZY)

__all__ = [name for name in __dir__() if not name.startswith("_")]
