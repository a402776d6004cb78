"""The choice of loops that run in blocks of steps, and of the steps in a block."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod
from typing import Any

from theano.link.xla.step_blocks.equations import Equation, Program
from theano.link.xla.step_blocks.group import Group

# Rows of a block's products, enough for their full rate; on a GPU, which needs more, not measured.
ROWS_OF_BLOCK = {"cpu": 1 << 10, "gpu": 1 << 13}
# Bytes that a loop must save: fewer are in the caches in any case, and blocks cost a tenth of the time.
LEAST_SAVED = 1 << 23
# A loop of fewer blocks saves little.
LEAST_BLOCKS = 4


def planned(program: Program, platform: str) -> list[Any]:
    """Return the equations of a program, and groups that replace those that belong to loops."""
    units: list[Any] = [*program.equations]
    for loop in program.equations:
        if loop.loop is None:
            continue
        group = _group_of(loop, [one for one in units if one is not loop], program, platform)
        if group is not None:
            left = [one for one in units if one is loop or one not in group.members]
            units = _sorted([group if one is loop else one for one in left])
    return units


def _group_of(
    loop: Equation, others: Sequence[Any], program: Program, platform: str
) -> Group | None:
    """Return a loop with what its blocks do, or with what its steps do next to their own, if anything."""
    if _most_saved(loop) >= LEAST_SAVED:
        group = Group(loop, others, program.outputs)
        group.length = steps_of_block(group, platform)
        if group.length:
            return group
    if platform != "cpu":
        # each operation of a step is a kernel to launch
        return None
    group = Group(loop, others, program.outputs, of_steps=True)
    group.length = 1
    return group if group.traces else None


def _most_saved(loop: Equation) -> int:
    return sum(value.bytes for value in {*loop.inputs, *loop.outputs})


def steps_of_block(group: Group, platform: str) -> int:
    """Return how many steps a block has, or 0 where that saves too little.

    It divides the number of steps where that makes it at most twice as long.
    """
    if not (group.sequences or group.traces) or group.saved < LEAST_SAVED:
        return 0
    rows = max(prod(value.shape[:-1]) // group.steps for value in group.arrays)
    count = ceil(ROWS_OF_BLOCK.get(platform, ROWS_OF_BLOCK["gpu"]) / max(rows, 1))
    count = min(count, group.steps // LEAST_BLOCKS)
    return next((n for n in range(count, 2 * count) if group.steps % n == 0), count)


def _sorted(units: Sequence[Any]) -> list[Any]:
    """Units in an order in which they can run, in their own as far as that goes."""
    maker = {value: one for one in units for value in one.outputs}
    ordered: dict[Any, None] = {}
    for unit in units:
        pending = [unit]
        while pending:
            needed = [
                maker[v] for v in pending[-1].inputs if v in maker and maker[v] not in ordered
            ]
            if needed:
                pending += needed
            else:
                ordered[pending.pop()] = None
    return list(ordered)
