"""Profiles of compiled functions: PyTensor's, under Theano's names."""

from pytensor.compile.debug.profiling import (
    ProfileStats,
    print_global_stats,
    register_profiler_printer,
)

__all__ = ["ProfileStats", "print_global_stats", "register_profiler_printer"]
