"""The same problems in JAX: ``jit`` of ``lax.scan`` and of its gradient."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace

import numpy as np

from tests_scan_grad.timing.experiment import Program


def operations() -> SimpleNamespace:
    """Return JAX's functions under the names that a step uses."""
    import jax

    return SimpleNamespace(
        dot=jax.numpy.dot, sigmoid=jax.nn.sigmoid, tanh=jax.numpy.tanh, log=jax.numpy.log
    )


def to_numpy(results) -> list[np.ndarray]:
    """Return JAX's results as arrays."""
    return [np.asarray(result) for result in results]


def compiled(
    function: Callable, arrays: Sequence[np.ndarray], device: str = "cpu", tf32: bool = False
) -> Program:
    """Compile a function of these arrays, ahead of its first call, on a JAX device.

    A GPU computes products of float32 in full, unless it may with 10 bits of mantissa.
    """
    import jax

    place = jax.local_devices(backend=device)[0]
    # JAX computes in float32 unless it is asked not to; float64 runs need float64.
    precision = "tensorfloat32" if tf32 else "highest"
    with jax.enable_x64(True), jax.default_matmul_precision(precision):
        start = time.perf_counter()
        values = [jax.device_put(array, place) for array in arrays]
        program = jax.jit(function).lower(*values).compile()
        seconds = time.perf_counter() - start
    return Program(
        call=lambda: jax.block_until_ready(program(*values)),
        to_numpy=to_numpy,
        compile_seconds=seconds,
    )


def loop_cost(cost: Callable, arrays: dict[str, np.ndarray]) -> Program:
    """Return a program for a cost: a function of a scan, of operations and of the arrays."""
    import jax

    library = operations()
    return compiled(lambda *values: [cost(jax.lax.scan, library, *values)], list(arrays.values()))


def loop_gradient(
    cost: Callable,
    arrays: dict[str, np.ndarray],
    positions: Sequence[int],
    with_cost: bool = False,
    device: str = "cpu",
    tf32: bool = False,
) -> Program:
    """Return a program for a cost's gradient by the arrays at these positions."""
    import jax

    derived = jax.value_and_grad(partial(cost, jax.lax.scan, operations()), argnums=positions)

    def function(*values):
        value, gradients = derived(*values)
        return [value, *gradients] if with_cost else gradients

    return compiled(function, list(arrays.values()), device, tf32)


def product(arrays: dict[str, np.ndarray]) -> Program:
    """Return a program for the product of two arrays, plus the third if there is one.

    JAX keeps arrays in C order: one in Fortran order is given as its transpose, which the
    compiled program transposes back, and that moves nothing.
    """
    turned = [not array.flags.c_contiguous for array in arrays.values()]

    def function(*values):
        left, right, *addend = [
            value.T if turn else value for value, turn in zip(values, turned, strict=True)
        ]
        result = left @ right
        return [result + addend[0]] if addend else [result]

    stored = [
        array.T if turn else array for array, turn in zip(arrays.values(), turned, strict=True)
    ]
    return compiled(function, stored)
