"""Experiment: log densities of PyMC's models and their gradients, by a call and to the first call."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Experiment, Problem, Sizes, TimingError
from tests_scan_grad.timing.measuring.first_call import in_fresh_process
from tests_scan_grad.timing.programs.pymc_programs import ENGINES, points_of, program
from tests_scan_grad.timing.reports.loops_report import columns, headed, shortfalls, table

# the models of pymc_models.py, and whether they have loops
ROWS: Mapping[str, bool] = {
    "garch": True,
    "ar-2": False,
    "sir": True,
    "lotka-volterra": True,
    "markov-3": True,
    "markov-10": True,
    "markov-2-lags": True,
    "volatility": False,
    "learner": True,
    "rnn": True,
    "kalman": True,
    "schools": False,
    "radon": False,
    "gp": False,
    "lkj": False,
}
LOOP_GOALS = {"numba": 0.1, "jax": 1.0}
OTHER_GOALS = {"numba": 1.0, "jax": 1.0}
COMPILE_GOALS = {"numba": 0.2, "jax": 1.0}
PEERS = ("numba", "numba from C", "c", "jax")
# what is called from C is compiled like what is called from Python
COMPILED = ("numba", "jax")
# JAX's logarithm of the gamma function is right to ten digits only
UNLIKE = frozenset({"jax"})


def model_of(name: str) -> Any:
    """Make a model."""
    from tests_scan_grad.timing.programs.pymc_models import MODELS

    return MODELS[name]()


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield for each model the calls, then the time from the model to the first call."""
    if find_spec("pymc") is None or find_spec("nutpie") is None:
        raise TimingError("not installed: pymc, nutpie. Install: pip install 'theano-scan[pymc]'")
    for name, has_loop in ROWS.items():
        if name not in sizes.rows:
            continue
        make = partial(model_of, name)
        results = ("the density", *(f"gradient {k}" for k in range(points_of(make()).shape[1])))
        yield Problem(
            label=name,
            results=results,
            methods={e: partial(program, e, make) for e in ("native", "native from C")},
            peers={e: partial(program, e, make) for e in PEERS},
            dtype="float64",
            unlike=UNLIKE,
            goals=LOOP_GOALS if has_loop else OTHER_GOALS,
        )
        first = {
            e: partial(in_fresh_process, e, Sizes(rows=(name,)), True, __name__)
            for e in ("native", *COMPILED)
        }
        yield Problem(
            label=f"{name}, to the first call",
            results=("the density", "the gradient"),
            methods={"native": first.pop("native")},
            peers=first,
            dtype="float64",
            unlike=UNLIKE,
            goals=COMPILE_GOALS,
        )


def first_density(engine: str, name: str, path: Path) -> float:
    """Return the seconds from the model to the first density; save it and the gradient."""
    import theano.pymc  # noqa: F401 -- imports are not timed

    if engine == "jax":
        import jax

        # JAX finds its devices when it is first used: that is part of its import.
        jax.local_devices(backend="cpu")
    model = model_of(name)
    point = points_of(model)[0]
    start = time.perf_counter()
    density, gradient = ENGINES[engine](model)(point)
    seconds = time.perf_counter() - start
    np.savez(path, np.asarray(density), np.asarray(gradient))
    return seconds


def body(run: dict[str, Any]) -> list[str]:
    """Return the table, what falls short of what is wanted, and what the columns mean."""
    found = run["problems"]
    notes = {
        "native from C": "from C: called by address, as nutpie does, through ctypes.",
        "numba": "numba: PyMC's own function in PyTensor's default mode.",
        "numba from C": "numba from C: nutpie's own function.",
        "c": "c: in PyTensor's C VM.",
        "jax": "jax: in PyTensor's JAX mode.",
    }
    return [
        *table(found),
        *headed("Falls short:", [line for each in found for line in shortfalls(each)]),
        "",
        "One log density and its gradient; to the first call: in a new process, empty caches.",
        *(notes[name] for name in columns(found) if name in notes),
        "A ratio is this engine's time over the other's: below 1, this one is faster.",
        "Times are the least of interleaved samples.",
    ]


EXPERIMENT = Experiment(
    name="pymc",
    summary="log densities of PyMC's models and their gradients",
    sizes=Sizes(rows=tuple(ROWS)),
    peers=PEERS,
    problems=problems,
    dissected=False,
    body=body,
)

if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(
        json.dumps(first_density(asked["engine"], asked["sizes"]["rows"][0], Path(asked["path"])))
    )
