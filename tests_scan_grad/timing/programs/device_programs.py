"""A gradient as a program of the XLA engine, whose inputs and results stay on the device."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import theano
import theano.link.xla
from tests_scan_grad.timing.experiment import Program, TimingError


def on_a_gpu() -> bool:
    """Return whether JAX computes on a GPU here."""
    try:
        import jax
    except ImportError as error:
        raise TimingError("the experiment needs JAX: pip install 'theano-scan[gpu]'") from error
    return jax.default_backend() == "gpu"


def our_gradient(
    gradients: Callable[..., Sequence[Any]],
    arrays: Mapping[str, np.ndarray],
    weights: Sequence[str],
    tf32: bool,
) -> Program:
    """Return this project's program for gradients by the named arrays.

    `gradients` takes a mode and a shared variable of each array.
    """
    mode = theano.Mode(theano.link.xla.XLALinker("cuda" if on_a_gpu() else "xla:cpu"), "fast_run")
    start = time.perf_counter()
    variables = [theano.shared(array, name=name) for name, array in arrays.items()]
    results = [theano.shared(arrays[name], name=f"d{name}") for name in weights]
    with theano.change_flags({"xla.tf32": tf32}):
        pairs = list(zip(results, gradients(mode, *variables), strict=True))
        function = theano.function([], [], updates=pairs, mode=mode)

    def call() -> list:
        function()
        function.sync_shared()
        return results

    call()
    return Program(
        call=call,
        to_numpy=lambda found: [result.get_value() for result in found],
        compile_seconds=time.perf_counter() - start,
    )
