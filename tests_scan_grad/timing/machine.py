"""What a time depends on: the machine, the number of threads, the versions."""

from __future__ import annotations

import datetime
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("theano-scan", "pytensor", "numpy", "torch", "jax", "jaxlib")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "XLA_FLAGS")


def processor() -> str:
    """Return the processor's model as the system names it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def package_versions() -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def describe(peers: Sequence[str]) -> dict[str, Any]:
    """Describe the machine, and the threads of the peers that ran."""
    import pytensor

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads: dict[str, Any] = {
        "cores usable": usable,
        **{name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
    }
    if "torch" in peers:
        threads["torch"] = sys.modules["torch"].get_num_threads()
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "system": platform.platform(),
        "versions": package_versions(),
        "blas of PyTensor's C code": pytensor.config.blas__ldflags or "NumPy's, through NumPy",
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
