"""The rewrites of loops: what runs, in which order, under which names.

Importing this module registers them in PyTensor's database under our own tags, which only
Theano's modes ask for.
"""

from __future__ import annotations

from theano.rewriting.database import FAST_COMPILE_TAG, FAST_RUN_TAG, optdb, register_for_tags
from theano.rewriting.step_modes import step_modes
from theano.scan_module.scan_opt.conversion.loops_are_ours import LoopsAreOurs
from theano.scan_module.scan_opt.conversion.loops_in_batches import LOOPS_IN_BATCHES
from theano.scan_module.scan_opt.conversion.one_length_each import OneLengthEach
from theano.scan_module.scan_opt.conversion.pad_initial_values import PAD_INITIAL_VALUES
from theano.scan_module.scan_opt.conversion.results_apart import ResultsApart
from theano.scan_module.scan_opt.drop_dead_results import DropDeadResults
from theano.scan_module.scan_opt.element_of_part import local_subtensor_merge_element
from theano.scan_module.scan_opt.hoist_from_sequences import HoistFromSequences
from theano.scan_module.scan_opt.hoist_invariants import HoistInvariants
from theano.scan_module.scan_opt.kept_rows.fewer_steps import FewerSteps
from theano.scan_module.scan_opt.kept_rows.shorten_outputs import ShortenOutputs
from theano.scan_module.scan_opt.kept_rows.shorten_traces import ShortenTraces
from theano.scan_module.scan_opt.kept_rows.trim_empty_buffers import TRIM_EMPTY_BUFFERS
from theano.scan_module.scan_opt.merge_dots import MergeDots
from theano.scan_module.scan_opt.merge_equal_results import MERGE_EQUAL_RESULTS
from theano.scan_module.scan_opt.old_names import (
    PushOutDot1,
    PushOutNonSeqScan,
    PushOutScanOutput,
    PushOutSeqScan,
    ScanInplaceOptimizer,
    ScanMerge,
    ScanSaveMem,
)
from theano.scan_module.scan_opt.push_out_dot_accumulate import PushOutDotAccumulate
from theano.scan_module.scan_opt.push_out_traced_products import PushOutTracedProducts
from theano.scan_module.scan_opt.record_loops import RecordLoops
from theano.scan_module.scan_opt.split_joined_products import SplitJoinedProducts
from theano.scan_module.scan_opt.steps.forget_normal_forms import ForgetNormalForms
from theano.scan_module.scan_opt.steps.steps_rewritten_once import StepsRewrittenOnce
from theano.scan_module.scan_opt.unify_forward_loops import UnifyForwardLoops

__all__ = [
    "REWRITES",
    "PushOutDot1",
    "PushOutNonSeqScan",
    "PushOutScanOutput",
    "PushOutSeqScan",
    "ScanInplaceOptimizer",
    "ScanMerge",
    "ScanSaveMem",
]

_QUICK_STEPS = StepsRewrittenOnce("steps_for_fast_compile", lambda: step_modes().quick)

# name, rewriter, position, tags. PyTensor's own rewrites of loops run from 0.05 on.
REWRITES = (
    ("loops_in_batches", LOOPS_IN_BATCHES, -0.51, (FAST_RUN_TAG, FAST_COMPILE_TAG)),
    ("unify_forward_loops", UnifyForwardLoops(), -0.5, (FAST_RUN_TAG, FAST_COMPILE_TAG)),
    ("record_loops", RecordLoops(), -0.49, (FAST_RUN_TAG, FAST_COMPILE_TAG)),
    ("drop_dead_results", DropDeadResults(), 0.045, (FAST_RUN_TAG,)),
    # PyTensor's cleaning has made loops again; ours give their shapes at less cost
    ("cleaned_loops_are_ours", LoopsAreOurs(), 0.051, (FAST_RUN_TAG,)),
    ("SplitJoinedProducts", SplitJoinedProducts(), 0.0515, (FAST_RUN_TAG,)),
    ("HoistInvariants", HoistInvariants(), 0.052, (FAST_RUN_TAG,)),
    ("PushOutDotAccumulate", PushOutDotAccumulate(), 0.06, (FAST_RUN_TAG,)),
    ("PushOutTracedProducts", PushOutTracedProducts(), 0.065, (FAST_RUN_TAG,)),
    ("HoistFromSequences", HoistFromSequences(), 0.07, (FAST_RUN_TAG,)),
    ("MergeDots", MergeDots(), 0.08, (FAST_RUN_TAG,)),
    ("forget_normal_forms", ForgetNormalForms(), 0.0801, (FAST_RUN_TAG,)),
    ("one_length_each", OneLengthEach(), 0.0802, (FAST_RUN_TAG,)),
    # PyTensor has joined loops
    ("joined_loops_are_ours", LoopsAreOurs(), 1.605, (FAST_RUN_TAG,)),
    ("fewer_steps", FewerSteps(), 1.611, (FAST_RUN_TAG,)),
    ("shorten_outputs", ShortenOutputs(), 1.6112, (FAST_RUN_TAG,)),
    ("pad_initial_values", PAD_INITIAL_VALUES, 1.6115, (FAST_RUN_TAG,)),
    ("shorten_traces", ShortenTraces(in_buffer=True), 1.612, (FAST_RUN_TAG,)),
    # for engines that ask for it by its name
    ("shorten_traces_to_what_is_read", ShortenTraces(in_buffer=False), 1.612, ()),
    ("trim_empty_buffers", TRIM_EMPTY_BUFFERS, 1.613, (FAST_RUN_TAG,)),
    ("steps_for_fast_compile", _QUICK_STEPS, 199, (FAST_COMPILE_TAG,)),
    ("loops_are_ours", LoopsAreOurs(), 200, (FAST_RUN_TAG, FAST_COMPILE_TAG)),
    ("results_apart", ResultsApart(), 201, (FAST_RUN_TAG, FAST_COMPILE_TAG)),
)

for _name, _rewriter, _position, _tags in REWRITES:
    register_for_tags(_name, _rewriter, *_tags, position=_position)

# It knows which elements every loop has.
optdb["canonicalize"].register(
    "local_subtensor_merge_element", local_subtensor_merge_element, FAST_RUN_TAG, FAST_COMPILE_TAG
)
optdb["specialize"].register(
    "local_subtensor_merge_element", local_subtensor_merge_element, FAST_RUN_TAG
)

# Among those that merge loops and clean them, until none changes anything.
optdb["scan_eqopt2"].register("merge_equal_results", MERGE_EQUAL_RESULTS, FAST_RUN_TAG)
