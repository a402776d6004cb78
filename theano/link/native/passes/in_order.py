"""What is done to a lowered step before it is written as C, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.configparser import config
from theano.data_classes import dataclass
from theano.link.native.graph.updates_in_place import overwrite_inputs
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.segment import Segment
from theano.link.native.passes.column_products import split_products
from theano.link.native.passes.join_rows import join_rows
from theano.link.native.passes.reduced_maps import reduce_in_maps
from theano.link.native.passes.results_in_operands import results_in_operands
from theano.link.native.passes.share_memory import share_memory
from theano.link.native.passes.stored import choose_strides, mark_stored
from theano.link.native.passes.unread import leave_out_unread
from theano.link.native.passes.verify import verify


@dataclass(frozen=True)
class Pass:
    """A change of a lowered loop or segment, and which of them it is for."""

    change: Callable[[Any], None]
    of: tuple[type, ...]


PASSES = (
    Pass(leave_out_unread, (Loop, Segment)),
    Pass(split_products, (Loop,)),
    Pass(reduce_in_maps, (Loop, Segment)),
    Pass(share_memory, (Loop, Segment)),
    Pass(overwrite_inputs, (Segment,)),
    Pass(mark_stored, (Loop, Segment)),
    Pass(choose_strides, (Loop, Segment)),
    Pass(join_rows, (Segment,)),
    Pass(results_in_operands, (Segment,)),
)


def run_passes(lowered: Loop | Segment) -> None:
    """Run all passes that are for it; between them it is verified where that is asked for."""
    checked = config.native.verify
    if checked:
        verify(lowered.step, "the lowering")
    for one in PASSES:
        if isinstance(lowered, one.of):
            one.change(lowered)
            if checked:
                verify(lowered.step, one.change.__name__)
