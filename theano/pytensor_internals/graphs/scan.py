"""Internals of PyTensor's loops."""
# ruff: noqa: F401 -- this file re-exports

import sys
from types import FrameType
from typing import Any, cast

from pytensor.compile.sharedvalue import (
    collect_new_shareds,  # a context that gives the shared variables which are made in it
)
from pytensor.graph.fg import FunctionGraph
from pytensor.scan.basic import (
    get_updates_and_outputs,  # what a step returned -> conditions, outputs, updates
)
from pytensor.scan.op import (
    Scan,  # the operator: `info`, `fgraph`, and arguments in one list whose order says their role
    ScanInfo,  # how many arguments have each role, and at which steps they are read and written
)
from pytensor.scan.rewriting.db import (
    ScanEquilibriumGraphRewriter,  # applies rewrites of loops until none changes anything
)
from pytensor.scan.rewriting.inplace import (
    ScanInplaceOptimizer,  # the graph rewriter that lets loops overwrite their initial values
)
from pytensor.scan.rewriting.merge import (
    ScanMerge,  # the graph rewriter that makes one loop of several
)
from pytensor.scan.rewriting.trace import (
    scan_reduce_trace_rewrite,  # (graph, node, ...) -> a loop that keeps only what is read
)
from pytensor.scan.utils import (
    until,  # a condition on which a loop ends
)

from theano.support.data_classes import dataclass

if sys.version_info >= (3, 12):
    from theano.pytensor_internals.since_3_3.lines_of_steps import KEEPING_LINES, MergeWithLines
    from theano.pytensor_internals.since_3_3.steps import (
        FrozenWhenAsked,
        step_of,
        step_shared_with,
        unfrozen_step,
    )
else:
    from theano.pytensor_internals.before_3_3.steps import (
        KEEPING_LINES,
        FrozenWhenAsked,
        MergeWithLines,
        step_of,
        step_shared_with,
        unfrozen_step,
    )


def step_to_change(op: Scan) -> FunctionGraph:
    """Return the step of one of our loops, which is not frozen."""
    return cast("FunctionGraph", op.fgraph)


def function_of_step(op: Scan) -> Any:
    """Return the function of a loop's step, where it was compiled by itself; None before."""
    return getattr(op, "_fn", None)


def keep_function_of_step(op: Scan, function: object) -> None:
    """Let a loop's step be run by this function."""
    op._fn = function


@dataclass(frozen=True)
class RunningSteps:
    """The current step of a loop that PyTensor's Python runs.

    Attributes
    ----------
    at, number
        The step, from 0 on, and how many there are to be.
    """

    at: int
    number: int


def running_steps(frame: FrameType) -> RunningSteps | None:
    """Return where the loop is that runs in a frame; None of other frames."""
    if frame.f_code is not Scan.perform.__code__ or "i" not in frame.f_locals:
        return None
    known = frame.f_locals
    return RunningSteps(at=int(known["i"]), number=int(known["n_steps"]))
