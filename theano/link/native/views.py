"""What a statement reads and writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from theano.link.native.ir import (
    Assign,
    Buffer,
    CallLoop,
    Combine,
    Copy,
    Gather,
    Gemm,
    Kernel,
    Line,
    Load,
    Map,
    Reduce,
    Scatter,
    Statement,
    View,
)

# statement -> its operands and targets
_OPERANDS: dict[type, Callable[[Any], list[Any]]] = {
    Assign: lambda s: [],
    CallLoop: lambda s: [*s.operands, View.of(s.work)],
    Combine: lambda s: [s.target, s.source],
    Copy: lambda s: [s.target, s.source],
    Gather: lambda s: [s.target, s.source, s.index],
    Gemm: lambda s: [s.a, s.b, s.out],
    Kernel: lambda s: [*s.writes, *s.reads],
    Line: lambda s: [],
    Load: lambda s: [s.view],
    Map: lambda s: [operand for compute in s.body for operand in compute.operands],
    Reduce: lambda s: [s.source, s.target],
    Scatter: lambda s: [s.target, s.source, s.index],
}


def views_of(statement: Statement) -> list[View]:
    """All views that a statement reads or writes, but for the results of a map."""
    return [one for one in _OPERANDS[type(statement)](statement) if isinstance(one, View)]


def results_of(statement: Statement) -> list[Buffer]:
    """The buffers that a map stores its results in."""
    if not isinstance(statement, Map):
        return []
    return [c.buffer for c in statement.body if c.stored and c.buffer is not None]


def free_views_of(statement: Statement) -> list[View]:
    """Those views that a statement reads with any strides."""
    if isinstance(statement, Gemm):
        return [statement.a, statement.b]
    if isinstance(statement, Kernel):
        return statement.reads
    if isinstance(statement, CallLoop):
        pairs = zip(statement.loop.arguments, statement.operands, strict=True)
        return [view for a, view in pairs if a.free_strides and isinstance(view, View)]
    return []
