"""Operators on sparse matrices, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

import scipy.sparse
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.sparse.basic import (
    CSC,
    CSM,
    CSR,
    Cast,
    ColScaleCSC,
    ConstructSparseFromList,
    CSMGrad,
    CSMProperties,
    Diag,
    EnsureSortedIndices,
    GetItem2d,
    GetItem2Lists,
    GetItem2ListsGrad,
    GetItemList,
    GetItemListGrad,
    GetItemScalar,
    HStack,
    Remove0,
    RowScaleCSC,
    SparseFromDense,
    Transpose,
    VStack,
    _is_dense,
    _is_dense_variable,
    _is_sparse_variable,
    _mtype_to_str,
    _mtypes,
    all_dtypes,
    as_sparse,
    as_sparse_or_tensor_variable,
    as_sparse_variable,
    bcast,
    bsr_dmatrix,
    bsr_fmatrix,
    bsr_matrix,
    cast,
    ccast,
    clean,
    col_scale,
    complex_dtypes,
    construct_sparse_from_list,
    continuous_dtypes,
    csc_dmatrix,
    csc_fmatrix,
    csc_from_dense,
    csc_matrix,
    csm_data,
    csm_grad,
    csm_indices,
    csm_indptr,
    csm_properties,
    csm_shape,
    csr_dmatrix,
    csr_fmatrix,
    csr_from_dense,
    csr_matrix,
    dcast,
    diag,
    discrete_dtypes,
    ensure_sorted_indices,
    fcast,
    float_dtypes,
    get_item_2d,
    get_item_2lists,
    get_item_2lists_grad,
    get_item_list,
    get_item_list_grad,
    get_item_scalar,
    hstack,
    icast,
    int_dtypes,
    integer_dtypes,
    lcast,
    matrix,
    remove0,
    row_scale,
    sp_ones_like,
    sp_zeros_like,
    sparse_formats,
    transpose,
    uint_dtypes,
    vstack,
    wcast,
    zcast,
)
from pytensor.sparse.math import (
    AddSD,
    AddSS,
    AddSSData,
    Dot,
    EqualSD,
    EqualSS,
    GreaterEqualSD,
    GreaterEqualSS,
    GreaterThanSD,
    GreaterThanSS,
    LessEqualSD,
    LessEqualSS,
    LessThanSD,
    LessThanSS,
    NotEqualSD,
    NotEqualSS,
    SamplingDot,
    StructuredAddSV,
    StructuredDot,
    StructuredDotGradCSC,
    StructuredDotGradCSR,
    TrueDot,
    Usmm,
    _dot,
    _structured_dot,
    add,
    add_s_d,
    add_s_s,
    add_s_s_data,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
    ceil,
    conjugate,
    deg2rad,
    dot,
    eq,
    equal_s_d,
    equal_s_s,
    expm1,
    floor,
    ge,
    greater_equal_s_d,
    greater_equal_s_s,
    greater_than_s_d,
    greater_than_s_s,
    gt,
    le,
    less_equal_s_d,
    less_equal_s_s,
    less_than_s_d,
    less_than_s_s,
    log1p,
    lt,
    mul_s_d,
    mul_s_s,
    mul_s_v,
    neq,
    not_equal_s_d,
    not_equal_s_s,
    rad2deg,
    rint,
    sampling_dot,
    sdg_csc,
    sdg_csr,
    sign,
    sin,
    sinh,
    sqr,
    sqrt,
    structured_add,
    structured_add_s_v,
    structured_dot,
    structured_dot_grad,
    structured_exp,
    structured_log,
    structured_maximum,
    structured_minimum,
    structured_pow,
    structured_sigmoid,
    tan,
    tanh,
    true_dot,
    trunc,
    usmm,
)
from pytensor.sparse.math import SparseDenseMultiply as MulSD
from pytensor.sparse.math import SparseDenseVectorMultiply as MulSV
from pytensor.sparse.math import SparseSparseMultiply as MulSS
from pytensor.sparse.math import multiply as mul
from pytensor.sparse.math import structured_elemwise as structured_monoid
from pytensor.sparse.math import subtract as sub
from pytensor.sparse.variable import (
    SparseConstant,
    SparseConstantSignature,
    SparseVariable,
    _sparse_py_operators,
    constant,
)
from pytensor.tensor.basic import as_tensor_variable

from theano.sparse.structured_gradients import DenseFromSparse, SpSum, dense_from_sparse, sp_sum
from theano.sparse.type import SparseType, _is_sparse


class Neg(Op):
    """The negative of a sparse matrix."""

    __props__ = ()

    def make_node(self, x):
        x = as_sparse_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = -inputs[0]

    def pullback(self, inputs, outputs, cotangents):
        return [-cotangents[0]]

    def infer_shape(self, fgraph, node, input_shapes):
        return input_shapes


neg = Neg()


class SquareDiagonal(Op):
    """The square matrix in csc format whose diagonal is a vector."""

    __props__ = ()

    def make_node(self, diagonal):
        diagonal = as_tensor_variable(diagonal)
        if diagonal.ndim != 1:
            raise TypeError(f"square_diagonal: expected a vector, got {diagonal.type}")
        return Apply(self, [diagonal], [SparseType("csc", diagonal.dtype)()])

    def perform(self, node, inputs, output_storage):
        diagonal = inputs[0]
        output_storage[0][0] = scipy.sparse.csc_matrix(
            (diagonal.copy(), range(len(diagonal)), range(len(diagonal) + 1)),
            shape=(len(diagonal), len(diagonal)),
        )

    def pullback(self, inputs, outputs, cotangents):
        return [diag(cotangents[0])]

    def infer_shape(self, fgraph, node, input_shapes):
        return [input_shapes[0] * 2]


square_diagonal = SquareDiagonal()


def sgn(x):
    """Return the sign of each stored element of a sparse matrix."""
    return sign(x)


def conj(x):
    """Return the complex conjugate of each stored element of a sparse matrix."""
    return conjugate(x)
