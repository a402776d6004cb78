"""Gradients as narrow as Theano's: comparisons of narrow floats widen PyTensor's to floatX.

The gradient by what is compared is zeros, which PyTensor gives in floatX, and adds up with the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Variable
from pytensor.graph.null_type import NullType
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.type import discrete_dtypes, float_dtypes

from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.order import order_of


def narrow_gradients(
    found: Sequence[Any],
    wrt: Sequence[Variable],
    outputs: Sequence[Variable],
    derive: Callable[[list[Variable]], Sequence[Any]],
) -> list[Any]:
    """Gradients, taken again without comparisons where one is wider than its variable.

    Parameters
    ----------
    found, wrt
        The gradients, and what each is by.
    outputs
        What is differentiated.
    derive
        Gives the gradients through which those variables are constant; None of what only they
        depend on, of which `found` is kept.
    """
    if not any(map(_is_wider, found, wrt)):
        return list(found)
    constant = [
        output
        for node in order_of(outputs)
        if is_a(node.op, Elemwise)
        for output in node.outputs
        if output.type.dtype in discrete_dtypes and output not in wrt
    ]
    if not constant:
        return list(found)
    again = derive(constant)
    return [old if _is_nothing(new) else new for old, new in zip(found, again, strict=True)]


def _is_wider(gradient: object, variable: Variable) -> bool:
    dtypes = [str(getattr(getattr(v, "type", None), "dtype", "")) for v in (gradient, variable)]
    if not set(dtypes) <= set(float_dtypes):
        return False
    wide, narrow = (np.dtype(dtype).itemsize for dtype in dtypes)
    return wide > narrow


def _is_nothing(gradient: Any) -> bool:
    return gradient is None or isinstance(gradient.type, DisconnectedType | NullType)
