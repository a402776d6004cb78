"""Experiment: recurrent networks on a GPU by the XLA engine, next to JAX and PyTorch there.

Without a GPU the same rows run on the CPU, by the same engine, and the report says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from tests_scan_grad.timing.experiment import Experiment, Problem, Sizes
from tests_scan_grad.timing.experiments import gatedrnn, rnn
from tests_scan_grad.timing.programs import device_cells, device_lstm
from tests_scan_grad.timing.reports.device_report import body

# A quick run's loops are so many times shorter.
QUICK = 10

LARGE = Sizes(batch=80, steps=50, dim=1000, dtype="float32")
SMALL = Sizes(steps=200, dtype="float32")
LSTM = Sizes(batch=64, steps=100, dim=512, dtype="float32")

gated = partial(device_cells.problem, gatedrnn.CELL)
plain = partial(device_cells.problem, rnn.CELL)

# Of each row what makes its problem, its sizes, and whether its products may be in TF32.
ROWS: Mapping[str, tuple[Callable[..., Problem], Sizes, bool]] = {
    "gated-80x1000": (gated, LARGE, False),
    "rnn-80x1000": (plain, LARGE, False),
    "gated-1x64": (gated, replace(SMALL, batch=1, dim=64), False),
    "gated-1x256": (gated, replace(SMALL, batch=1, dim=256), False),
    "gated-16x128": (gated, replace(SMALL, batch=16, dim=128, steps=500), False),
    "gated-16x256": (gated, replace(SMALL, batch=16, dim=256), False),
    "gated-32x512": (gated, replace(SMALL, batch=32, dim=512), False),
    "gated-80x1000-tf32": (gated, LARGE, True),
    "gated-32x512-tf32": (gated, replace(SMALL, batch=32, dim=512), True),
    "lstm": (partial(device_lstm.problem, as_loops=False), LSTM, False),
    "lstm-loops": (partial(device_lstm.problem, as_loops=True), LSTM, False),
    "lstm-tf32": (partial(device_lstm.problem, as_loops=False), LSTM, True),
    "lstm-loops-tf32": (partial(device_lstm.problem, as_loops=True), LSTM, True),
}


def problem_of_row(name: str, quick: bool | None) -> Problem:
    """Return the problem of a row."""
    make, sizes, tf32 = ROWS[name]
    if quick:
        assert sizes.steps
        sizes = replace(sizes, steps=max(1, sizes.steps // QUICK))
    return make(sizes=sizes, tf32=tf32)


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
