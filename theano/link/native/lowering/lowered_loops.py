"""Loops that were lowered before: equal steps, such as those of a network's layers, are lowered once.

What a loop is does not depend on the function around it. So it is lowered where it is first seen,
which may be while that function is still being rewritten (`compile_ahead.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Any

from theano.link.native.lowering.loop import Loop, LowerLoop
from theano.link.native.lowering.lower_loop import lower_scan
from theano.link.step_graph import EqualSteps
from theano.pytensor_internals.graphs.scan import Scan
from theano.support.data_classes import dataclass

# more than this many are not kept
LOOPS_KEPT = 64
# C functions have these names until it is known what they do; see `loop_code.py`
_serial_numbers = itertools.count()


def shared_loop(op: Scan, outer_names: Sequence[str | None], called: str) -> Loop:
    """Return the loop of a Scan, lowered once for all that have an equal step.

    Parameters
    ----------
    outer_names
        The names of its arrays, which are comments in C.
    called
        As what it is called, which does not matter here.
    """
    loop = _lowered(_EqualLoop(EqualSteps(op), op.info, type(op), outer_names))
    return replace(loop, name=op.name or "scan")


def loops_of_their_own() -> LowerLoop:
    """Return what lowers each loop that is called by itself, for profiles: they distinguish equal loops."""
    lowered: dict[str, Loop] = {}

    def lower_loop(op: Scan, outer_names: Sequence[str | None], called: str) -> Loop:
        if called not in lowered:
            lowered[called] = lower_scan(op, outer_names, called, lower_loop)
        return lowered[called]

    return lower_loop


@dataclass(frozen=True)
class _EqualLoop:
    step: EqualSteps
    info: Any
    kind: type
    outer_names: Sequence[str | None] = field(compare=False)


@lru_cache(maxsize=LOOPS_KEPT)
def _lowered(key: _EqualLoop) -> Loop:
    name = f"tn_loop{next(_serial_numbers)}"
    return lower_scan(key.step.op, key.outer_names, name, shared_loop)
