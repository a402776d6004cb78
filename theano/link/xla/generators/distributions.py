"""Random variables of PyTensor that ``jax.random`` draws, with NumPy's parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.tensor.type_other import NoneTypeT

from theano.pytensor_internals.graphs.scan import Scan
from theano.pytensor_internals.operations import random
from theano.tensor.numpy_samplers.generator_samples import SampleFromArray

# (jax.random, key, shape without the dimensions of a sample, dtype, *parameters) -> samples
Draw = Callable[..., Any]


def _located(name: str) -> Draw:
    """Return the draw of a standard distribution, moved and scaled."""
    return lambda r, key, shape, dtype, loc, scale: (
        loc + scale * getattr(r, name)(key, shape, dtype)
    )


def _lognormal(r: Any, key: object, shape: Any, dtype: str, mean: object, sigma: Any) -> Any:
    import jax.numpy as jnp

    return jnp.exp(mean + sigma * r.normal(key, shape, dtype))


def _negative_binomial(r: Any, key: object, shape: Any, dtype: str, n: object, p: Any) -> Any:
    means, counts = r.split(key)
    return r.poisson(counts, r.gamma(means, n, shape, p.dtype) * (1 - p) / p, shape, dtype)


def _beta_binomial(r: Any, key: object, shape: Any, dtype: str, n: object, a: Any, b: Any) -> Any:
    chances, counts = r.split(key)
    return r.binomial(counts, n, r.beta(chances, a, b, shape), shape)


def _categorical(r: Any, key: object, shape: Any, dtype: str, p: Any) -> Any:
    import jax.numpy as jnp

    return r.categorical(key, jnp.log(p), shape=shape)


def _multinomial(r: Any, key: object, shape: Any, dtype: str, n: Any, p: Any) -> Any:
    import jax.numpy as jnp

    n, p = jnp.broadcast_to(n, shape), jnp.broadcast_to(p, (*shape, p.shape[-1]))
    # the last category has what is left of 1, as NumPy has it
    p = jnp.concatenate([p[..., :-1], 1 - p[..., :-1].sum(-1, keepdims=True)], -1)
    return r.multinomial(key, n.astype(p.dtype), p)


def _half(name: str) -> Draw:
    """Return the draw of the distance of a standard distribution, moved and scaled."""
    return lambda r, key, shape, dtype, loc, scale: (
        loc + scale * abs(getattr(r, name)(key, shape, dtype))
    )


_DRAWS: dict[type, Draw] = {
    random.UniformRV: lambda r, key, shape, dtype, low, high: (
        low + (high - low) * r.uniform(key, shape, dtype)
    ),
    random.NormalRV: _located("normal"),
    random.LogisticRV: _located("logistic"),
    random.LaplaceRV: _located("laplace"),
    random.GumbelRV: _located("gumbel"),
    random.CauchyRV: _located("cauchy"),
    random.HalfNormalRV: _half("normal"),
    random.HalfCauchyRV: _half("cauchy"),
    random.LogNormalRV: _lognormal,
    random.ExponentialRV: lambda r, key, shape, dtype, scale: (
        scale * r.exponential(key, shape, dtype)
    ),
    random.GammaRV: lambda r, key, shape, dtype, a, scale: scale * r.gamma(key, a, shape, dtype),
    random.InvGammaRV: lambda r, key, shape, dtype, a, scale: scale / r.gamma(key, a, shape, dtype),
    random.BetaRV: lambda r, key, shape, dtype, a, b: r.beta(key, a, b, shape, dtype),
    random.StudentTRV: lambda r, key, shape, dtype, df, loc, scale: (
        loc + scale * r.t(key, df, shape, dtype)
    ),
    random.WeibullRV: lambda r, key, shape, dtype, a: r.weibull_min(key, 1.0, a, shape, dtype),
    random.ParetoRV: lambda r, key, shape, dtype, b, scale: scale * r.pareto(key, b, shape, dtype),
    random.WaldRV: lambda r, key, shape, dtype, mean, scale: (
        scale * r.wald(key, mean / scale, shape, dtype)
    ),
    random.TriangularRV: lambda r, key, shape, dtype, left, mode, right: r.triangular(
        key, left, mode, right, shape, dtype
    ),
    random.PoissonRV: lambda r, key, shape, dtype, mean: r.poisson(key, mean, shape, dtype),
    random.GeometricRV: lambda r, key, shape, dtype, p: r.geometric(key, p, shape, dtype),
    random.NegBinomialRV: _negative_binomial,
    random.BernoulliRV: lambda r, key, shape, dtype, p: r.bernoulli(key, p, shape),
    random.BinomialRV: lambda r, key, shape, dtype, n, p: r.binomial(key, n, p, shape),
    random.BetaBinomialRV: _beta_binomial,
    random.IntegersRV: lambda r, key, shape, dtype, low, high: r.randint(
        key, shape, low, high, dtype
    ),
    random.CategoricalRV: _categorical,
    random.MultinomialRV: _multinomial,
    random.MvNormalRV: lambda r, key, shape, dtype, mean, matrix: r.multivariate_normal(
        key, mean, matrix, shape, dtype, method="svd"
    ),
    random.DirichletRV: lambda r, key, shape, dtype, alpha: r.dirichlet(key, alpha, shape, dtype),
}


def why_numpy_draws(node: Apply) -> str:
    """Why JAX does not draw a random variable; empty if it does."""
    op: Any = node.op
    if type(op) in _DRAWS:
        return ""
    return f"JAX draws no {op.name}, so that NumPy does"


def sampled_by_jax(fgraph: Any) -> tuple[str, ...]:
    """Return the names of the random variables of a graph, and of its loops, that JAX draws."""
    found: list[str] = []
    for node in fgraph.toposort():
        op: Any = node.op
        if isinstance(op, SampleByKey):
            found.append(op.sampler.name)
        elif isinstance(op, Scan):
            found += sampled_by_jax(op.fgraph)
    return tuple(found)


class SampleByKey(SampleFromArray):
    """Draw as a random variable of PyTensor does, from a key of JAX's generators."""

    def perform(self, node, inputs, output_storage):
        following, samples = drawn(node, inputs)
        output_storage[0][0] = np.asarray(following)
        output_storage[1][0] = np.asarray(samples)


def drawn(node: Apply, inputs: Sequence[Any]) -> tuple[Any, Any]:
    """Return the next key, and samples of the other of the two that a key is split into."""
    import jax.numpy as jnp
    import jax.random

    op: Any = node.op
    dtype = node.outputs[1].type.dtype  # type: ignore[attr-defined]
    key, size, *parameters = inputs
    given = [_as_number(value, dtype, op.sampler) for value in parameters]
    ndims = op.sampler.ndims_params
    if isinstance(node.inputs[1].type, NoneTypeT):
        batches = [x.shape[: x.ndim - n] for x, n in zip(given, ndims, strict=True)]
        shape = jnp.broadcast_shapes(*batches)
    else:
        shape = tuple(int(length) for length in size)
    wrapped = jax.random.wrap_key_data(jnp.asarray(key), impl="threefry2x32")
    following, own = jax.random.split(wrapped)
    samples = _DRAWS[type(op.sampler)](jax.random, own, shape, dtype, *given)
    return jax.random.key_data(following), samples.astype(dtype)


def _as_number(value: object, dtype: str, sampler: object) -> Any:
    """Return a parameter as an array: of the type of samples that have fractions."""
    import jax.numpy as jnp

    x = jnp.asarray(value)
    if type(sampler) is random.IntegersRV:
        return x
    if dtype.startswith("float"):
        return x.astype(dtype)
    # counts of a number of trials, and chances, are computed as fractions
    return x if x.dtype.kind == "f" else x.astype("float64")
