"""Lower bounds on the times of programs on a device, from its measured arithmetic and memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

# Side of the product, and elements of the sum, by which the device is measured.
SIDE = {"cpu": 1024, "gpu": 8192}
ELEMENTS = {"cpu": 2**25, "gpu": 2**28}


def floors(operations: int, moved: int, dtype: str, tf32: bool = False) -> dict[str, float]:
    """Return the seconds of so many operations of products, and of moving so many bytes."""
    rate, bandwidth = device_rates(dtype, tf32)
    return {"arithmetic": operations / rate, "bytes": moved / bandwidth}


@cache
def device_rates(dtype: str, tf32: bool) -> tuple[float, float]:
    """Return operations a second of a large product, and bytes a second of a large sum."""
    import jax
    import jax.numpy as jnp

    platform = jax.default_backend()
    side, count = SIDE[platform], ELEMENTS[platform]
    square, long = jnp.ones((side, side), dtype), jnp.ones(count, dtype)
    precision = "tensorfloat32" if tf32 else "highest"
    product = jax.jit(lambda x: jnp.matmul(x, x, precision=precision))
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
