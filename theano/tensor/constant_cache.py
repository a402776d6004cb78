"""Small numbers that are the same constant wherever they are asked for."""

import numpy as np
import pytensor.tensor as pt
from pytensor.scalar.basic import convert
from pytensor.tensor import TensorLike
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorConstant, TensorConstantSignature

# signature: constant
constant_cache: dict[TensorConstantSignature, TensorConstant] = {}

LARGEST_SHARED = 10
MOST_SHARED = 10_000


def constant(
    x: TensorLike, name: str | None = None, ndim: int | None = None, dtype: str | None = None
) -> TensorConstant:
    """Return a constant of a value.

    Parameters
    ----------
    x : array or number
    name : str, optional
    ndim : int, optional
        How many dimensions it is to have.
    dtype : str, optional

    Returns
    -------
    TensorConstant
        For a single number up to ten without a name the same one each time, marked `cached`.
    """
    if name is not None or isinstance(x, TensorConstant):
        return pt.constant(x, name=name, ndim=ndim, dtype=dtype)
    value = convert(x, dtype=dtype)
    shared = value.size == 1 and value.dtype.kind in "iuf" and abs(value.item()) <= LARGEST_SHARED
    if not shared:
        return pt.constant(value, ndim=ndim)
    ndim = value.ndim if ndim is None else ndim
    value = np.reshape(value, (1,) * ndim).copy()
    kind = TensorType(dtype=value.dtype, shape=value.shape)
    signature = TensorConstantSignature((kind, value))
    if signature not in constant_cache:
        made = TensorConstant(kind, value)
        if len(constant_cache) >= MOST_SHARED:
            return made
        made.cached = True  # type: ignore[attr-defined]
        constant_cache[signature] = made
    return constant_cache[signature]
