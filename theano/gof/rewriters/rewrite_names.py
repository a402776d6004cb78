"""PyTensor's names of the rewrites that Theano 1.0 had under other names."""

from collections.abc import Iterable

# What cleans up the arguments of loops
_CLEANUP = ("scan_remove_unused", "scan_inline_invariant_constants", "scan_merge_duplicate_inputs")

# What does together what one rewrite of loops did in Theano
_PUSHED_OUT = ("PushOutDotAccumulate", "PushOutTracedProducts")
_LESS_MEMORY = ("fewer_steps", "shorten_outputs", "shorten_traces", "trim_empty_buffers")

# Theano's name, of a rewrite or of its class: those of what does the same in PyTensor or in this package
NEW_NAMES: dict[str, tuple[str, ...]] = {
    "PushOutDot1": ("PushOutDotAccumulate",),
    "PushOutNonSeqScan": ("HoistInvariants",),
    "PushOutScanOutput": _PUSHED_OUT,
    "PushOutSeqScan": ("HoistFromSequences",),
    "ScanInplaceOptimizer": ("scan_make_inplace",),
    "ScanMerge": ("scan_merge",),
    "ScanSaveMem": _LESS_MEMORY,
    "inplace_opt": ("inplace",),
    "local_add_mul_fusion": ("flatten_nested_add_mul",),
    "local_add_specialize": ("local_add_remove_zeros",),
    "local_adv_sub1_adv_inc_sub1": ("local_read_of_write_same_indices",),
    "local_alloc_elemwise": ("local_elemwise_alloc",),
    "local_canonicalize_alloc": ("local_useless_alloc", "local_alloc_sink_dimshuffle"),
    "local_div_to_inv": ("local_div_to_reciprocal",),
    "local_fill_sink": ("local_second_sink",),
    "local_fill_to_alloc": ("local_second_to_alloc",),
    "local_func_inv": tuple(
        f"useless_{outer}_of_{inner}"
        for outer, inner in (
            ("Neg", "Neg"),
            ("Reciprocal", "Reciprocal"),
            ("Conj", "Conj"),
            ("Deg2rad", "Rad2deg"),
            ("Rad2deg", "Deg2rad"),
            ("Cosh", "Arccosh"),
            ("Arccosh", "Cosh"),
            ("Sinh", "Arcsinh"),
            ("Arcsinh", "Sinh"),
            ("Tanh", "Arctanh"),
            ("Arctanh", "Tanh"),
        )
    ),
    "local_inplace_incsubtensor1": ("local_inplace_AdvancedIncSubtensor1",),
    "local_intdiv_by_one": ("local_div_by_one",),
    "local_inv_1_plus_exp": ("local_reciprocal_1_plus_exp",),
    "local_inv_canon": ("local_reciprocal_canon",),
    "local_log_add": ("local_log_add_exp",),
    "local_neg_neg": ("useless_Neg_of_Neg",),
    "local_op_of_op": ("local_reduce_chain",),
    "local_pow_specialize_device": ("local_pow_to_nested_squaring",),
    "local_subtensor_inc_subtensor": ("local_read_of_write_same_indices",),
    "local_subtensor_lift": ("local_subtensor_of_batch_dims",),
    "local_subtensor_merge": ("local_subtensor_merge_slice", "local_subtensor_merge_element"),
    "local_sum_prod_div_dimshuffle": ("local_sum_prod_of_mul_or_div",),
    "local_sum_prod_mul_by_scalar": ("local_sum_prod_of_mul_or_div",),
    "local_useless_composite": ("local_useless_composite_outputs",),
    "local_useless_dimshuffle_in_reshape": ("local_useless_expand_dims_in_reshape",),
    "log1pexp_to_softplus": ("local_log1p_plusminus_exp",),
    "remove_constants_and_unused_inputs_scan": _CLEANUP,
    "scanOp_make_inplace": ("scan_make_inplace",),
    "scanOp_merge": ("scan_merge",),
    "scanOp_merge_inouts": ("scan_merge_inouts", "merge_equal_results"),
    "scanOp_pushout_nonseqs_ops": ("HoistInvariants",),
    "scanOp_pushout_output": _PUSHED_OUT,
    "scanOp_pushout_seqs_ops": ("HoistFromSequences",),
    "scanOp_remove_constants_and_unused_inputs0": ("scan_input_and_output_cleanup0",),
    "scanOp_remove_constants_and_unused_inputs1": ("scan_input_and_output_cleanup1",),
    "scanop_remove_constants_and_unused_inputs2": ("scan_input_and_output_cleanup2",),
    "scanOp_remove_constants_and_unused_inputs3": ("scan_input_and_output_cleanup3",),
    "scanOp_save_mem": _LESS_MEMORY,
    "scan_pushout_dot1": ("PushOutDotAccumulate",),
    "specialize_device": ("local_pow_to_nested_squaring",),
}


def with_new_names(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags and, for each that is a name in Theano alone, PyTensor's names too.

    Parameters
    ----------
    tags : iterable of str

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> with_new_names(["fusion", "local_fill_sink"])
    ('fusion', 'local_fill_sink', 'local_second_sink')
    """
    return tuple(name for tag in tags for name in (tag, *NEW_NAMES.get(tag, ())))
