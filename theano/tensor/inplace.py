"""Element-wise operators that overwrite their first input: `exp_inplace` and so on.

Each name of an element-wise function, followed by ``_inplace``, is made when it is asked
for. The first input must have the dtype and the shape of the result.
"""

from typing import Any

import pytensor.tensor as pt
from pytensor.tensor.elemwise import DimShuffle, Elemwise

_RENAMED = {"abs_": "abs", "inv": "reciprocal", "fill": "second"}


def __getattr__(name: str) -> Any:
    base = name.removesuffix("_inplace")
    if base != name:
        operator = getattr(pt, _RENAMED.get(base, base), None)
        if isinstance(operator, Elemwise):
            made = Elemwise(operator.scalar_op, inplace_pattern={0: 0}, name=name)
            globals()[name] = made
            return made
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def transpose_inplace(x: Any) -> Any:
    """Return a view of `x` with its dimensions in reverse order."""
    x = pt.as_tensor_variable(x)
    order = list(range(x.ndim))[::-1]
    return DimShuffle(input_ndim=x.ndim, new_order=order)(x)
