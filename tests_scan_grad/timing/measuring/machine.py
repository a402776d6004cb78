"""Conditions on which a time depends: the machine, the number of threads, the versions."""

from __future__ import annotations

import datetime
import os
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("theano-scan", "pytensor", "numpy", "torch", "jax", "jaxlib", "numba")
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


def busy_seconds() -> float | None:
    """Return the processor seconds that others have used; None if unknown.

    Processes that this one started and that have ended are not others.
    """
    account = Path("/proc/stat")
    if not account.exists():
        return None
    user, nice, system, _, _, *rest = map(int, account.read_text().split("\n", 1)[0].split()[1:])
    # Guests' time is in user's already; what the hypervisor took is as lost to us as any.
    ticks = user + nice + system + sum(rest[:3])
    own = os.times()
    ours = own.user + own.system + own.children_user + own.children_system
    return ticks / os.sysconf("SC_CLK_TCK") - ours


class OtherWork:
    """Find how many cores others kept busy while a block of code ran.

    Examples
    --------
    >>> with OtherWork() as other:
    ...     pass
    >>> other.cores is None or other.cores >= 0
    True
    """

    cores: float | None = None

    def __enter__(self) -> OtherWork:
        self.start, self.busy = time.perf_counter(), busy_seconds()
        return self

    def __exit__(self, *_: object) -> None:
        busy = busy_seconds()
        if busy is not None and self.busy is not None:
            seconds = time.perf_counter() - self.start
            self.cores = max(0.0, (busy - self.busy) / seconds)


def describe(peers: Sequence[str]) -> dict[str, Any]:
    """Describe the machine, and the threads of the peers that ran."""
    import pytensor

    from theano.link.native.build.compiler import cores

    threads: dict[str, Any] = {
        "cores usable": cores(),
        **{name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
    }
    if "torch" in peers and "torch" in sys.modules:
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
