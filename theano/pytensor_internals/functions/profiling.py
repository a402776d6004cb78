"""Internals of PyTensor's profiles: what compiled functions fill, and what is printed at the end."""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable

from pytensor.compile.debug import profiling
from pytensor.compile.debug.profiling import (
    ProfileStats,  # what a profiled function counts: `fct_call_time`, `apply_time`, ...
    register_profiler_printer,  # adds a function that prints a part of the profile
)

from theano.support.data_classes import dataclass

__all__ = [
    "ProfileStats",
    "SecondsOfProcess",
    "not_printed_by_pytensor",
    "printers_of_others",
    "register_profiler_printer",
    "seconds_of_process",
]


@dataclass(frozen=True)
class SecondsOfProcess:
    """The time of a process's functions, as PyTensor counts it."""

    since_import: float
    functions: float
    rewriting: float
    linking: float


def seconds_of_process() -> SecondsOfProcess:
    """Return what has passed since PyTensor was imported."""
    return SecondsOfProcess(
        time.perf_counter() - profiling.pytensor_imported_time,
        profiling.total_fct_exec_time,
        profiling.total_graph_rewrite_time,
        profiling.total_time_linker,
    )


def printers_of_others() -> list[Callable]:
    """Return the functions that print a part of a profile, but for PyTensor's own."""
    return [
        printer
        for printer in profiling._profiler_printers
        if not printer.__module__.startswith("pytensor.")
    ]


def not_printed_by_pytensor(profile: object) -> None:
    """Take a profile from those that PyTensor prints when the process ends."""
    profiling._atexit_print_list[:] = [p for p in profiling._atexit_print_list if p is not profile]
    if not profiling._atexit_print_list:
        # as it was before there was one
        atexit.unregister(profiling._atexit_print_fn)
        profiling._atexit_registered = False
