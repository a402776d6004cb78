"""The log density of a model of PyMC and its gradient by each engine, called from Python or from C."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests_scan_grad.timing.experiment import Program

# What a program computes: of a vector, the density and the gradient.
Density = Callable[[np.ndarray], tuple[Any, np.ndarray]]

POINTS = 20


def ours(model: Any) -> Density:
    """By this package."""
    import theano.pymc

    return theano.pymc.logp_dlogp(model)


def ours_from_c(model: Any) -> Density:
    """By this package, as nutpie calls it."""
    import theano.pymc

    return from_c(theano.pymc.compile_model(model))


def pymc_s(model: Any, mode: str) -> Density:
    """By PyMC's own function in a PyTensor mode."""
    made = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    made.set_extra_values({})
    return made._pytensor_function


def jax_s(model: Any) -> Density:
    """By PyMC's own function in PyTensor's JAX mode, waited for: it answers before it has computed."""
    import jax

    function = pymc_s(model, mode="JAX")
    return lambda point: jax.block_until_ready(function(point))


def nutpie_s(model: Any) -> Density:
    """By Numba, as nutpie calls it."""
    import nutpie

    return from_c(nutpie.compile_pymc_model(model, backend="numba"))


def from_c(compiled: Any) -> Density:
    """Call what nutpie would, by its address."""
    pointer = ctypes.c_void_p
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[pointer] * 4)(
        compiled.compiled_logp_func.address
    )
    count = compiled.n_dim
    gradient, density = np.zeros(count), np.zeros(())
    given = (gradient.ctypes.data, density.ctypes.data, compiled.user_data.ctypes.data)

    def function(point: np.ndarray) -> tuple[Any, np.ndarray]:
        if call(count, point.ctypes.data, *given):
            raise RuntimeError("the function answers that it failed")
        return density, gradient

    function.keeps = compiled  # type: ignore[attr-defined]
    return function


ENGINES: dict[str, Callable[[Any], Density]] = {
    "native": ours,
    "native from C": ours_from_c,
    "numba": partial(pymc_s, mode="NUMBA"),
    "numba from C": nutpie_s,
    "c": partial(pymc_s, mode="CVM"),
    "jax": jax_s,
}


def points_of(model: Any) -> np.ndarray:
    """Points near the one where sampling starts, one in each row."""
    from pymc.blocking import DictToArrayBijection

    start = DictToArrayBijection.map(model.initial_point(0)).data
    return start + 0.1 * np.random.default_rng(0).normal(size=(POINTS, start.size))


def program(engine: str, make_model: Callable[[], Any]) -> Program:
    """A program whose call is one of the function's; its results are those at all points."""
    model = make_model()
    points = points_of(model)
    start = time.perf_counter()
    density = ENGINES[engine](model)
    density(points[0])
    seconds = time.perf_counter() - start

    def everywhere(_: Any) -> list[np.ndarray]:
        found = [np.hstack([float(v), g]) for v, g in map(density, points)]
        return list(np.stack(found, axis=1))

    return Program(
        call=partial(density, points[0].copy()), to_numpy=everywhere, compile_seconds=seconds
    )
