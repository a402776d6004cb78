"""Operators that take any axis in Theano 1.0, and in PyTensor one that is not negative."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.tensor import extra_ops
from pytensor.tensor.variable import TensorVariable

from theano.gof.stand_in import StandIn


class CumOp(metaclass=StandIn, made=extra_ops.CumOp):
    """Cumulative sums or products along an axis: ``CumOp(axis, mode)(x)``.

    Parameters
    ----------
    axis : int, optional
        The axis; without one, `x` is flattened first.
    mode : {'add', 'mul'}
        Whether sums or products.

    Raises
    ------
    ValueError
        Another mode.
    """

    @staticmethod
    def make(
        axis: int | None = None, mode: str = "add"
    ) -> Callable[..., Variable | list[Variable]]:
        if mode not in ("add", "mul"):
            raise ValueError(f"CumOp: expected the mode 'add' or 'mul', got {mode!r}")
        if axis is not None and axis >= 0:
            return extra_ops.CumOp(axis=axis, mode=mode)
        return partial(pt.cumsum if mode == "add" else pt.cumprod, axis=axis)


class RepeatOp(metaclass=StandIn, made=extra_ops.Repeat):
    """The elements of a tensor repeated along an axis: ``RepeatOp(axis)(x, repeats)``.

    Parameters
    ----------
    axis : int, optional
        The axis; without one, `x` is flattened first.
    """

    @staticmethod
    def make(axis: int | None = None) -> Callable[[Any, Any], TensorVariable]:
        return partial(pt.repeat, axis=axis)


class Unique(extra_ops.Unique):
    """The different elements of a tensor, or its different parts along an axis.

    Parameters
    ----------
    return_index, return_inverse, return_counts : bool
        Whether to return where they are first, which of them each element is, how often each is.
    axis : int, optional
        The axis; without one, `x` is flattened first.
    """

    def __init__(
        self,
        return_index: bool = False,
        return_inverse: bool = False,
        return_counts: bool = False,
        axis: int | None = None,
    ):
        super().__init__(return_index, return_inverse, return_counts)
        self.axis = axis
