"""The same problems in JAX: ``jit(grad(lax.scan))``."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np

from .experiment import Program


def operations() -> SimpleNamespace:
    """Return JAX's functions under the names that a step uses."""
    import jax

    return SimpleNamespace(dot=jax.numpy.dot, sigmoid=jax.nn.sigmoid, tanh=jax.numpy.tanh)


def to_numpy(results) -> list[np.ndarray]:
    """Return JAX's results as arrays."""
    return [np.asarray(result) for result in results]


def compiled(function: Callable, arrays: Sequence[np.ndarray]) -> Program:
    """Compile a function of these arrays, ahead of its first call, on JAX's CPU."""
    import jax

    cpu = jax.local_devices(backend="cpu")[0]
    # JAX computes in float32 unless it is asked not to; float64 runs need float64.
    with jax.enable_x64(True):
        start = time.perf_counter()
        values = [jax.device_put(array, cpu) for array in arrays]
        program = jax.jit(function).lower(*values).compile()
        seconds = time.perf_counter() - start
    return Program(
        call=lambda: jax.block_until_ready(program(*values)),
        to_numpy=to_numpy,
        compile_seconds=seconds,
    )


def loop_gradient(step: Callable, arrays: dict[str, np.ndarray], sequences: int) -> Program:
    """Return a program for the gradient of the sum of the last state by the weights.

    The arrays are so many sequences, then the first state, then the weights.
    """
    import jax

    library = operations()

    def cost(*values):
        parameters = values[sequences + 1 :]

        def body(h, slices):
            return step(library, *slices, h, *parameters), None

        last, _ = jax.lax.scan(body, values[sequences], values[:sequences])
        return last.sum()

    positions = tuple(range(sequences + 1, len(arrays)))
    return compiled(jax.grad(cost, argnums=positions), list(arrays.values()))


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
