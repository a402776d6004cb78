"""A loop that ends in a cost, as programs of every library: the cost alone, and with gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Problem, Program
from tests_scan_grad.timing.peers import jax_programs, torch_programs
from tests_scan_grad.timing.programs.graph_library import (
    GraphLibrary,
    compiled,
    our_c_vm,
    ours,
    plain_pytensor,
)
from theano.link.native import report

# This project's engines: the C VM is PyTensor's, behind our gradient and our rewrites.
NATIVE, C_VM = "native", "cvm"


@dataclass(frozen=True)
class DifferentiableLoop:
    """A cost that a loop computes, and the arrays that it is a function of.

    Parameters
    ----------
    arrays
        The values of all arguments, by name.
    parameters
        The names of those to differentiate by.
    graph_cost
        Takes a graph library and all arguments; returns the cost.
    carried_cost
        The same for JAX and PyTorch: takes a function like ``jax.lax.scan``, the library's
        operations, and all arguments.
    steps
        As in `Problem`.
    goals
        As in `Problem`, for the cost with its gradient.
    others
        More peers, with other results: each takes the arrays and whether to differentiate.
    """

    label: str
    dtype: str
    arrays: Mapping[str, np.ndarray]
    parameters: tuple[str, ...]
    graph_cost: Callable
    carried_cost: Callable
    steps: int | None = None
    goals: Mapping[str, float] = field(default_factory=dict)
    others: Mapping[str, Callable[[dict[str, np.ndarray], bool], Program]] = field(
        default_factory=dict
    )

    @property
    def positions(self) -> tuple[int, ...]:
        """Return the positions of the parameters among all arguments."""
        names = list(self.arrays)
        return tuple(names.index(name) for name in self.parameters)


def build(
    loop: DifferentiableLoop, differentiate: bool, library: GraphLibrary, *arguments: Any
) -> list[Any]:
    """Build the cost, and its gradient if that is wanted."""
    cost = loop.graph_cost(library, *arguments)
    if not differentiate:
        return [cost]
    gradient = library.grad(cost, [arguments[position] for position in loop.positions])
    return [cost, *gradient]


def graph_program(
    library: Callable[[], GraphLibrary], loop: DifferentiableLoop, differentiate: bool
) -> Program:
    """Return the loop's program in a graph library."""
    return compiled(library(), partial(build, loop, differentiate), dict(loop.arrays))


def native_program(loop: DifferentiableLoop, differentiate: bool) -> Program:
    """Return the loop's program in the native engine; it remarks what is not native."""
    program = graph_program(partial(ours, "NATIVE"), loop, differentiate)
    found = report(program.function)
    records = [*(each for each in found.loops if each.reason is not None), *found.calls]
    return replace(program, remarks=tuple(map(str, records)))


def carried_program(library: Any, loop: DifferentiableLoop, differentiate: bool) -> Program:
    """Return the loop's program in JAX or in PyTorch."""
    arrays = dict(loop.arrays)
    if not differentiate:
        return library.loop_cost(loop.carried_cost, arrays)
    return library.loop_gradient(loop.carried_cost, arrays, loop.positions, with_cost=True)


METHODS: Mapping[str, Callable[[DifferentiableLoop, bool], Program]] = {
    NATIVE: native_program,
    C_VM: partial(graph_program, our_c_vm),
}
PEERS: Mapping[str, Callable[[DifferentiableLoop, bool], Program]] = {
    "torch": partial(carried_program, torch_programs),
    "jax": partial(carried_program, jax_programs),
    "pytensor": partial(graph_program, plain_pytensor),
    "numba": partial(graph_program, partial(plain_pytensor, "NUMBA")),
}


def problems(loop: DifferentiableLoop) -> Iterator[Problem]:
    """Yield the cost alone, then the cost with its gradient."""
    gradient = tuple(f"d{name}" for name in loop.parameters)
    for differentiate, title, results in (
        (False, "forward", ("cost",)),
        (True, "forward + gradient", ("cost", *gradient)),
    ):
        yield Problem(
            label=f"{loop.label}: {title}",
            results=results,
            methods=bound(METHODS, loop, differentiate),
            peers=bound(PEERS, loop, differentiate)
            | bound(loop.others, dict(loop.arrays), differentiate),
            dtype=loop.dtype,
            unlike=frozenset(loop.others),
            steps=loop.steps,
            goals=loop.goals if differentiate else {},
        )


def bound(makers: Mapping[str, Callable], *arguments: Any) -> dict[str, Callable[[], Program]]:
    """Give every maker of programs its arguments."""
    return {name: partial(make, *arguments) for name, make in makers.items()}
