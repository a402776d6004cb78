"""Theano 1.0's `theano.tensor`: symbolic arrays and the functions on them."""
# ruff: noqa: F401, F403 -- this file re-exports

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.tensor import einsum, linalg, pad

from theano import compile, gof, gradient, printing  # noqa: A004
from theano import scalar as scal
from theano.configparser import config
from theano.flags.blas_messages import no_blas_remarks
from theano.gradient import hessian, jacobian
from theano.tensor import (
    basic,
    blas,
    blas_c,
    blas_scipy,
    elemwise,
    extra_ops,
    fft,
    fourier,
    inplace,
    io,
    linalg_rewrites,
    nlinalg,
    opt,
    opt_uncanonicalize,
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
from theano.tensor.elemwise import All, Any, CAReduce, DimShuffle, Elemwise, Prod, Sum
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
from theano.tensor.io import load
from theano.tensor.opt import Assert
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

from theano.tensor import nnet, signal  # isort: skip -- they are built on the names above

with no_blas_remarks():
    # PyTensor asks whether matrices are sparse at the first constant that it looks at: with SciPy,
    # half of the time that a small function takes to compile.
    import pytensor.sparse
