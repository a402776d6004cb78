"""The gated network's gradient from graph to first result, in a fresh process.

Cold: the caches on disk are empty. Warm: another process has done the same before. The imports
of the libraries come before the clock starts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from tests_scan_grad.timing.experiment import Problem, Program, Sizes
from tests_scan_grad.timing.experiments import gatedrnn
from tests_scan_grad.timing.measuring.own_process import environment
from tests_scan_grad.timing.peers import jax_programs
from tests_scan_grad.timing.programs import recurrent
from tests_scan_grad.timing.programs.graph_library import compiled, ours, plain_pytensor

NATIVE_GOALS = {"jax": 1.5}
COLD_GOAL_SECONDS, WARM_GOAL_SECONDS = 1.2, 0.6


def jax_program(arrays: dict[str, np.ndarray]) -> Program:
    """Return JAX's program."""
    carried = partial(recurrent.carried_cost, gatedrnn.CELL)
    return jax_programs.loop_gradient(carried, arrays, gatedrnn.CELL.positions)


def graph_program(library: Callable, arrays: dict[str, np.ndarray]) -> Program:
    """Return a graph library's program."""
    return compiled(library(), partial(recurrent.grad_of_h, gatedrnn.CELL), arrays)


ENGINES: Mapping[str, Callable[[dict[str, np.ndarray]], Program]] = {
    "native": partial(graph_program, partial(ours, "NATIVE")),
    "jax": jax_program,
    "pytensor": partial(graph_program, plain_pytensor),
    "numba": partial(graph_program, partial(plain_pytensor, "NUMBA")),
}


def first_call(engine: str, sizes: Sizes, path: Path) -> float:
    """Return the seconds from arrays to results in this process; save the results."""
    arrays = recurrent.random_arrays(gatedrnn.CELL, sizes)
    if engine == "jax":
        # JAX finds its devices when it is first used: that is part of its import.
        import jax

        jax.local_devices(backend="cpu")
    start = time.perf_counter()
    program = ENGINES[engine](arrays)
    results = program.call()
    seconds = time.perf_counter() - start
    np.savez(path, *program.to_numpy(results))
    return seconds


def caches_in(folder: Path) -> dict[str, str]:
    """Return the variables that keep every library's cache in a folder."""
    flags = filter(
        None, [os.environ.get("PYTENSOR_FLAGS"), f"base_compiledir={folder / 'pytensor'}"]
    )
    return {
        "PYTENSOR_FLAGS": ",".join(flags),
        "JAX_COMPILATION_CACHE_DIR": str(folder / "jax"),
        # By default JAX keeps only what took long to compile.
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }


@dataclass
class FreshProcess:
    """Runs an engine's first call in their own processes.

    Parameters
    ----------
    cold
        Whether each process begins with empty caches.
    module
        What the process runs, with the engine, the sizes and the results' path as its argument.
    """

    engine: str
    sizes: Sizes
    cold: bool
    module: str = __name__
    caches: tempfile.TemporaryDirectory | None = field(default=None)

    def run(self, folder: Path) -> tuple[float, list[np.ndarray]]:
        """Run one process with its caches in a folder; return its seconds and its results."""
        results = folder / "results.npz"
        request = {"engine": self.engine, "sizes": asdict(self.sizes), "path": str(results)}
        done = subprocess.run(
            [sys.executable, "-m", self.module, json.dumps(request)],
            env={**environment(), **caches_in(folder)},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
            raise RuntimeError(f"a fresh process of {self.engine} failed: {last}")
        with np.load(results) as saved:
            arrays = list(saved.values())
        return json.loads(done.stdout.splitlines()[-1]), arrays

    def __call__(self) -> tuple[float, list[np.ndarray]]:
        """Run one process with the caches that it is to have."""
        if self.cold:
            with tempfile.TemporaryDirectory(prefix="first-call-") as folder:
                return self.run(Path(folder))
        if self.caches is None:
            self.caches = tempfile.TemporaryDirectory(prefix="first-call-")
        return self.run(Path(self.caches.name))


def in_fresh_process(engine: str, sizes: Sizes, cold: bool, module: str = __name__) -> Program:
    """Return a program whose call, and whose time, are those of a fresh process's first call."""
    run = FreshProcess(engine, sizes, cold, module)
    return Program(
        call=lambda: run()[1],
        to_numpy=list,
        own_clock=lambda: run()[0],
    )


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield the first call with cold caches, then with warm ones."""
    for cold, title, goal in (
        (True, "cold", COLD_GOAL_SECONDS),
        (False, "warm", WARM_GOAL_SECONDS),
    ):
        engines = {name: partial(in_fresh_process, name, sizes, cold) for name in ENGINES}
        yield Problem(
            label=f"compile + first call of the gradient, {title} cache",
            results=tuple(f"d{name}" for name in gatedrnn.CELL.weights),
            methods={"native": engines.pop("native")},
            peers=engines,
            dtype=sizes.dtype,
            goals=NATIVE_GOALS,
            goal_seconds=goal,
        )


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(first_call(asked["engine"], Sizes(**asked["sizes"]), Path(asked["path"]))))
