"""A loop as a kernel: the source, and what it needs to be launched."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from theano.link.cuda.fixed_sizes import FixedSizes
from theano.link.cuda.model import DEVICE, Device, best_plan, nanoseconds_of_step
from theano.link.cuda.plan import Plan
from theano.link.cuda.refusals import NoKernel
from theano.link.cuda.render.kernel_text import kernel_text
from theano.link.cuda.schedule import maps, reductions, rows_by_index  # noqa: F401 -- fill the table
from theano.link.cuda.schedule.registry import SCHEDULES
from theano.link.native.ir.ir import Argument, CannotLower, StepError
from theano.link.native.lowering.loop import Loop
from theano.link.native.lowering.lower_loop import lower_scan
from theano.link.native.lowering.lowered_loops import loops_of_their_own
from theano.link.native.lowering.places import import_lowering
from theano.link.native.lowering.registry import import_lowerings_by
from theano.link.native.statements.base import Statement
from theano.link.native.statements.gemm import Gemm
from theano.link.native.statements.kernel import Kernel as TaskOnArrays
from theano.link.native.statements.numbers import Assign, Check, Load
from theano.pytensor_internals.graphs.scan import Scan
from theano.support.data_classes import dataclass

import_lowerings_by(import_lowering)

_KINDS = {Assign, Check, Gemm, Load, *SCHEDULES}

# the status of a kernel of which blocks waited in vain for others: as in kernel.inc
HUNG = 1000000


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel for arrays of given shapes, and any number of steps.

    Attributes
    ----------
    name
        Of its function; that of the structure that it is given ends with ``_given``.
    source
        CUDA C, which needs no other file.
    arguments
        The arrays in the order in which they are given; see `Argument`.
    errors
        What a status of -1, -2, ... stands for.
    blocks, lanes
        How many blocks there are, and how many threads each has. All blocks have to be resident.
    own_bytes, work_bytes
        Memory of each block, and of all together.
    barriers
        How often in a step all blocks wait for one another.
    microseconds
        How long a step takes by the model.
    plan
        The decisions that led to it.
    """

    name: str
    source: str
    arguments: tuple[Argument, ...]
    errors: tuple[StepError, ...]
    blocks: int
    lanes: int
    own_bytes: int
    work_bytes: int
    barriers: int
    microseconds: float
    plan: Plan


def lowered(op: Scan, names: Sequence[str | None] = ()) -> Loop:
    """Return the loop of a Scan in the native engine's form, which belongs to the caller.

    Raises
    ------
    NoKernel
        If an operation has no form there, or is a loop.
    """
    if any(isinstance(node.op, Scan) for node in op.fgraph.apply_nodes):
        raise NoKernel("a loop inside it")
    try:
        return lower_scan(op, names, "loop", loops_of_their_own())
    except CannotLower as reason:
        raise NoKernel(str(reason)) from None


def kernel_of_loop(
    loop: Loop,
    shapes: Mapping[str, Sequence[int]],
    values: Mapping[str, np.ndarray] | None = None,
    device: Device = DEVICE,
    blocks: int = 0,
) -> Kernel:
    """Return the kernel of a loop for arrays of these shapes.

    Parameters
    ----------
    shapes
        By the names of arguments: of one row, or of the whole array if it has no rows.
    values
        Those arrays whose values are known, by name: the kernel is right for these only.
    device
        What it is to run on.
    blocks
        How many blocks there are to be; 0: as many as the model finds best.

    Raises
    ------
    NoKernel
        If it has none, or does not fit.
    """
    _check_statements(loop)
    fixed = FixedSizes(loop, shapes, values)
    plan = best_plan(loop, fixed, device, blocks)
    name = "loop_" + re.sub(r"\W", "_", loop.name)
    source = kernel_text(plan, name)
    own_bytes = plan.own.bytes + max(plan.scratch, default=0)
    if own_bytes > device.own_bytes:
        raise NoKernel(f"a block would need {own_bytes} bytes of its own memory")
    return Kernel(
        name,
        source,
        tuple(map(replace, loop.arguments)),
        tuple(loop.step.errors),
        plan.blocks,
        plan.lanes,
        own_bytes,
        max(plan.work.bytes, 1),
        len(plan.waits),
        nanoseconds_of_step(plan, device) / 1000,
        plan,
    )


def _check_statements(loop: Loop) -> None:
    """Refuse a loop with a statement of which kernels have no form.

    Raises
    ------
    NoKernel
        With the first one.
    """
    if loop.step.loops:
        raise NoKernel("a lazy choice inside it")
    for statement in loop.step.statements:
        if type(statement) not in _KINDS:
            raise NoKernel(f"kernels have no form of {_described(statement)}")


def _described(statement: Statement) -> str:
    """Return the kind of a statement, or of the task of one."""
    if isinstance(statement, TaskOnArrays):
        parts = re.findall("[A-Z][a-z0-9]*", type(statement.task).__name__)
        return f"the task {' '.join(parts).lower()}"
    return statement.described()
