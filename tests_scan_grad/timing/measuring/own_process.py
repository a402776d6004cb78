"""Costs of one program in its own process: its peak memory and its compile time.

Memory is the resident memory's peak during the first call less what was resident just before
it. Inputs and compiled code are there before; results, saved values and the libraries' work
space are what is counted. Linux can restart its record of the peak just before the call;
elsewhere the record of the whole process is used, which can only be larger.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests_scan_grad.timing.experiment import Sizes
from tests_scan_grad.timing.experiments.registry import experiment_named

STATUS = Path("/proc/self/status")
RESTART_PEAK = Path("/proc/self/clear_refs")
CHECKOUT = Path(__file__).resolve().parents[3]


def resident(field: str) -> int:
    """Return the bytes of a field of Linux's account of this process."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{STATUS} has no {field}")


def release_unused() -> None:
    """Give freed memory back to the system, so that reusing it counts."""
    gc.collect()
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def peak_of(call: Any) -> tuple[int, str]:
    """Return the bytes that one call adds at its peak, and how they were measured."""
    release_unused()
    try:
        RESTART_PEAK.write_text("5")
        before = resident("VmRSS")
        results = call()
        peak = resident("VmHWM")
        how = "peak of resident memory in the first call"
    except OSError:
        # macOS counts bytes, the others kibibytes.
        unit = 1 if sys.platform == "darwin" else 1024
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        results = call()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        how = "growth of the process's peak in the first call"
    del results
    return max(0, peak - before), how


def costs(experiment: str, program: str, sizes: Sizes) -> dict[str, dict[str, Any]]:
    """Return, for each problem's label, the costs of the program of that name."""
    found = {}
    for problem in experiment_named(experiment).problems(sizes):
        ready = {**problem.methods, **problem.peers}[program]()
        peak, how = peak_of(ready.call)
        found[problem.label] = {
            "peak_bytes": peak,
            "peak_measured_as": how,
            "compile_seconds": ready.compile_seconds,
        }
    return found


def environment() -> dict[str, str]:
    """Return this process's environment, with this checkout first to be imported.

    Modules are kept in byte code, as they are where the package is installed.
    """
    path = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": path}


def costs_in_own_process(experiment: str, program: str, sizes: Sizes) -> dict[str, dict[str, Any]]:
    """Return `costs` as a new process finds them, with PyTensor's C code already on disk."""
    request = json.dumps({"experiment": experiment, "program": program, "sizes": asdict(sizes)})
    done = subprocess.run(
        [sys.executable, "-m", "tests_scan_grad.timing.measuring.own_process", request],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(costs(asked["experiment"], asked["program"], Sizes(**asked["sizes"]))))
