"""Element-wise operators, reductions and permutations of dimensions, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from collections.abc import Sequence
from typing import Literal

from pytensor.tensor.elemwise import CAReduce, Elemwise, scalar_elemwise
from pytensor.tensor.elemwise import DimShuffle as _PyTensorDimShuffle
from pytensor.tensor.math import All, Any, Max, Min, ProdWithoutZeros, Sum

from theano.gof.stand_in import StandIn
from theano.tensor.products_of_elements import Prod
from theano.tensor.var import TensorConstant


class DimShuffle(metaclass=StandIn, made=_PyTensorDimShuffle):
    """A view of a tensor with its dimensions in another order, some dropped, some added.

    Parameters
    ----------
    input_broadcastable : sequence of bool
        The broadcastable pattern of the tensor.
    new_order : sequence of int or 'x'
        For each dimension of the result, which of the tensor's it is; 'x' for a new one.
    inplace : bool
        Accepted for Theano's signature: the result is a view.

    Raises
    ------
    ValueError
        A dimension is used twice, is not there, or is dropped though it may be longer than 1.
    """

    @staticmethod
    def make(
        input_broadcastable: Sequence[bool] | None = None,
        new_order: Sequence[int | Literal["x"]] = (),
        inplace: bool = True,
        *,
        input_ndim: int | None = None,
    ) -> _PyTensorDimShuffle:
        if input_broadcastable is None:
            assert input_ndim is not None
            return _PyTensorDimShuffle(input_ndim=input_ndim, new_order=new_order)
        for axis, is_one in enumerate(input_broadcastable):
            if axis not in new_order and not is_one:
                raise ValueError(
                    f"DimShuffle: expected dimension {axis} of the pattern "
                    f"{tuple(input_broadcastable)} to be kept or to be broadcastable, "
                    f"got the order {tuple(new_order)}"
                )
        return _PyTensorDimShuffle(input_ndim=len(input_broadcastable), new_order=new_order)
