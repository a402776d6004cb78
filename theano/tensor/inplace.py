"""Element-wise operators that overwrite their first input: `exp_inplace` and so on.

Each name of an element-wise function, followed by ``_inplace``, is made when it is asked
for. The result has the dtype of the first input, which must have the result's shape.
"""

from typing import Any

import pytensor.tensor as pt
from pytensor.tensor import TensorLike
from pytensor.tensor.elemwise import DimShuffle, Elemwise

import theano.scalar as scal
from theano.scalar.output_types import transfer_type

_RENAMED = {"fill": "second"}


def __getattr__(name: str) -> Any:
    base = name.removesuffix("_inplace")
    scalar_op = getattr(scal, _RENAMED.get(base, base), None) if base != name else None
    if not isinstance(scalar_op, scal.ScalarOp):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    kept = type(scalar_op)(transfer_type(0), name=scalar_op.name)
    globals()[name] = Elemwise(kept, inplace_pattern={0: 0}, name=name)
    return globals()[name]


def transpose_inplace(x: TensorLike) -> Any:
    """Return a view of `x` with its dimensions in reverse order."""
    x = pt.as_tensor_variable(x)
    order = list(range(x.ndim))[::-1]
    return DimShuffle(input_ndim=x.ndim, new_order=order)(x)
