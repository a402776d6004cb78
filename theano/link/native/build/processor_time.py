"""The share of a processor that another process gets, where the system reports it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_PROCESSES = Path("/proc")
# places in a process's line, after its name: time in the program, and in the system for it
_TIMES = slice(11, 13)


def seconds_used(pid: int) -> float | None:
    """Return the seconds that a process and those that it started have run; None where the system does not report them."""
    try:
        ticks = sum(_ticks(each) for each in _with_children(pid))
        return ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):
        return None


def _with_children(pid: int) -> Iterator[int]:
    yield pid
    children = _PROCESSES / str(pid) / "task" / str(pid) / "children"
    for child in children.read_text(encoding="utf-8").split():
        yield from _with_children(int(child))


def _ticks(pid: int) -> int:
    # the name, in brackets, may hold any character
    line = (
        (_PROCESSES / str(pid) / "stat")
        .read_text(encoding="utf-8", errors="replace")
        .rpartition(")")[2]
    )
    return sum(map(int, line.split()[_TIMES]))
