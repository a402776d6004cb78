"""The gradient of a recurrent cell's loop on a device, in every library, and what bounds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from tests_scan_grad.timing.experiment import Problem, Sizes
from tests_scan_grad.timing.measuring.device_floors import floors
from tests_scan_grad.timing.peers import jax_programs, torch_programs
from tests_scan_grad.timing.programs import recurrent
from tests_scan_grad.timing.programs.device_programs import on_a_gpu, our_gradient
from tests_scan_grad.timing.programs.graph_library import ours


def problem(cell: recurrent.Cell, sizes: Sizes, tf32: bool) -> Problem:
    """Return the problem of a cell's gradient, its products in full or in TF32."""
    arrays = recurrent.random_arrays(cell, sizes)
    precision = ", TF32" if tf32 else ""
    return Problem(
        label=f"{cell.name}, {sizes.steps} steps, {sizes.batch} x {sizes.dim}{precision}",
        results=tuple(f"d{weight}" for weight in cell.weights),
        methods={"xla": partial(our_gradient, gradients(cell), arrays, cell.weights, tf32)},
        peers=peers(cell, arrays, tf32),
        dtype="tf32" if tf32 else sizes.dtype,
        unlike=frozenset({"gru"}),
        steps=sizes.steps,
        floors=floors(operations(cell, sizes), moved(cell, arrays, sizes), sizes.dtype, tf32),
    )


def gradients(cell: recurrent.Cell) -> Callable:
    """Return what builds our gradients, from a mode and the arrays."""
    return lambda mode, *variables: recurrent.grad_of_h(cell, ours(mode), *variables)


def peers(cell: recurrent.Cell, arrays: dict[str, np.ndarray], tf32: bool) -> Mapping:
    """Return what makes the peers' programs, on the same device."""
    carried = partial(recurrent.carried_cost, cell)
    compiled = partial(torch_programs.compiled_step_cost, cell)
    place = {"device": "cuda" if on_a_gpu() else "cpu", "tf32": tf32}
    gradient_in_torch = partial(torch_programs.loop_gradient, arrays=arrays, **place)
    found: dict[str, Callable] = {
        "jax": partial(jax_programs.loop_gradient, carried, arrays, cell.positions, **place),
        "torch": partial(gradient_in_torch, carried, positions=cell.positions),
        "torch.compile": partial(gradient_in_torch, compiled, positions=cell.positions),
    }
    if cell.name == "gated_rnn":
        found["gru"] = partial(torch_programs.gru, arrays, True, **place)
    return found


def operations(cell: recurrent.Cell, sizes: Sizes) -> int:
    """Return the operations of the products.

    There are three of a step's size for each weight: of the step, of its derivative by the state,
    and of that by the weight.
    """
    assert sizes.batch and sizes.dim and sizes.steps
    return 3 * len(cell.weights) * 2 * sizes.batch * sizes.dim**2 * sizes.steps


def moved(cell: recurrent.Cell, arrays: dict[str, np.ndarray], sizes: Sizes) -> int:
    """Return the bytes of arrays read, gradients written, and states written and read again."""
    assert sizes.batch and sizes.dim and sizes.steps
    state = sizes.steps * sizes.batch * sizes.dim * arrays["h0"].itemsize
    weights = sum(arrays[name].nbytes for name in cell.weights)
    return sum(array.nbytes for array in arrays.values()) + weights + 2 * state
