"""Values of each flag to try and errors to expect, from the table of flags."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import theano
from theano.compile.mode import named_modes
from theano.configdefaults import OLD_LINKERS
from theano.flags.flag import Flag
from theano.flags.kinds import Boolean, Choice, Number

# Of flags whose kind does not list their values. A flag of text that is not here is an error: whoever
# adds a flag says which values are to be tried.
VALUES: dict[str, tuple] = {
    "mode": tuple(named_modes),
    "optimizer_including": ("", "fusion:inplace", "specialize"),
    "optimizer_excluding": ("", "fusion:inplace", "scan", "canonicalize", "more_mem"),
    "optimizer_requiring": ("", "canonicalize"),
    "contexts": ("", "dev0->cpu", "dev0->xla:cpu"),
    "init_gpu_device": ("", "xla:cpu"),
    "device": ("cpu", "xla:cpu", "xla:cpu0", "cuda", "gpu"),
    "unittests.rseed": ("666", "3", "random"),
    "xla.bucket_lengths": ("off", "powers", "8"),
    "cache_size": (0.0, 0.5, 500.0),
    "scan.push_out_memory": (0.0, 1e-4, 1.0),
    "scan.memory_budget": (0.0, 1000.0),
    "gpuarray.preallocate": (-1.0, 0.0, 0.3, 2.0),
    "cxx": ("", "no-such-compiler"),
    "gcc.cxxflags": ("", "-O1"),
    "blas.ldflags": ("",),
    "vm.lazy": (True, False, None),
    "profiling.destination": ("stderr", "stdout"),
    "DebugMode.check_preallocated_output": ("", "initial:previous", "ALL"),
    "optdb.position_cutoff": (float("inf"), 1.5, 0.0),
    "optdb.max_use_ratio": (8.0, 1.0),
    "traceback.limit": (8, 1, 0),
    "traceback.compile_limit": (0, 3),
    "tensor.cmp_sloppy": (0, 1, 2),
    "base_compiledir": ("{folder}/base",),
    "compiledir": ("{folder}/compiled",),
    "compiledir_format": ("compiledir_%(python_version)s",),
}
# They compile the C++ of each operation, or take minutes.
SLOW = {
    *(("mode", name) for name in ("DebugMode", "DEBUG_MODE")),
    # a folder in which even the runtime is compiled again
    ("base_compiledir", "{folder}/base"),
    *(("linker", f"pytensor_{name}") for name in OLD_LINKERS),
}
# The errors that are meant, as patterns, by flag and value.
MEANT: dict[tuple[str, str], str] = {
    ("device", "cuda"): "GPU|CUDA|cuda",
    ("linker", "pytensor_c"): "NotImplementedError.*cannot produce C code",
    ("compute_test_value", "raise"): "ValueError: Cannot compute a test value",
    ("compute_test_value", "pdb"): "BdbQuit",
    # of a PyTensor rewrite, which the flag is there to find; one of our rewrites leaves lines
    ("check_stack_trace", "raise"): "Empty stack trace.*inserted this variable is local_",
    ("warn_float64", "raise"): "float64 dtype. You requested an action",
    ("warn_float64", "pdb"): "BdbQuit",
}


def values_of(flag: Flag) -> tuple:
    """Return the values of a flag that are tried."""
    if flag.name in VALUES:
        return VALUES[flag.name]
    if isinstance(flag.kind, Choice):
        return flag.kind.options
    if isinstance(flag.kind, Boolean):
        return (True, False)
    if isinstance(flag.kind, Number):
        least = flag.kind.kind(flag.kind.least or 0)
        most = float("inf") if flag.kind.most is None else flag.kind.most
        return tuple(least + k for k in (0, 1, 2, 7) if least + k <= most)
    if flag.no_effect:
        return ("", "text")
    raise KeyError(f"{flag.name}: say in {__name__}.VALUES which values are to be tried")


@cache
def settings() -> tuple[tuple[str, object], ...]:
    """Return each flag with each value but its default."""
    return tuple(_settings())


def _settings() -> Iterator[tuple[str, object]]:
    for flag in theano.config.flags.values():
        default = theano.config.read(flag.name) if flag.name != "cxx" else None
        for value in values_of(flag):
            if str(value) != str(default):
                yield flag.name, value


def error_that_is_meant(*chosen: tuple[str, object]) -> str | None:
    """Return a pattern of the errors that settings may end with."""
    patterns = [MEANT[name, str(value)] for name, value in chosen if (name, str(value)) in MEANT]
    return "|".join(patterns) or None
