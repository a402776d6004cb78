"""Experiment: training steps of networks of images, each library in its own processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from tests_scan_grad.timing.experiment import Experiment, Problem, Sizes
from tests_scan_grad.timing.measuring.step_blocks import answer, body_of, step_problems
from tests_scan_grad.timing.programs.image_networks import NETWORKS
from tests_scan_grad.timing.programs.image_programs import (
    jax_image_step,
    native_step,
    torch_image_step,
)
from tests_scan_grad.timing.programs.network_programs import Step
from tests_scan_grad.timing.programs.networks import Network

ENGINES: Mapping[str, Callable[[Network], Step]] = {
    "native": native_step,
    "torch": torch_image_step,
    "jax": jax_image_step,
}
PEERS = tuple(engine for engine in ENGINES if engine != "native")
# of the time of PyTorch's eager mode
GOALS = dict.fromkeys(NETWORKS, 1.2)
COMPUTED = (
    "One step of training: the cost, its gradient and the new parameters, in float32. "
    "In single layers the images are parameters, too."
)


def made(engine: str, name: str) -> tuple[Step, dict[str, np.ndarray]]:
    """Return a training step of one library, and what it is called with."""
    network = NETWORKS[name]()
    return ENGINES[engine](network), network.arrays()


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield the steps that are wanted."""
    wanted = [name for name in NETWORKS if name in (sizes.rows or ())]
    return step_problems(__name__, wanted, PEERS, GOALS, bool(sizes.quick))


EXPERIMENT = Experiment(
    name="images",
    summary="training steps of networks of images",
    sizes=Sizes(rows=tuple(NETWORKS), quick=False),
    peers=PEERS,
    problems=problems,
    dissected=False,
    body=partial(body_of, COMPUTED),
)

if __name__ == "__main__":
    answer(made)
