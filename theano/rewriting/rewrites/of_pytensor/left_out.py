"""PyTensor's rewrites that Theano's modes leave out, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

from theano.pytensor_internals.graphs.rewriting import RewriteDatabaseQuery
from theano.rewriting.rewrites.matrices.structured_matrices import BY_NAME

WRONG_REWRITES = (
    # gives the diagonals of a stack along its first axes in another order
    "extract_diag_lift_pass",
    # give numbers of an array filled with them that has no element, or of one repeated no times
    "local_Unique_lift",
    "local_Unique_Alloc_lift",
    "local_Unique_Repeat_lift",
    "local_Unique_second",
    # reads rows that a slice does not reach, and that are not there
    "local_slice_read_of_write",
    # forgets that an array was declared to have another shape than it has
    "local_specify_shape_alloc",
    # draws other numbers: those that a draw before them, which nothing else reads, would have taken
    "sidestep_unused_rng_consumer",
    # gives -1 for 1: cosh has no single inverse
    "useless_Arccosh_of_Cosh",
    # multiplies matrices in another order, whose products may overflow where those written do not
    "reassociate_matmul_chain",
    # forget that there is an inverse of a matrix, or not: of a singular one they give numbers
    "solve_of_inv_to_matmul",
    "det_of_inv",
    # refuses an increment of one row, whose length 1 is not static
    "local_AdvancedIncSubtensor_to_AdvancedIncSubtensor1",
)

# of loops, for which this package has its own (scan_module/scan_opt)
_REPLACED = (
    # takes states that begin alike to be equal, whatever they are later
    "scan_merge_inouts",
    "scan_push_out_add",
    "scan_push_out_dot1",
    "scan_push_out_non_seq",
    "scan_push_out_seq",
    "scan_reduce_nsteps",
    "scan_reduce_trace_no_prealloc",
    "scan_reduce_trace_prealloc",
)

# of reads, for which element_of_part has one that gives no element that a part lacks
_REPLACED_READS = ("local_subtensor_merge_integer",)

# of graphs inside operators, which engines prepare as they need them (in PyTensor 3.3)
OF_INNER_GRAPHS = ("ofg_inner_graph", "scan_inner_graph")

# of operators such as the softmax, which PyTensor 3.3 unpacks: engines compute each as one
_UNPACKED = ("inline_symbolic_for_fusion", "merge_inlined_symbolic")

FROM_EVERY_MODE = (*_REPLACED, *_UNPACKED, *_REPLACED_READS, *WRONG_REWRITES, *BY_NAME)

# What the native engine does by itself, from a graph of plain products and element-wise
# operations, or has no use for: rewrite -> the tags by which a user asks for it all the same.
Tags = Mapping[str, frozenset[str]]
_GEMM: Tags = {
    "gemm_optimizer": frozenset({"gemm_optimizer", "GemmOptimizer", "BlasOpt"}),
    "local_gemm_to_gemv": frozenset({"local_gemm_to_gemv", "BlasOpt"}),
}
_FUSION: Tags = {"elemwise_fusion": frozenset({"elemwise_fusion", "fusion"})}
DONE_BY_NATIVE: Tags = {
    **_GEMM,
    "InplaceBlasOpt": frozenset({"InplaceBlasOpt", "blas_opt_inplace", "inplace"}),
    "inplace_elemwise": frozenset(
        {"inplace_elemwise", "inplace_elemwise_opt", "inplace_elemwise_optimizer", "inplace"}
    ),
    "local_inplace_setsubtensor": frozenset({"local_inplace_setsubtensor", "inplace"}),
    "scan_make_inplace": frozenset({"scan_make_inplace", "inplace"}),
    "add_mul_fusion": frozenset({"add_mul_fusion", "fusion"}),
    **_FUSION,
    # asks at the first difference which BLAS there is: PyTensor runs the C++ compiler seven times
    "local_usmm": frozenset({"local_usmm"}),
}

# Without a BLAS to link to, PyTensor's C code makes a product plus an addend through NumPy, copies
# it and adds it element by element: a separate product and sum are faster.
SLOW_WITHOUT_BLAS: Tags = {
    **_GEMM,
    "local_dot22_to_dot22scalar": frozenset({"local_dot22_to_dot22scalar", "BlasOpt"}),
}


# Without C code what is fused runs element by element, and not at all with more than 32 operands.
SLOW_IN_PYTHON: Tags = _FUSION


def not_asked_for(query: RewriteDatabaseQuery, unneeded: Tags) -> list[str]:
    """Those of the rewrites that an engine has no need of which the query does not name."""
    asked = {*query.include, *query.require}
    return [name for name, tags in unneeded.items() if tags.isdisjoint(asked)]
