"""Categories of uniform samples: counted, or chosen one after the other."""

from __future__ import annotations

from typing import Any

from pytensor.graph.op import Op

from theano.link.xla.lowering.table import lowers
from theano.sandbox.multinomial import ChoiceFromUniform, MultinomialFromUniform


@lowers(MultinomialFromUniform, concrete=(2,))
def multinomial_counts(op, node, inputs, context):
    """Return how often a sample stands for each category: the first at which the sum exceeds the sample."""
    import jax.numpy as jnp
    from jax import lax

    pvals = inputs[0]
    samples = _samples_of_rows(op, inputs)
    sums = _sums(pvals)
    categories = jnp.arange(pvals.shape[1])
    dtype = node.outputs[0].type.dtype

    def counted(counts: object, uniform: object) -> tuple[Any, None]:
        first, _ = _first_above(sums, uniform)
        return counts + (categories == first[:, None]).astype(dtype), None

    return lax.scan(counted, jnp.zeros(pvals.shape, dtype), samples)[0]


@lowers(ChoiceFromUniform, concrete=(2,))
def multinomial_choices(op, node, inputs, context):
    """Choose categories; without replacement, what is left is scaled to a sum of 1 each time."""
    import jax.numpy as jnp
    from jax import lax

    pvals, count = inputs[0], int(inputs[2])
    if count > pvals.shape[1]:
        raise ValueError(
            f"{type(op).__name__}: cannot sample {count} of {pvals.shape[1]} without replacement"
        )
    samples = _samples_of_rows(op, inputs)
    dtype = node.outputs[0].type.dtype

    def chosen(left: Any, uniform: object) -> tuple[Any, Any]:
        sums = _sums(left)
        first, found = _first_above(sums, uniform)
        category = jnp.where(found, first, -1).astype(dtype)
        if op.replace:
            return left, category
        return jnp.where(found[:, None], _without(left, sums, first), left), category

    return lax.scan(chosen, jnp.asarray(pvals), samples)[1].T


def _samples_of_rows(op: Op, inputs: list[Any]) -> Any:
    """Return the samples, each of them a vector with an element for each row of the probabilities."""
    pvals, uniforms, count = inputs[0], inputs[1], int(inputs[2])
    if count < 0 or len(uniforms) != len(pvals) * count:
        raise ValueError(
            f"{type(op).__name__}: expected {count} samples for each of {len(pvals)} rows, "
            f"got {len(uniforms)}"
        )
    return uniforms.reshape(count, len(pvals))


def _sums(pvals: Any) -> Any:
    """Return sums in float64, whatever the dtype, as in Theano."""
    import jax.numpy as jnp

    return jnp.cumsum(pvals, axis=1, dtype="float64")


def _first_above(sums: Any, uniform: Any) -> tuple[Any, Any]:
    """Of each row, the first column above the sample, else their number; and whether there is one."""
    import jax.numpy as jnp

    above = sums > uniform[:, None]
    found = above.any(axis=1)
    first = jnp.argmax(above, axis=1) if sums.shape[1] else jnp.zeros(len(sums), "int64")
    return jnp.where(found, first, sums.shape[1]), found


def _without(pvals: Any, sums: object, first: Any) -> Any:
    """Take a category from each row, and scale the others to a sum of 1, in the dtype of both."""
    import jax.numpy as jnp

    categories, taken = jnp.arange(pvals.shape[1]), first[:, None]
    before = jnp.take_along_axis(sums - pvals, taken, axis=1, mode="clip").astype(pvals.dtype)
    later = jnp.where(categories > taken, pvals, 0).sum(axis=1, keepdims=True, dtype=pvals.dtype)
    # nothing is left after the last category, nor asked for
    return jnp.where(categories == taken, 0, pvals) / (before + later)
