"""Indexing, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    IncSubtensor,
    Subtensor,
    advanced_inc_subtensor1,
    advanced_set_subtensor1,
    advanced_subtensor1,
    as_index_constant,
    flip,
    get_canonical_form_slice,
    get_idx_list,
    inc_subtensor,
    set_subtensor,
    take,
)
