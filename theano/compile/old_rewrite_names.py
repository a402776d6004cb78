"""Theano 1.0's names of rewrites of loops, for modes that include or exclude them."""

from collections.abc import Iterable

# What cleans up the arguments of loops
_CLEANUP = ("scan_remove_unused", "scan_inline_invariant_constants", "scan_merge_duplicate_inputs")

# Theano's name -> the rewrites that do that work now
TODAY = {
    "remove_constants_and_unused_inputs_scan": _CLEANUP,
    "scanOp_make_inplace": ("scan_make_inplace",),
    "scanOp_merge": ("scan_merge",),
    "scanOp_merge_inouts": ("scan_merge_inouts",),
    "scanOp_pushout_nonseqs_ops": ("HoistInvariants",),
    "scanOp_pushout_output": ("PushOutDotAccumulate", "PushOutTracedProducts"),
    "scanOp_pushout_seqs_ops": ("HoistFromSequences",),
    "scanOp_remove_constants_and_unused_inputs0": ("scan_input_and_output_cleanup0",),
    "scanOp_remove_constants_and_unused_inputs1": ("scan_input_and_output_cleanup1",),
    "scanop_remove_constants_and_unused_inputs2": ("scan_input_and_output_cleanup2",),
    "scanOp_remove_constants_and_unused_inputs3": ("scan_input_and_output_cleanup3",),
    "scanOp_save_mem": ("scan_save_mem", "trim_empty_buffers"),
    "scan_pushout_dot1": ("PushOutDotAccumulate",),
}


def with_todays_names(tags: Iterable[str]) -> list[str]:
    """The tags, and for each old name those of the rewrites that do that work now."""
    return [name for tag in tags for name in (tag, *TODAY.get(tag, ()))]
