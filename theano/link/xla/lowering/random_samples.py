"""Random samples: of MRG31k3p as integer arithmetic, of keys by JAX, of NumPy's generators on the host."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.tensor.random.op import RandomVariable

from theano.configdefaults import config
from theano.link.xla.context import CannotLower
from theano.link.xla.generators.distributions import SampleByKey, drawn, why_numpy_draws
from theano.link.xla.lowering.table import lowers
from theano.sandbox.mrg31k3p import (
    FACTOR1,
    FACTOR2,
    M1,
    M2,
    SHIFT1,
    SHIFT2,
    random_numbers,
)
from theano.sandbox.mrg_uniform import mrg_uniform


def _why_on_host(node: Apply) -> str:
    asked = config.xla.generators == "jax" and why_numpy_draws(node)
    return asked or "the samples of NumPy's generators are made on the host"


@lowers(RandomVariable, why_not=_why_on_host)
def sample_on_host(op, node, inputs, context):
    """Leave a random variable to the host."""
    raise CannotLower(_why_on_host(node))


@lowers(SampleByKey, concrete=(1,))
def sample_by_key(op, node, inputs, context):
    """Return the next key, and samples by JAX's generators."""
    return list(drawn(node, inputs))


# More steps than this are a loop of the program.
_UNROLLED = 8


@lowers(mrg_uniform, concrete=(1,))
def sample_uniforms(op, node, inputs, context):
    """Return the next states, and numbers between 0 and 1: the i-th from row ``i % streams``."""
    import jax.numpy as jnp

    states, size = inputs
    shape = [int(length) for length in size]
    count, streams = math.prod(shape), states.shape[0]
    dtype = op.output_type.dtype
    if len(shape) != op.output_type.ndim or min(shape, default=0) < 0 or count > M1:
        raise ValueError(f"mrg_uniform: expected {op.output_type.ndim} lengths, got {shape}")
    if states.ndim != 2 or states.shape[1] != 6 or not streams:
        raise ValueError(f"mrg_uniform: expected states of 6 columns, got shape {states.shape}")
    if not count:
        return [states, jnp.zeros(shape, dtype)]
    wide = tuple(states[:, column].astype("uint64") for column in range(6))
    # in the last step only the first streams are drawn from
    before, sampled = _steps(wide, -(-count // streams) - 1)
    last, last_sampled = _step(before)
    sampled = jnp.concatenate([sampled.reshape(-1), last_sampled])
    now = jnp.arange(streams) < count - (len(sampled) - streams)
    following = jnp.stack([jnp.where(now, a, b) for a, b in zip(last, before, strict=True)], 1)
    samples = sampled[:count].reshape(shape)
    return [following.astype("int32"), random_numbers(samples, dtype)]


def _steps(state: tuple[Any, ...], count: int) -> tuple[tuple[Any, ...], Any]:
    """Return the state after `count` steps, and the samples of each."""
    import jax.numpy as jnp
    from jax import lax

    if count > _UNROLLED:
        return lax.scan(lambda at, _: _step(at), state, length=count)
    samples = []
    for _ in range(count):
        state, sampled = _step(state)
        samples.append(sampled)
    return state, jnp.stack(samples) if samples else jnp.zeros(0, "int64")


def _step(state: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    import jax.numpy as jnp

    a0, a1, a2, b0, b1, b2 = state
    a = ((a1 << np.uint64(SHIFT1)) + a2 * np.uint64(FACTOR1)) % np.uint64(M1)
    b = ((b0 << np.uint64(SHIFT2)) + b2 * np.uint64(FACTOR2)) % np.uint64(M2)
    apart = a.astype("int64") - b.astype("int64")
    return (a, a0, a1, b, b0, b1), jnp.where(apart <= 0, apart + M1, apart)
