"""Pooling over windows of images, and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from theano.link.xla.lowering.table import lowers
from theano.tensor.signal.pooling.geometry import Windows
from theano.tensor.signal.pooling.in_numpy import least
from theano.tensor.signal.pooling.operators import (
    AveragePoolGrad,
    DownsampleFactorMaxGradGrad,
    MaxPoolGrad,
    MaxPoolRop,
    Pool,
)


def _pads(windows: Windows) -> list[tuple[int, int]]:
    """Return how many elements lie before and after an array in the room that holds all windows."""
    spans = zip(windows.pads, windows.room(), windows.lengths, strict=True)
    return [(pad, room - pad - length) for pad, room, length in spans]


def _with_border(x: Any, windows: Windows, fill: object) -> Any:
    import jax.numpy as jnp

    lead = [(0, 0)] * (x.ndim - len(windows.sizes))
    return jnp.pad(x, [*lead, *_pads(windows)], constant_values=fill)


def _reduced(x: Any, windows: Windows, first: object, function: Any) -> Any:
    """Reduce each window, by a function and what it begins with."""
    from jax import lax

    lead = (1,) * (x.ndim - len(windows.sizes))
    x = _with_border(x, windows, first)
    # what lies after the last window is left out
    sizes, steps = (*lead, *windows.sizes), (*lead, *windows.steps)
    return lax.reduce_window(x, first, function, sizes, steps, "VALID")


def _sums(x: Any, windows: Windows) -> Any:
    from jax import lax

    return _reduced(x, windows, np.zeros((), x.dtype), lax.add)


@lowers(Pool, concrete=(1, 2, 3))
def pool(op, node, inputs, context):
    """Return the greatest element, the sum or the mean of each window."""
    import jax.numpy as jnp
    from jax import lax

    x, windows = jnp.asarray(inputs[0]), op.windows(inputs)
    if x.dtype == bool:
        any_of = jnp.asarray(x, "int8")
        return _reduced(any_of, windows, np.zeros((), "int8"), lax.max) > 0
    if op.mode == "max":
        return _reduced(x, windows, np.asarray(least(x.dtype), x.dtype), lax.max)
    if op.mode == "sum":
        return _sums(x, windows)
    working = x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype("float64")
    counted = windows.counted(with_padding=op.mode == "average_inc_pad")
    return (_sums(working, windows) / counted.astype(working.dtype)).astype(x.dtype)


def _apart(given: Any, windows: Windows, before: Any, after: Any) -> Any:
    """Return the values of windows as far apart as the windows are, with zeros between and around."""
    from jax import lax

    around = [(0, 0, 0)] * (given.ndim - len(windows.sizes))
    around += [
        (int(low), int(high), step - 1)
        for low, high, step in zip(before, after, windows.steps, strict=True)
    ]
    return lax.pad(given, np.zeros((), given.dtype), around)


def _left(windows: Windows) -> list[int]:
    """Return how many elements the room that holds all windows has besides the first of each."""
    return [
        room - ((count - 1) * step + 1 if count else 0)
        for room, step, count in zip(windows.room(), windows.steps, windows.counts, strict=True)
    ]


@lowers(AveragePoolGrad, concrete=(2, 3, 4))
def to_all(op, node, inputs, context):
    """Return the gradient of sums and means: each element's sum of the values of its windows."""
    import jax.numpy as jnp
    from jax import lax

    windows, given = op.windows(inputs), jnp.asarray(inputs[1])
    op.check_pooled("gz", given, inputs[0], windows)
    if op.mode != "sum":
        counted = windows.counted(with_padding=op.mode == "average_inc_pad")
        given = given / counted.astype(given.dtype)
    apart = _apart(given, windows, [size - 1 for size in windows.sizes], _left(windows))
    sizes = (1,) * (given.ndim - len(windows.sizes)) + windows.sizes
    zero = np.zeros((), given.dtype)
    sums = lax.reduce_window(apart, zero, lax.add, sizes, (1,) * given.ndim, "VALID")
    return sums[windows.inside()]


@lowers(MaxPoolGrad, concrete=(3, 4, 5))
def to_greatest(op, node, inputs, context):
    """Return the gradient of greatest elements."""
    import jax.numpy as jnp

    x, best, given = (jnp.asarray(value) for value in inputs[:3])
    windows = op.windows(inputs)
    op.check_pooled("maxout", best, x, windows)
    op.check_pooled("gz", given, x, windows)
    padded = _with_border(x, windows, least(x.dtype))
    result: Any = jnp.zeros(padded.shape, x.dtype)
    for offset in windows.offsets():
        equal = padded[windows.elements(offset)] == best
        after = [left - k for left, k in zip(_left(windows), offset, strict=True)]
        chosen = jnp.where(equal, given, 0).astype(x.dtype)
        result = result + _apart(chosen, windows, offset, after)
    return result[windows.inside()]


@lowers(DownsampleFactorMaxGradGrad, concrete=(3, 4, 5))
def of_greatest(op, node, inputs, context):
    """Return the sum of values at greatest elements."""
    import jax.numpy as jnp

    x, best, values = (jnp.asarray(value) for value in inputs[:3])
    windows = op.windows(inputs)
    op.check_pooled("maxout", best, x, windows)
    op.check_alongside(values, x)
    padded, alongside = _with_border(x, windows, 0), _with_border(values, windows, 0)
    result: Any = jnp.zeros(best.shape, x.dtype)
    for offset in windows.offsets():
        at = windows.elements(offset)
        result = result + jnp.where(padded[at] == best, alongside[at], 0).astype(x.dtype)
    return result


@lowers(MaxPoolRop, concrete=(2, 3, 4))
def at_first_greatest(op, node, inputs, context):
    """Return the value at the first of the greatest elements of each window."""
    import jax.numpy as jnp

    x, values = (jnp.asarray(value) for value in inputs[:2])
    op.check_alongside(values, x)
    windows = op.windows(inputs)
    padded, alongside = _with_border(x, windows, least(x.dtype)), _with_border(values, windows, 0)
    within = _with_border(jnp.ones(x.shape, "bool"), windows, False)
    best, result, found = None, None, None
    for offset in windows.offsets():
        at = windows.elements(offset)
        here, there, inside = padded[at], alongside[at], within[at]
        if best is None:
            best, result, found = here, there, inside
            continue
        greater = (here > best) | ((here != here) & (best == best))
        better = inside & (greater | ~found)
        best, result = jnp.where(better, here, best), jnp.where(better, there, result)
        found = found | inside
    return result
