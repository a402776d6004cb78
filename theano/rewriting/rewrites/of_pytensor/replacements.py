"""PyTensor's rewrites of nodes, and what runs where they would.

Some are replaced by our rewrites, some run only where they are right. What each did wrong is in
``doc/reference/pytensor_rewrites.md``.
"""

from __future__ import annotations

from collections.abc import Collection

from theano.pytensor_internals.graphs.rewriting import NodeRewriter
from theano.pytensor_internals.graphs.scan import KEEPING_LINES
from theano.pytensor_internals.operations.tensor_rewrites import (
    basic,
    blas,
    decomposition,
    elemwise,
    inverse,
    local_careduce_of_alloc,
    local_log_sum_exp,
    math,
    shape,
    solvers,
    subtensor,
    subtensor_lift,
    summary,
    svd_of_diag,
    uncanonicalize,
)
from theano.rewriting.canonical_sums import PRODUCTS, SUMS
from theano.rewriting.distribution import saves_operations
from theano.rewriting.rewrites import static_lengths
from theano.rewriting.rewrites.elementwise import fused_maps
from theano.rewriting.rewrites.elementwise.exp_over_1_plus_exp import exp_over_1_plus_exp
from theano.rewriting.rewrites.matrices import tridiagonal_factors
from theano.rewriting.rewrites.matrices.merged_axes import MergedAxes
from theano.rewriting.rewrites.matrices.products_with_zeros import product_with_zeros
from theano.rewriting.rewrites.matrices.scaled_products import scaled_product
from theano.rewriting.rewrites.of_pytensor import guards as where
from theano.rewriting.rewrites.of_pytensor import guards_of_subtensors as parts
from theano.rewriting.rewrites.of_pytensor import matrices_without_result as matrices
from theano.rewriting.rewrites.of_pytensor.errors_of_lengths import FilledRows, WithErrorOfLengths
from theano.rewriting.rewrites.of_pytensor.guarded import Guarded
from theano.rewriting.rewrites.of_pytensor.logarithms_of_products import (
    InDtypeOfProduct,
    real_if_its_factors_are,
)
from theano.rewriting.rewrites.of_pytensor.partial_sums import KeepsPartialSums
from theano.rewriting.rewrites.of_pytensor.repeated_values import reduced_from_value
from theano.rewriting.rewrites.of_pytensor.same_reductions import (
    SameReduction,
    of_a_class_of_its_own,
    one_number_adds_up_to_itself,
)
from theano.rewriting.rewrites.second_to_alloc import second_to_alloc
from theano.rewriting.rewrites.subtensors.rows_of_length_one import row_of_length_one
from theano.rewriting.rewrites.subtensors.rows_read_back import rows_read_back
from theano.rewriting.rewrites.subtensors.sums_with_writes import sum_with_write
from theano.rewriting.rewrites.subtensors.writes_in_turn import increments_in_turn


def _guarded(
    condition: where.Condition | None, rewriters: Collection[NodeRewriter]
) -> dict[NodeRewriter, NodeRewriter]:
    return {rewriter: Guarded(rewriter, condition) for rewriter in rewriters}


# rewrites that are wrong of integers that wrap, or of complex numbers
_OF_FLOATS = (
    math.local_abs_lift,
    math.local_abs_merge,
    math.local_sqrt_sqr,
    uncanonicalize.local_max_to_min,
)

# rewrites that give another dtype, which is cast
_OF_ANOTHER_DTYPE = (
    decomposition.eigh_of_diag,
    svd_of_diag,
    math.local_log_div,
    math.local_log_erfc,
    math.local_useless_conj,
)

# PyTensor's rewrite of nodes -> what takes its place
INSTEAD: dict[NodeRewriter, NodeRewriter] = {
    subtensor.local_useless_inc_subtensor: Guarded(
        subtensor.local_useless_inc_subtensor, parts.whole_writes_fit, remembers=True
    ),
    subtensor.local_useless_slice: Guarded(
        subtensor.local_useless_slice, accepts=parts.what_is_written_fits
    ),
    basic.local_merge_alloc: WithErrorOfLengths(basic.local_merge_alloc),
    subtensor.local_useless_inc_subtensor_alloc: FilledRows(
        subtensor.local_useless_inc_subtensor_alloc
    ),
    basic.local_second_to_alloc: second_to_alloc,
    blas.local_dot22_to_dot22scalar: scaled_product,
    math.local_0_dot_x: product_with_zeros,
    subtensor.local_add_of_sparse_write: sum_with_write,
    subtensor.local_IncSubtensor_serialize: increments_in_turn,
    subtensor.local_read_of_write_same_indices: rows_read_back,
    **KEEPING_LINES,
    uncanonicalize.local_dimshuffle_subtensor: row_of_length_one,
    math.local_add_canonizer: KeepsPartialSums(
        math.local_add_canonizer, where.of_numbers, where.constants_stay_finite, form=SUMS
    ),
    math.local_mul_canonizer: KeepsPartialSums(
        math.local_mul_canonizer, accepts=where.constants_stay_in_range, form=PRODUCTS
    ),
    math.local_greedy_distributor: Guarded(math.local_greedy_distributor, saves_operations),
    **_guarded(where.nested_in_one_dtype, [elemwise.flatten_nested_add_mul]),
    inverse.inv_to_solve: matrices.WithErrors(
        inverse.inv_to_solve, matrices.solution_where_inverse_exists
    ),
    inverse.inv_of_diag_to_diag_reciprocal: matrices.WithErrors(
        inverse.inv_of_diag_to_diag_reciprocal,
        matrices.checked_reciprocals,
        matrices.of_an_inverse,
    ),
    decomposition.cholesky_of_diag: matrices.WithErrors(
        decomposition.cholesky_of_diag, matrices.defined_roots, matrices.of_real_numbers
    ),
    decomposition.cholesky_ldotlt: matrices.WithErrors(
        decomposition.cholesky_ldotlt, matrices.with_positive_diagonal, matrices.of_real_numbers
    ),
    summary.det_of_matrix_factorized_elsewhere: Guarded(
        summary.det_of_matrix_factorized_elsewhere,
        accepts=matrices.without_factors_that_may_not_be,
    ),
    **_guarded(tridiagonal_factors.of_enough_rows, [solvers.reuse_decomposition_multiple_solves]),
    solvers.scan_split_non_sequence_decomposition_and_solve: Guarded(
        solvers.scan_split_non_sequence_decomposition_and_solve,
        accepts=tridiagonal_factors.factors_in_step_are_of_enough_rows,
    ),
    **_guarded(matrices.of_pseudo_inverses, [inverse.inv_of_inv]),
    **_guarded(matrices.of_what_has_factors, [inverse.lift_linalg_of_expanded_matrices]),
    math.local_exp_over_1_plus_exp: exp_over_1_plus_exp,
    **_guarded(where.of_floats, _OF_FLOATS),
    **_guarded(where.not_for_a_product_of_matrices, [elemwise.local_dimshuffle_lift]),
    **_guarded(None, _OF_ANOTHER_DTYPE),
    **_guarded(where.raised_without_its_largest, [local_log_sum_exp]),
    summary.local_log_prod_to_sum_log: InDtypeOfProduct(
        summary.local_log_prod_to_sum_log, real_if_its_factors_are
    ),
    **_guarded(where.of_integers_or_true_quotient, [math.local_div_by_one]),
    **_guarded(where.of_determinants_that_fit, [summary.slogdet_specialization]),
    **_guarded(
        static_lengths.agree_with_those_before, [shape.local_merge_consecutive_specify_shape]
    ),
    **_guarded(where.of_signed_numbers, [math.local_neg_to_mul]),
    math.local_reduce_broadcastable: Guarded(
        SameReduction(math.local_reduce_broadcastable), one_number_adds_up_to_itself
    ),
    subtensor_lift.local_subtensor_of_reduce: Guarded(
        SameReduction(subtensor_lift.local_subtensor_of_reduce), of_a_class_of_its_own
    ),
    **_guarded(where.reductions_of_one_kind, [math.local_reduce_chain]),
    **_guarded(fused_maps.have_unused_parts, [elemwise.local_useless_composite_outputs]),
    **_guarded(where.a_product_of_two_new_axes, [math.local_sumsqr2dot]),
    math.local_batched_matmul_to_core_matmul_with_reshape: MergedAxes(
        math.local_batched_matmul_to_core_matmul_with_reshape
    ),
    **_guarded(where.of_a_column_and_a_row, [math.local_dot_to_mul]),
    **_guarded(where.filled_to_the_shape_of_another, [basic.local_elemwise_alloc]),
    **_guarded(where.lengths_are_its_own, [shape.local_useless_reshape]),
    **_guarded(where.summed_and_scaled_up, [math.local_sum_prod_of_mul_or_div]),
    **_guarded(where.terms_of_its_dtype, [math.local_sum_of_neg_to_neg_of_sum]),
    **_guarded(parts.every_place_is_there, [subtensor.local_adv_idx_to_slice]),
    **_guarded(parts.places_exist, [subtensor_lift.local_subtensor_of_alloc]),
    **_guarded(
        parts.places_in_axes_of_length_one_exist,
        [
            subtensor_lift.local_subtensor_of_batch_dims,
            subtensor_lift.local_subtensor_of_expand_dims,
        ],
    ),
    **_guarded(
        where.lengths_of_the_part_are_static, [subtensor_lift.local_subtensor_SpecifyShape_lift]
    ),
    **_guarded(
        parts.known_indices_are_wide,
        [subtensor.local_subtensor_merge_slice, subtensor.local_subtensor_merge_integer],
    ),
    **_guarded(parts.joined_slices_begin_before_they_end, [subtensor.local_join_subtensors]),
    **_guarded(parts.stops_are_signed, [subtensor.local_useless_subtensor]),
    **_guarded(parts.writes_where_there_are_places, [subtensor.local_incsubtensor_of_zeros]),
    **_guarded(
        reduced_from_value, [] if local_careduce_of_alloc is None else [local_careduce_of_alloc]
    ),
    **_guarded(parts.writes_that_add_up, [subtensor.local_write_of_write_same_indices]),
}
