"""What no program can be faster than on a device: its arithmetic and its memory, as measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Sizes
from tests_scan_grad.timing.programs.recurrent import Cell

# Side of the product, and elements of the sum, by which the device is measured.
SIDE = {"cpu": 1024, "gpu": 8192}
ELEMENTS = {"cpu": 2**25, "gpu": 2**28}


def floors(cell: Cell, arrays: dict[str, np.ndarray], sizes: Sizes) -> dict[str, float]:
    """Return the seconds of the products alone, and of reading and writing each array once.

    The gradient has three products of a step's size for each weight: of the step, of its
    derivative by the state, and of that by the weight. Read are the inputs, written the
    gradients, and written and read the state of each step.
    """
    rate, bandwidth = device_rates(sizes.dtype)
    each = 2 * sizes.batch * sizes.dim**2 * sizes.steps
    state = sizes.steps * sizes.batch * sizes.dim * arrays["h0"].itemsize
    weights = sum(arrays[name].nbytes for name in cell.weights)
    moved = sum(array.nbytes for array in arrays.values()) + weights + 2 * state
    return {"arithmetic": 3 * len(cell.weights) * each / rate, "bytes": moved / bandwidth}


@cache
def device_rates(dtype: str) -> tuple[float, float]:
    """Return operations a second of a large product, and bytes a second of a large sum."""
    import jax
    import jax.numpy as jnp

    platform = jax.default_backend()
    side, count = SIDE[platform], ELEMENTS[platform]
    square, long = jnp.ones((side, side), dtype), jnp.ones(count, dtype)
    product = jax.jit(lambda x: jnp.matmul(x, x, precision="highest"))
    add = jax.jit(lambda x: x + 1)
    return (
        2 * side**3 / _least_seconds(product, square),
        2 * long.nbytes / _least_seconds(add, long),
    )


def _least_seconds(function: Callable, x: Any) -> float:
    function(x).block_until_ready()
    found = []
    for _ in range(5):
        start = time.perf_counter()
        function(x).block_until_ready()
        found.append(time.perf_counter() - start)
    return min(found)
