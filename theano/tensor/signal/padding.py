"""Padding around the last dimensions of an array."""

from collections.abc import Sequence
from typing import Any

import pytensor.tensor as pt
from pytensor.tensor.variable import TensorVariable


def pad_last(
    x: TensorVariable, before: Sequence[Any], after: Sequence[Any], fill: float = 0
) -> TensorVariable:
    """Put `before` and `after` elements of value `fill` around the last dimensions of `x`."""
    if all(isinstance(n, int) and n == 0 for n in (*before, *after)):
        return x
    first = x.ndim - len(before)
    lengths = [x.shape[axis] for axis in range(x.ndim)]
    sizes = lengths[:first] + [
        length + b + a for length, b, a in zip(lengths[first:], before, after, strict=True)
    ]
    inner = [slice(b, b + length) for b, length in zip(before, lengths[first:], strict=True)]
    canvas = pt.full(sizes, pt.constant(fill, dtype=x.dtype))
    return pt.set_subtensor(canvas[(slice(None),) * first + tuple(inner)], x)
