"""Experiment: recurrent networks on a GPU by the XLA engine, beside JAX and PyTorch there.

Without a GPU the same rows run on the CPU, by the same engine, and the report says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

import theano
import theano.link.xla
from tests_scan_grad.timing.experiment import Experiment, Problem, Program, Sizes, TimingError
from tests_scan_grad.timing.experiments import gatedrnn, rnn
from tests_scan_grad.timing.measuring.device_floors import floors
from tests_scan_grad.timing.peers import jax_programs, torch_programs
from tests_scan_grad.timing.programs import recurrent
from tests_scan_grad.timing.programs.graph_library import ours
from tests_scan_grad.timing.reports.device_report import body

# A quick run's loops are so many times shorter.
QUICK = 10

LARGE = Sizes(batch=80, steps=50, dim=1000, dtype="float32")
SMALL = Sizes(steps=200, dtype="float32")
ROWS: Mapping[str, tuple[recurrent.Cell, Sizes]] = {
    "gated-80x1000": (gatedrnn.CELL, LARGE),
    "rnn-80x1000": (rnn.CELL, LARGE),
    "gated-1x64": (gatedrnn.CELL, replace(SMALL, batch=1, dim=64)),
    "gated-1x256": (gatedrnn.CELL, replace(SMALL, batch=1, dim=256)),
    "gated-16x128": (gatedrnn.CELL, replace(SMALL, batch=16, dim=128, steps=500)),
    "gated-16x256": (gatedrnn.CELL, replace(SMALL, batch=16, dim=256)),
    "gated-32x512": (gatedrnn.CELL, replace(SMALL, batch=32, dim=512)),
}


def on_a_gpu() -> bool:
    """Return whether JAX computes on a GPU here."""
    try:
        import jax
    except ImportError as error:
        raise TimingError("the experiment needs JAX: pip install 'theano-scan[gpu]'") from error
    return jax.default_backend() == "gpu"


def our_gradient(cell: recurrent.Cell, arrays: dict[str, np.ndarray]) -> Program:
    """Return this project's program: its inputs and its results stay on the device."""
    mode = theano.Mode(theano.link.xla.XLALinker("cuda" if on_a_gpu() else "xla:cpu"), "fast_run")
    start = time.perf_counter()
    variables = [theano.shared(array, name=name) for name, array in arrays.items()]
    gradients = recurrent.grad_of_h(cell, ours(mode), *variables)
    results = [theano.shared(arrays[name], name=f"d{name}") for name in cell.weights]
    pairs = list(zip(results, gradients, strict=True))
    function = theano.function([], [], updates=pairs, mode=mode)

    def call() -> list:
        function()
        function.sync_shared()
        return results

    call()
    return Program(
        call=call,
        to_numpy=lambda found: [result.get_value() for result in found],
        compile_seconds=time.perf_counter() - start,
    )


def peers(cell: recurrent.Cell, arrays: dict[str, np.ndarray], gpu: bool) -> dict[str, Callable]:
    """Return what makes the peers' programs, on the same device."""
    carried = partial(recurrent.carried_cost, cell)
    device = "cuda" if gpu else "cpu"
    compiled_cell = partial(torch_programs.compiled_step_cost, cell)
    found: dict[str, Callable] = {
        "jax": partial(jax_programs.loop_gradient, carried, arrays, cell.positions, device=device),
        "torch": partial(
            torch_programs.loop_gradient, carried, arrays, cell.positions, device=device
        ),
        "torch.compile": partial(
            torch_programs.loop_gradient, compiled_cell, arrays, cell.positions, device=device
        ),
    }
    if cell is gatedrnn.CELL:
        found["gru"] = partial(torch_programs.gru, arrays, True, device=device)
    return found


def problem_of_row(name: str, quick: bool | None) -> Problem:
    """Return the problem of a row."""
    cell, sizes = ROWS[name]
    if quick:
        sizes = replace(sizes, steps=max(1, sizes.steps // QUICK))
    gpu, arrays = on_a_gpu(), recurrent.random_arrays(cell, sizes)
    return Problem(
        label=f"{cell.name}, {sizes.steps} steps, {sizes.batch} x {sizes.dim}",
        results=tuple(f"d{weight}" for weight in cell.weights),
        methods={"xla": partial(our_gradient, cell, arrays)},
        peers=peers(cell, arrays, gpu),
        dtype=sizes.dtype,
        unlike=frozenset({"gru"}),
        steps=sizes.steps,
        floors=floors(cell, arrays, sizes),
    )


def all_problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield the problems of the rows that are wanted, in the table's order."""
    for name in ROWS:
        if name in sizes.rows:
            yield problem_of_row(name, sizes.quick)


EXPERIMENT = Experiment(
    name="gpu",
    summary="gradients of recurrent networks by the XLA engine, on a GPU if there is one",
    sizes=Sizes(rows=tuple(ROWS), quick=False),
    peers=("torch", "torch.compile", "gru", "jax"),
    problems=all_problems,
    dissected=False,
    body=body,
)
