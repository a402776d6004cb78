"""Experiment: whole training steps of usual sizes, each library in its own processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from tests_scan_grad.timing.experiment import Experiment, Problem, Sizes
from tests_scan_grad.timing.measuring.step_blocks import answer, body_of, step_problems
from tests_scan_grad.timing.peers.torch_steps import torch_step
from tests_scan_grad.timing.programs.network_programs import Step, jax_step, ours
from tests_scan_grad.timing.programs.networks import Network
from tests_scan_grad.timing.programs.step_networks import NETWORKS

# of the time of PyTorch's eager mode
GOALS = {
    "lstm": 0.8,
    **dict.fromkeys(("perceptron-20", "perceptron-500", "perceptron-5000"), 0.9),
    "embedding": 0.7,
    "language": 0.8,
    "attention": 0.8,
}
ENGINES: Mapping[str, Callable[[str, Network], Step]] = {
    "native": lambda name, network: ours(network),
    "torch": torch_step,
    "torch.compile": partial(torch_step, compiled=True),
    "jax": lambda name, network: jax_step(network),
}
PEERS = tuple(engine for engine in ENGINES if engine != "native")
COMPUTED = "One step of training: the cost, its gradient and the new parameters, in float32."


def made(engine: str, name: str) -> tuple[Step, dict[str, np.ndarray]]:
    """Return a training step of one library, and what it is called with."""
    network = NETWORKS[name]()
    return ENGINES[engine](name, network), network.arrays()


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield the steps that are wanted."""
    wanted = [name for name in NETWORKS if name in (sizes.rows or ())]
    return step_problems(__name__, wanted, PEERS, GOALS, bool(sizes.quick))


EXPERIMENT = Experiment(
    name="steps",
    summary="training steps of usual sizes",
    sizes=Sizes(rows=tuple(NETWORKS), quick=False),
    peers=PEERS,
    problems=problems,
    dissected=False,
    body=partial(body_of, COMPUTED),
)

if __name__ == "__main__":
    answer(made)
