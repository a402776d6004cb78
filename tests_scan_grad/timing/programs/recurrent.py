"""A recurrent network with one state: its shape, its inputs, its cost in every library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from tests_scan_grad.timing.experiment import Experiment, Problem, Sizes
from tests_scan_grad.timing.peers import jax_programs, torch_programs
from tests_scan_grad.timing.programs.graph_library import (
    GraphLibrary,
    compiled,
    our_c_vm,
    our_engine,
    plain_pytensor,
)


@dataclass(frozen=True)
class Cell:
    """One step of a network, and what it reads.

    Parameters
    ----------
    step
        Takes a library, a row of each sequence, the state and the weights; returns the next state.
    sequences, weights
        Their names. Between them, in the order of all arguments, comes the first state.
    """

    name: str
    step: Callable
    sequences: tuple[str, ...]
    weights: tuple[str, ...]

    @property
    def positions(self) -> tuple[int, ...]:
        """Return the positions of the weights among all arguments."""
        first = len(self.sequences) + 1
        return tuple(range(first, first + len(self.weights)))

    def split(self, arguments):
        """Split all arguments into sequences, the first state, and weights."""
        count = len(self.sequences)
        return list(arguments[:count]), arguments[count], list(arguments[count + 1 :])


def random_arrays(cell: Cell, sizes: Sizes) -> dict[str, np.ndarray]:
    """Return the inputs, in the order in which the methods take them."""
    random = np.random.default_rng(0)

    def normal(*shape, scale=1.0):
        return (scale * random.standard_normal(shape)).astype(sizes.dtype)

    state = (sizes.batch, sizes.dim)
    arrays = {name: normal(sizes.steps, *state) for name in cell.sequences}
    arrays["h0"] = normal(*state, scale=0.1)
    square = (sizes.dim, sizes.dim)
    return arrays | {name: normal(*square, scale=sizes.dim**-0.5) for name in cell.weights}


def states(cell: Cell, library: GraphLibrary, *arguments):
    """Build the loop that returns the sequence of states."""
    sequences, h0, weights = cell.split(arguments)
    h, _ = library.scan(
        partial(cell.step, library),
        sequences=sequences,
        outputs_info=[h0],
        non_sequences=weights,
        name=cell.name,
    )
    return h


def cost(cell: Cell, library: GraphLibrary, *arguments):
    """Build the sum of the last state."""
    return states(cell, library, *arguments)[-1].sum()


def grad_of_h(cell: Cell, library: GraphLibrary, *arguments):
    """Let the library derive the loop that returns the states alone."""
    return library.grad(cost(cell, library, *arguments), cell.split(arguments)[2])


def carried_cost(cell: Cell, scan: Callable, library, *arguments):
    """Return the sum of the last state, by a scan that carries it from step to step."""
    sequences, h0, weights = cell.split(arguments)

    def body(h, slices):
        return cell.step(library, *slices, h, *weights), None

    last, _ = scan(body, h0, tuple(sequences))
    return last.sum()


def problems(cell: Cell, methods: Mapping[str, Callable], sizes: Sizes) -> Iterator[Problem]:
    """Yield the one problem, at these sizes."""
    arrays = random_arrays(cell, sizes)
    carried = partial(carried_cost, cell)
    yield Problem(
        label=f"gradient of {', '.join(cell.weights)}",
        results=tuple(f"d{name}" for name in cell.weights),
        methods={
            name: partial(compiled, our_engine(), build, arrays) for name, build in methods.items()
        },
        peers={
            "torch": partial(torch_programs.loop_gradient, carried, arrays, cell.positions),
            "jax": partial(jax_programs.loop_gradient, carried, arrays, cell.positions),
            "cvm": partial(compiled, our_c_vm(), partial(grad_of_h, cell), arrays),
            "pytensor": partial(compiled, plain_pytensor(), partial(grad_of_h, cell), arrays),
        },
        dtype=sizes.dtype,
    )


def experiment(cell: Cell, methods: Mapping[str, Callable], name: str, summary: str) -> Experiment:
    """Return the experiment of a cell's gradient, computed in each of these ways."""
    return Experiment(
        name=name,
        summary=f"{summary}: gradient of the sum of the last state by {', '.join(cell.weights)}",
        sizes=Sizes(batch=80, steps=50, dim=1000, dtype="float32"),
        peers=("torch", "jax", "cvm", "pytensor"),
        problems=partial(problems, cell, methods),
    )
