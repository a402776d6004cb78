"""Equal traces of variables made one list: a program of few lines makes many variables with each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# lines of programs; a program that writes code and runs it has new ones all the time
MOST_TRACES = 10_000

_known: dict[tuple[Any, ...], list[Any]] = {}


def share_traces(variables: Iterable[Any]) -> None:
    """Have variables whose traces are equal refer to the same lists of frames.

    PyTensor makes a list with each line of the program for every variable: 1.4 KiB for a constant.
    Traces are read, and replaced by others, but never changed.
    """
    for variable in variables:
        traces: list[list[Any]] = getattr(variable.tag, "trace", None) or []
        for k, frames in enumerate(traces):
            key = tuple(frames)
            if len(_known) >= MOST_TRACES and key not in _known:
                _known.clear()
            traces[k] = _known.setdefault(key, frames)
