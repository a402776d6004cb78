"""The pipeline: all passes over a lowered step before it is written as C, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from theano.configparser import config
from theano.link.native.graph.updates_in_place import commit_last, overwrite_inputs
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.block_steps import block_steps
from theano.link.native.passes.column_products import split_products
from theano.link.native.passes.columns_apart import put_columns_apart
from theano.link.native.passes.compute_again import compute_again
from theano.link.native.passes.dead_values import eliminate_dead_values
from theano.link.native.passes.forward_copies import forward_copies
from theano.link.native.passes.fuse_maps import fuse_maps
from theano.link.native.passes.integers_apart import put_integers_apart
from theano.link.native.passes.interleaved_copies import interleave_copies
from theano.link.native.passes.join_rows import join_rows
from theano.link.native.passes.materialized import choose_strides, mark_materialized
from theano.link.native.passes.mutable_inputs import compute_into_inputs
from theano.link.native.passes.numbers_early import compute_numbers_early
from theano.link.native.passes.partition import partition_statements, partition_work
from theano.link.native.passes.place_in_memory import place_in_memory
from theano.link.native.passes.reduce_early import reduce_early
from theano.link.native.passes.reduced_maps import reduce_in_maps
from theano.link.native.passes.repeated_elements import compute_repeated_once
from theano.link.native.passes.reshape_maps import reshape_maps
from theano.link.native.passes.results_in_operands import results_in_operands
from theano.link.native.passes.share_memory import share_memory
from theano.link.native.passes.shared_products import share_products
from theano.link.native.passes.short_reductions import unroll_short_reductions
from theano.link.native.passes.slice_maps import slice_maps
from theano.link.native.passes.split_maps import split_maps
from theano.link.native.passes.split_reduced import split_reduced
from theano.link.native.passes.states_in_place import states_in_place
from theano.link.native.passes.store_parts import store_parts
from theano.link.native.spec.lifetimes import verify_lifetimes
from theano.link.native.spec.statements import verify
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class Pass:
    """A change of a lowered loop or segment, and which of them it is for."""

    change: Callable[[Any], None]
    of: tuple[type, ...]


PASSES = (
    Pass(eliminate_dead_values, (Loop, Segment)),
    Pass(share_memory, (Loop, Segment)),
    Pass(store_parts, (Loop, Segment)),
    Pass(reshape_maps, (Segment,)),
    Pass(forward_copies, (Segment,)),
    Pass(compute_repeated_once, (Segment,)),
    Pass(put_columns_apart, (Segment,)),
    Pass(unroll_short_reductions, (Segment,)),
    Pass(slice_maps, (Loop, Segment)),
    Pass(forward_copies, (Segment,)),
    Pass(interleave_copies, (Segment,)),
    Pass(compute_numbers_early, (Segment,)),
    Pass(split_reduced, (Segment,)),
    Pass(fuse_maps, (Loop, Segment)),
    Pass(split_maps, (Loop,)),
    Pass(forward_copies, (Loop,)),
    Pass(fuse_maps, (Loop,)),
    Pass(compute_again, (Segment,)),
    Pass(eliminate_dead_values, (Loop, Segment)),
    Pass(block_steps, (Segment,)),
    Pass(reduce_early, (Segment,)),
    Pass(share_products, (Loop,)),
    Pass(split_products, (Loop,)),
    Pass(put_integers_apart, (Loop, Segment)),
    Pass(reduce_in_maps, (Loop, Segment)),
    Pass(overwrite_inputs, (Segment,)),
    Pass(mark_materialized, (Loop, Segment)),
    Pass(choose_strides, (Loop, Segment)),
    Pass(join_rows, (Segment,)),
    Pass(compute_into_inputs, (Segment,)),
    Pass(results_in_operands, (Segment,)),
    Pass(commit_last, (Segment,)),
    Pass(states_in_place, (Loop,)),
    Pass(partition_work, (Loop,)),
    Pass(partition_statements, (Segment,)),
    Pass(place_in_memory, (Loop, Segment)),
)


# takes what was lowered, and the name of the pass that was run last
Watch = Callable[[Loop | Segment, str], None]
_watches: list[Watch] = []


@contextmanager
def watched_passes(watch: Watch) -> Iterator[None]:
    """Call a function after lowering and after each pass, as long as the context lasts."""
    _watches.append(watch)
    try:
        yield
    finally:
        _watches.remove(watch)


def run_passes(lowered: Loop | Segment) -> None:
    """Run all passes that are for it; between them it is verified where that is asked for."""
    _after(lowered, "the lowering")
    for one in PASSES:
        if isinstance(lowered, one.of):
            one.change(lowered)
            _after(lowered, one.change.__name__)


def _after(lowered: Loop | Segment, name: str) -> None:
    if config.native.verify:
        verify(lowered.step, name)
        verify_lifetimes(lowered, name)
    for watch in _watches:
        watch(lowered, name)
