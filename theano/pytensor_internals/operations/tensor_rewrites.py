"""PyTensor's rewrites of tensor expressions, and what they are made from."""
# ruff: noqa: F401 -- this file re-exports

import sys

# registers its rewrites when it is imported
import pytensor.tensor.rewriting.blas_c
from pytensor.tensor.rewriting import (
    basic,  # these modules: node rewriters by their names
    blas,
    elemwise,
    math,
    shape,
    subtensor,
    subtensor_lift,
    uncanonicalize,
)
from pytensor.tensor.rewriting.basic import (
    broadcasted_by,  # whether an operand is repeated to the shape of another
    constant_folding,  # the node rewriter that computes constants
    get_simplified_broadcast_shape,  # the shape of operands that are repeated to one another
    register_useless,  # the decorator that registers a rewrite among `local_useless`
    topo_constant_folding,  # the graph rewriter that computes constants, inputs first
    topological_second_sink,  # the graph rewriter that moves `second` towards outputs
)
from pytensor.tensor.rewriting.blas import (
    GemmOptimizer,  # the graph rewriter that makes Gemm of sums of products
    blas_optdb,  # the database of rewrites to BLAS's operators
    local_dot22_to_dot22scalar,  # scales a product within the product
)
from pytensor.tensor.rewriting.blas import (
    _as_scalar as as_scalar,  # a variable of one element as a scalar, or nothing
)
from pytensor.tensor.rewriting.blas import (
    _factor_canonicalized as factor_canonicalized,  # adds up the terms with one matrix
)
from pytensor.tensor.rewriting.blas import (
    _gemm_canonicalize as terms_of_sum,  # a sum as pairs of a scale and a matrix
)
from pytensor.tensor.rewriting.blas import (
    _is_real_matrix as is_real_matrix,  # whether a variable is a matrix of real numbers
)
from pytensor.tensor.rewriting.blas import (
    _is_real_vector as is_real_vector,  # whether it is a vector of them
)
from pytensor.tensor.rewriting.blockwise import (
    blockwise_of,  # the pattern of an operator within Blockwise
)
from pytensor.tensor.rewriting.elemwise import (
    FusionOptimizer,  # makes one operator of several element-wise ones
    InplaceElemwiseOptimizer,  # lets element-wise operators overwrite
    apply_local_dimshuffle_lift,  # moves a DimShuffle towards inputs
    is_dimshuffle_useless,  # whether an order of dimensions changes nothing
)
from pytensor.tensor.rewriting.linalg import (
    decomposition,  # these modules: node rewriters by their names
    inverse,
    solvers,
    summary,
)
from pytensor.tensor.rewriting.linalg.products import (
    orthogonal_dot_transpose_to_eye,  # these four use what is known of a matrix's structure
    selection_dot_to_indexing,
)
from pytensor.tensor.rewriting.linalg.utils import useless_symmetric_transpose
from pytensor.tensor.rewriting.math import (
    AlgebraicCanonizer,  # sums or products as numerators and denominators
    add_calculate,  # the constant of a canonical sum
    attempt_distribution,  # (factor, numerators, denominators): multiplies out
    check_for_x_over_absX,  # makes sign(x) of x / abs(x)
    compute_mul,  # the product of a tree that `parse_mul_tree` gave
    distribute_greedy,  # multiplies out where that gives fewer operations
    dot_diag_to_elemwise,  # a product with a diagonal matrix
    is_1pexp,  # (variable) -> x if it is 1 + exp(x)
    is_exp,  # (variable) -> whether negated, and x, if it is exp(x)
    is_mul,  # (variable) -> factors if it is a product
    is_neg,  # (variable) -> x if it is -x
    local_add_canonizer,  # the node rewriter that makes sums canonical
    local_greedy_distributor,  # the node rewriter that multiplies out
    local_mul_canonizer,  # the node rewriter that makes products canonical
    local_mul_zero,  # the node rewriter that makes zeros of products with 0
    mul_calculate,  # the constant of a canonical product
    parse_mul_tree,  # a product as a tree of [negated, factors]
    perform_sigm_times_exp,  # sigmoid(-x) for sigmoid(x) * exp(-x), in a tree
    replace_leaf,  # (tree, leaf, new, ...): replaces in a tree
    scalarconsts_rest,  # constants of a list of operands, and the rest
    simplify_mul,  # a tree without neutral parts
)
from pytensor.tensor.rewriting.shape import (
    ShapeOptimizer,  # attaches it
    UnShapeOptimizer,  # removes it
)
from pytensor.tensor.rewriting.shape import (
    _is_shape_i_of_x as is_length_of,  # whether a variable is a length of another, of a given axis
)
from pytensor.tensor.rewriting.shape import (
    _unpack_shape_vector as lengths_in,  # the lengths of which a vector of a shape consists
)
from pytensor.tensor.rewriting.subtensor import (
    _constant_has_unique_indices as has_unique_indices,  # whether a constant index repeats none
)

# rewrites that 3.3 has elsewhere, and those of one of the releases
if sys.version_info >= (3, 12):
    from pytensor.tensor.rewriting.math import local_careduce_of_alloc
    from pytensor.tensor.rewriting.special import local_log_add_exp, local_log_sum_exp

    from theano.pytensor_internals.since_3_3.rank_one_rewrites import (
        local_dot22_to_ger_or_gemv,
        local_gemm_to_ger,
        local_inplace_ger,
    )
    from theano.pytensor_internals.since_3_3.shapes_when_asked import (
        ShapesWhenAsked,  # the feature, with `lengths_of`, which compares no operands' lengths
        infer_shape,  # (outputs, inputs, input shapes) -> shapes of the outputs
    )

    local_log_sqrt = math.local_log_sqrt_sqr
    svd_of_diag = decomposition.svd_of_structured
    # whether logarithms of determinants are those of stacks, too
    LOGARITHMS_OF_STACKS = True
else:
    from pytensor.compile.builders import infer_shape

    from theano.pytensor_internals.before_3_3.lazy_shapes import ShapesWhenAsked
    from theano.pytensor_internals.before_3_3.tensor_rewrites import (
        LOGARITHMS_OF_STACKS,
        local_careduce_of_alloc,
        local_dot22_to_ger_or_gemv,
        local_gemm_to_ger,
        local_inplace_ger,
        local_log_add_exp,
        local_log_sqrt,
        local_log_sum_exp,
        svd_of_diag,
    )
