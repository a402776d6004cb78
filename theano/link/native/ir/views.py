"""What a statement reads and writes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from theano.link.native.ir.ir import (
    Assign,
    Buffer,
    CallLoop,
    CheckRows,
    Combine,
    Copy,
    Gather,
    Gemm,
    Kernel,
    Line,
    Load,
    Map,
    Reduce,
    Scalar,
    Scatter,
    Statement,
    View,
)

# statement -> its operands and targets
_OPERANDS: dict[type, Callable[[Any], list[Any]]] = {
    Assign: lambda s: [],
    CallLoop: lambda s: [*s.operands, View.of(s.work)],
    CheckRows: lambda s: [s.index],
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

# statement -> what it writes, but for maps
_TARGETS: dict[type, Callable[[Any], list[Any]]] = {
    CallLoop: lambda s: [*s.operands, View.of(s.work)],
    Combine: lambda s: [s.target],
    Copy: lambda s: [s.target],
    Gather: lambda s: [s.target],
    Gemm: lambda s: [s.out],
    Kernel: lambda s: s.writes,
    Reduce: lambda s: [s.target],
    Scatter: lambda s: [s.target],
}


def views_of(statement: Statement) -> list[View]:
    """All views that a statement reads or writes, but for the results of a map."""
    return [one for one in _OPERANDS[type(statement)](statement) if isinstance(one, View)]


def results_of(statement: Statement) -> list[Buffer]:
    """The buffers that a map stores its results in."""
    if not isinstance(statement, Map):
        return []
    return [c.buffer for c in statement.body if c.stored and c.buffer is not None]


def written_by(statement: Statement) -> list[Buffer]:
    """The buffers that a statement writes, or may; of a loop, all that it is given."""
    if isinstance(statement, Map):
        return [c.buffer for c in statement.body if c.buffer is not None]
    targets = _TARGETS.get(type(statement), lambda s: [])(statement)
    return [t.buffer for t in targets if isinstance(t, View)]


def numbers_defined(statement: Statement) -> set[str]:
    """The names of the numbers that a statement defines."""
    if isinstance(statement, Line):
        return set(re.findall(r"(\w+) = ", statement.text))
    result = (
        statement.target if isinstance(statement, Reduce) else getattr(statement, "result", None)
    )
    return {result.expression} if isinstance(result, Scalar) else set()


def numbers_read(statement: Statement, names: set[str]) -> bool:
    """Whether a statement may read any of these numbers; the lines of a kernel are not looked at."""
    if isinstance(statement, Kernel):
        return bool(names)
    if isinstance(statement, Line):
        return bool(names & set(re.findall(r"\w+", statement.text)))
    operands = (
        statement.operands
        if isinstance(statement, Assign)
        else _OPERANDS[type(statement)](statement)
    )
    read = {one.expression for one in operands if isinstance(one, Scalar)}
    read |= {str(start) for view in views_of(statement) for start in view.start}
    return bool(names & read)


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
