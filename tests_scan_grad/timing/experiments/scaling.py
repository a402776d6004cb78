"""Experiment: training steps on one core and on several, each library in its own processes.

Next to the times stand those of a model of the partition among threads, which also says what more cores than
the machine has would do.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Experiment, Problem, Program, Sizes
from tests_scan_grad.timing.experiments import gatedrnn
from tests_scan_grad.timing.measuring.core_prices import measured
from tests_scan_grad.timing.measuring.scaling_functions import measured_functions
from tests_scan_grad.timing.measuring.scaling_model import as_data, predicted
from tests_scan_grad.timing.measuring.scaling_parts import regions
from tests_scan_grad.timing.measuring.step_blocks import (
    BLOCK_SECONDS,
    answer,
    block_in_process,
    program,
)
from tests_scan_grad.timing.peers import torch_steps
from tests_scan_grad.timing.programs.memory_networks import by_sgd, gated_step, recurrent
from tests_scan_grad.timing.programs.network_programs import Step, jax_step, ours
from tests_scan_grad.timing.programs.networks import Network
from tests_scan_grad.timing.programs.step_networks import MNIST, perceptron, two_lstm_layers
from tests_scan_grad.timing.reports.loops_report import headed, notes, remarks
from tests_scan_grad.timing.reports.report import aligned, milliseconds, ratio
from theano.link.native.build.compiler import cores as usable_cores

COUNTS = (1, 2, 4, 8, 16)
PEERS = ("torch", "jax")


def gated(batch: int, width: int, steps: int) -> Network:
    """The gated network of `gatedrnn`, of any size."""
    cell = gatedrnn.CELL
    shapes = {name: (width, width) for name in cell.weights}
    return recurrent(gated_step, shapes, batch, width, steps, cell.sequences)


NETWORKS: Mapping[str, Callable[[], Network]] = {
    "gated-80x1000": partial(gated, 80, 1000, 50),
    "gated-32x512": partial(gated, 32, 512, 200),
    "lstm-2": partial(by_sgd(two_lstm_layers), 100),
    "perceptron-500": partial(perceptron, MNIST, 500),
}
# those that PyTorch has modules for
MODULES = {"lstm-2": torch_steps.lstm, "perceptron-500": torch_steps.perceptron}


def made(engine: str, name: str) -> tuple[Step, dict[str, np.ndarray]]:
    """Return a training step of one library, and what it is called with."""
    network = NETWORKS[name]()
    if engine == "torch":
        parts = MODULES.get(name, torch_steps.torch_network)(network)
        return torch_steps.trained(network, *parts), network.arrays()
    return (ours if engine == "native" else jax_step)(network), network.arrays()


def predictions(name: str) -> list[dict[str, Any]]:
    """Return what the model says of a network on each number of cores."""
    prices = measured()
    found = list(regions(measured_functions(NETWORKS[name]()), prices))
    return [as_data(predicted(found, threads, prices)) for threads in COUNTS]


@cache
def _predictions(name: str) -> dict[int, dict[str, Any]]:
    found = block_in_process(__name__, "model", name)["predictions"]
    return {each["threads"]: each for each in found}


def model(name: str, cores: int) -> Program:
    """Return a program whose time is the model's."""
    found = _predictions(name)[cores]
    return Program(
        call=lambda: None,
        to_numpy=lambda nothing: [],
        own_clock=lambda: found["seconds"],
        remarks=tuple(found["worst"]),
    )


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield each network on each number of cores: those of the machine are timed, too."""
    seconds = 0.0 if sizes.quick else BLOCK_SECONDS
    for name in NETWORKS:
        if name not in (sizes.rows or ()):
            continue
        for cores in COUNTS:
            timed = cores <= usable_cores()
            run = {
                engine: partial(program, __name__, engine, name, seconds, cores)
                for engine in ("native", *PEERS)
                if timed
            }
            own = {"native": run.pop("native")} if timed else {}
            yield Problem(
                label=f"{name}, {cores} {'core' if cores == 1 else 'cores'}",
                results=("the first cost", "the second cost", "the third cost"),
                methods={**own, "model": partial(model, name, cores)},
                peers=run,
                unlike=frozenset({"model"}),
            )


def table(found: Sequence[dict[str, Any]]) -> list[str]:
    """Return the times, how many times as fast as one core they are, and the ratios to the peers."""
    lines = [["", "ms", "", "", "", "as fast as", "", "ratio to", ""]]
    lines += [["", "this", *PEERS, "model", "this", "model", *PEERS]]
    first: dict[str, float] = {}
    for problem in found:
        seconds = {row["name"]: row["seconds"] for row in problem["rows"]}
        if problem["label"].endswith(" 1 core"):
            first = seconds
        own = seconds.get("native")
        lines.append(
            [
                problem["label"],
                *(milliseconds(seconds.get(name)) for name in ("native", *PEERS, "model")),
                *(
                    ratio(first[name] / seconds[name] if name in seconds else None)
                    for name in ("native", "model")
                ),
                *(ratio(own / seconds[p] if own and p in seconds else None) for p in PEERS),
            ]
        )
    return aligned(lines)


def body(run: dict[str, Any]) -> list[str]:
    """Return the table, what the model says is lost, and what the columns mean."""
    found = run["problems"]
    lost = [line for each in found for line in remarks(each)]
    return [
        *table(found),
        *headed("Lost, as parts of the model's time:", lost),
        "",
        "model: what one thread was measured to take for each statement, its largest share among so",
        "many threads, barriers, what threads read of each other's results, and memory.",
        *notes(PEERS),
        "as fast as: how many times as fast as on one core.",
        "A ratio is this engine's time over the other's: below 1, this one is faster.",
    ]


EXPERIMENT = Experiment(
    name="scaling",
    summary="training steps on one core and on several, and a model of more",
    sizes=Sizes(rows=tuple(NETWORKS), quick=False),
    peers=PEERS,
    problems=problems,
    dissected=False,
    body=body,
)

if __name__ == "__main__":
    request = json.loads(sys.argv[1])
    if request["engine"] == "model":
        print(json.dumps({"predictions": predictions(request["name"])}))
    else:
        answer(made)
