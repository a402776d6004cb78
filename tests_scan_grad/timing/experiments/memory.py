"""Experiment: the memory of training steps, each library in its own processes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Experiment, Problem, Sizes
from tests_scan_grad.timing.measuring.memory_blocks import (
    BLOCK_SECONDS,
    Blocks,
    block,
    limit_threads,
)
from tests_scan_grad.timing.measuring.step_blocks import block_in_process
from tests_scan_grad.timing.peers import torch_steps
from tests_scan_grad.timing.programs.image_programs import (
    jax_image_step,
    native_step,
    torch_image_step,
)
from tests_scan_grad.timing.programs.memory_networks import NETWORKS
from tests_scan_grad.timing.programs.network_programs import Step
from tests_scan_grad.timing.programs.networks import Network
from tests_scan_grad.timing.reports.loops_report import headed
from tests_scan_grad.timing.reports.memory_report import shortfalls, table

PEERS = ("torch", "jax")
# of the better peer's memory
GOALS = {name: 0.5 if network.has_loop else 0.95 for name, network in NETWORKS.items()}
QUICK_NOTE = "A quick run: short loops, one process for all rows of a library, its figures a try."
# those that PyTorch has modules for
MODULES: Mapping[str, Callable[[Network], tuple[list[Any], Callable]]] = {
    **dict.fromkeys(("lstm", "lstm-2", "small"), torch_steps.lstm),
    "tanh": torch_steps.plain_recurrent,
    "perceptron": torch_steps.perceptron,
    "language": torch_steps.language,
}


def native_engine(name: str, network: Network, arrays: dict[str, np.ndarray]) -> tuple[Step, Any]:
    """Compile with Theano as this project gives it."""
    import theano

    theano.config.native.quick = False
    return native_step(network), arrays


def torch_engine(name: str, network: Network, arrays: dict[str, np.ndarray]) -> tuple[Step, Any]:
    """Make a step in PyTorch, with its own module where it has one."""
    if name in MODULES:
        return torch_steps.trained(network, *MODULES[name](network)), arrays
    return torch_image_step(network), arrays


def jax_engine(name: str, network: Network, arrays: dict[str, np.ndarray]) -> tuple[Step, Any]:
    """Compile with JAX before anything is measured; its arrays are JAX's own."""
    import jax

    own = {key: jax.device_put(array) for key, array in arrays.items()}
    return jax_image_step(network, ready_for=own), own


ENGINES = {"native": native_engine, "torch": torch_engine, "jax": jax_engine}


def found_of(engine: str, name: str, quick: bool) -> dict[str, Any]:
    """Return what this process finds of a network in one library."""
    network = NETWORKS[name]
    small, length = network.lengths(quick)
    whole = network.make(length)
    step, arrays = ENGINES[engine](name, whole, whole.arrays())
    return block(step, network.make(small).arrays(), arrays, 0.0 if quick else BLOCK_SECONDS)


def blocks_of(engine: str, names: Sequence[str], quick: bool) -> Blocks:
    """Return the processes that measure networks in one library."""
    asked = {"name": ",".join(names), "quick": quick}
    return Blocks(partial(block_in_process, __name__, engine, **asked), single=quick)


def problems(sizes: Sizes) -> Iterator[Problem]:
    """Yield the networks that are wanted; for a try a library has one process for all of them."""
    wanted = [name for name in NETWORKS if name in (sizes.rows or ())]
    shared = {engine: blocks_of(engine, wanted, True) for engine in ENGINES}
    for name in wanted:
        alone = {engine: blocks_of(engine, [name], False) for engine in ENGINES}
        blocks = shared if sizes.quick else alone
        programs = {engine: partial(blocks[engine].program, name) for engine in ENGINES}
        yield Problem(
            label=name,
            results=("the cost of a small call", "the first cost", "the second cost"),
            methods={"native": programs.pop("native")},
            peers=programs,
        )


def kept_bytes(quick: bool) -> dict[str, int]:
    """Return the bytes that must be kept for the gradient, where they are counted."""
    return {
        name: network.kept * network.lengths(quick)[1] * np.dtype("float32").itemsize
        for name, network in NETWORKS.items()
        if network.kept is not None
    }


def body(run: dict[str, Any]) -> list[str]:
    """Return the table, what falls short of what is wanted, and what the columns mean."""
    found, quick = run["problems"], run["sizes"]["quick"]
    return [
        *table(found, run["peers"], kept_bytes(quick)),
        # work space of fixed size outweighs what a try needs
        *headed("Falls short:", [] if quick else shortfalls(found, GOALS)),
        "",
        "One step of training: the cost, its gradient and the new parameters, in float32, on two",
        "threads. MB: what calls add at their peak to the resident memory of the process after a",
        "call with 2 steps, or 8 rows where there is no loop; inputs are there before.",
        "kept: states, gates and layers' results, which the gradient reads.",
        "to the better: this engine's figure over the least of the others': below 1, it is less.",
        "torch: PyTorch, eager, its own modules where it has them. jax: jit of the whole step.",
        "Each library runs in its own processes: the most memory of them, the least time.",
        *([QUICK_NOTE] if quick else []),
    ]


EXPERIMENT = Experiment(
    name="memory",
    summary="the memory of training steps",
    sizes=Sizes(rows=tuple(NETWORKS), quick=False),
    peers=PEERS,
    problems=problems,
    dissected=False,
    body=body,
)

if __name__ == "__main__":
    limit_threads()
    given = json.loads(sys.argv[1])
    names = given["name"].split(",")
    print(json.dumps({name: found_of(given["engine"], name, given["quick"]) for name in names}))
