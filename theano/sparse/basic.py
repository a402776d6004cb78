"""Operators on sparse matrices, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

import scipy.sparse
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.basic import as_tensor_variable

from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.pytensor_internals.operations.sparse import (
    CSC,
    CSM,
    CSR,
    Cast,
    ColScaleCSC,
    ConstructSparseFromList,
    CSMGrad,
    CSMProperties,
    Diag,
    Dot,
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
    SamplingDot,
    SparseConstant,
    SparseConstantSignature,
    SparseFromDense,
    SparseVariable,
    StructuredDot,
    StructuredDotGradCSC,
    StructuredDotGradCSR,
    Transpose,
    TrueDot,
    Usmm,
    VStack,
    add,
    add_s_d,
    add_s_s,
    add_s_s_data,
    all_dtypes,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
    as_sparse,
    as_sparse_or_tensor_variable,
    as_sparse_variable,
    bcast,
    bsr_dmatrix,
    bsr_fmatrix,
    bsr_matrix,
    cast,
    ccast,
    ceil,
    clean,
    col_scale,
    complex_dtypes,
    conjugate,
    constant,
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
    deg2rad,
    diag,
    discrete_dtypes,
    dot,
    ensure_sorted_indices,
    eq,
    equal_s_d,
    equal_s_s,
    expm1,
    fcast,
    float_dtypes,
    floor,
    ge,
    get_item_2d,
    get_item_2lists,
    get_item_2lists_grad,
    get_item_list,
    get_item_list_grad,
    get_item_scalar,
    greater_equal_s_d,
    greater_equal_s_s,
    greater_than_s_d,
    greater_than_s_s,
    gt,
    hstack,
    icast,
    int_dtypes,
    integer_dtypes,
    lcast,
    le,
    less_equal_s_d,
    less_equal_s_s,
    less_than_s_d,
    less_than_s_s,
    log1p,
    lt,
    matrix,
    mul_s_d,
    mul_s_s,
    mul_s_v,
    neq,
    not_equal_s_d,
    not_equal_s_s,
    rad2deg,
    remove0,
    rint,
    row_scale,
    sampling_dot,
    sdg_csc,
    sdg_csr,
    sign,
    sin,
    sinh,
    sp_ones_like,
    sp_zeros_like,
    sparse_formats,
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
    transpose,
    true_dot,
    trunc,
    uint_dtypes,
    usmm,
    vstack,
    wcast,
    zcast,
)
from theano.pytensor_internals.operations.sparse import AddSparseDense as AddSD
from theano.pytensor_internals.operations.sparse import AddSparseSparse as AddSS
from theano.pytensor_internals.operations.sparse import AddSparseSparseData as AddSSData
from theano.pytensor_internals.operations.sparse import EqualSparseDense as EqualSD
from theano.pytensor_internals.operations.sparse import EqualSparseSparse as EqualSS
from theano.pytensor_internals.operations.sparse import GreaterEqualSparseDense as GreaterEqualSD
from theano.pytensor_internals.operations.sparse import GreaterEqualSparseSparse as GreaterEqualSS
from theano.pytensor_internals.operations.sparse import GreaterThanSparseDense as GreaterThanSD
from theano.pytensor_internals.operations.sparse import GreaterThanSparseSparse as GreaterThanSS
from theano.pytensor_internals.operations.sparse import LessEqualSparseDense as LessEqualSD
from theano.pytensor_internals.operations.sparse import LessEqualSparseSparse as LessEqualSS
from theano.pytensor_internals.operations.sparse import LessThanSparseDense as LessThanSD
from theano.pytensor_internals.operations.sparse import LessThanSparseSparse as LessThanSS
from theano.pytensor_internals.operations.sparse import MultiplySparseDense as MulSD
from theano.pytensor_internals.operations.sparse import MultiplySparseDenseVector as MulSV
from theano.pytensor_internals.operations.sparse import MultiplySparseSparse as MulSS
from theano.pytensor_internals.operations.sparse import NotEqualSparseDense as NotEqualSD
from theano.pytensor_internals.operations.sparse import NotEqualSparseSparse as NotEqualSS
from theano.pytensor_internals.operations.sparse import SparseOperators as _sparse_py_operators
from theano.pytensor_internals.operations.sparse import (
    StructuredAddSparseDenseVector as StructuredAddSV,
)
from theano.pytensor_internals.operations.sparse import dot_operator as _dot
from theano.pytensor_internals.operations.sparse import is_dense as _is_dense
from theano.pytensor_internals.operations.sparse import is_dense_variable as _is_dense_variable
from theano.pytensor_internals.operations.sparse import is_sparse_variable as _is_sparse_variable
from theano.pytensor_internals.operations.sparse import mtype_to_str as _mtype_to_str
from theano.pytensor_internals.operations.sparse import mtypes as _mtypes
from theano.pytensor_internals.operations.sparse import multiply as mul
from theano.pytensor_internals.operations.sparse import structured_dot_operator as _structured_dot
from theano.pytensor_internals.operations.sparse import structured_elemwise as structured_monoid
from theano.pytensor_internals.operations.sparse import subtract as sub
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

    @shape_rule
    def infer_shape(self, node, input_shapes):
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

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [input_shapes[0] * 2]


square_diagonal = SquareDiagonal()


def sgn(x):
    """Return the sign of each stored element of a sparse matrix."""
    return sign(x)


def conj(x):
    """Return the complex conjugate of each stored element of a sparse matrix."""
    return conjugate(x)
