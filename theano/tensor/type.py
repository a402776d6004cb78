"""Tensor types and the constructors of variables, by Theano 1.0's names."""
# ruff: noqa: F401, F403 -- this file re-exports

from collections.abc import Sequence
from typing import Any

from pytensor.configdefaults import config as _pytensor_config
from pytensor.graph.type import Type
from pytensor.tensor.type import *
from pytensor.tensor.type import (
    TensorType as _PyTensorType,
)
from pytensor.tensor.type import (
    all_dtypes,
    complex_dtypes,
    continuous_dtypes,
    discrete_dtypes,
    dtype_specs_map,
    float_dtypes,
    int_dtypes,
    integer_dtypes,
    uint_dtypes,
    values_eq_approx,
    values_eq_approx_remove_inf,
    values_eq_approx_remove_inf_nan,
    values_eq_approx_remove_nan,
)
from pytensor.tensor.variable import TensorVariable

from theano.gof.stand_in import StandIn
from theano.pytensor_internals.operations.tensor import dtensor5s, itensor5s


class TensorType(metaclass=StandIn, made=_PyTensorType):
    """The type of a tensor: its dtype and the dimensions whose length is 1.

    Calling it gives PyTensor's own type, so that types made here and there are equal. A type
    of one's own derives from ``pytensor.tensor.type.TensorType``.

    Parameters
    ----------
    dtype : str
        A NumPy dtype, or ``'floatX'``.
    broadcastable : sequence of bool
        One item for each dimension: true where its length is known to be 1.
    name : str, optional
        A name for the type.
    sparse_grad : bool
        Theano's deprecated switch. Gradients of indexing are sparse in no case.
    shape : sequence of int or None, optional
        The static lengths, as in PyTensor, instead of `broadcastable`.

    Raises
    ------
    TypeError
        The dtype is not one that a tensor can have.

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.TensorType("float32", (False, True))("x").broadcastable
    (False, True)
    """

    # A flag for debugging: whether a value that is passed may not hold NaN or infinity.
    passed_on = ("filter_checks_isfinite",)

    @staticmethod
    def make(
        dtype: Any,
        broadcastable: Sequence[bool] = (),
        name: str | None = None,
        sparse_grad: bool = False,
        *,
        shape: Sequence[int | None] | None = None,
    ) -> _PyTensorType:
        if shape is None:
            shape = [1 if is_one else None for is_one in broadcastable]
        return _PyTensorType(dtype, shape=shape, name=name)


Tensor = TensorType

wmatrix = TensorType("int16", (False, False))


def tensor(*args: Any, **kwargs: Any) -> TensorVariable:
    """Make a variable from a dtype and the dimensions of length 1.

    Parameters
    ----------
    *args, **kwargs
        Those of `TensorType`, with `name` the variable's.

    Returns
    -------
    TensorVariable

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.tensor("float32", (False, False), name="x").ndim
    2
    """
    name = kwargs.pop("name", None)
    return TensorType(*args, **kwargs)(name=name)


def _constructor(broadcastable: tuple[bool, ...], kind: str):
    def construct(name: str | None = None, dtype: Any = None) -> TensorVariable:
        return _PyTensorType(dtype or _pytensor_config.floatX, broadcastable)(name)

    construct.__name__ = construct.__qualname__ = kind
    construct.__doc__ = f"Make a {kind} variable; its dtype is `dtype`, or `theano.config.floatX`."
    return construct


scalar = _constructor((), "scalar")
vector = _constructor((False,), "vector")
matrix = _constructor((False, False), "matrix")
row = _constructor((True, False), "row")
col = _constructor((False, True), "col")
tensor3 = _constructor((False,) * 3, "tensor3")
tensor4 = _constructor((False,) * 4, "tensor4")
tensor5 = _constructor((False,) * 5, "tensor5")
tensor6 = _constructor((False,) * 6, "tensor6")
tensor7 = _constructor((False,) * 7, "tensor7")
