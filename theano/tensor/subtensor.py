"""Indexing, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from typing import Any

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor import TensorLike
from pytensor.tensor import subtensor as _of_pytensor
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
    advanced_inc_subtensor,
    advanced_set_subtensor,
    advanced_subtensor,
    flip,
    take,
)

from theano.compile.rebroadcast import Rebroadcast
from theano.gof.stand_in import StandIn
from theano.pytensor_internals.graphs.annotations import known_tensor, only_result
from theano.pytensor_internals.operations.tensor import AdvancedIncSubtensor1 as _RowsChanged
from theano.pytensor_internals.operations.tensor import AdvancedSubtensor1 as _RowsAtPositions
from theano.pytensor_internals.operations.tensor import (
    as_index_constant,
    get_canonical_form_slice,
    get_idx_list,
    with_rows_repeated,
)
from theano.tensor.as_tensor import as_tensor_variable


class AdvancedSubtensor1(metaclass=StandIn, made=_RowsAtPositions):
    """The elements at positions along the first dimension.

    Before a function is compiled, the operator is one for positions along any dimensions; it
    counts as this one where they are along the first.
    """

    @staticmethod
    def make(sparse_grad: bool = False) -> _RowsAtPositions:
        return _RowsAtPositions(sparse_grad)

    @staticmethod
    def means(op: object) -> bool:
        return isinstance(op, AdvancedSubtensor) and _along_first(op.idx_list)


class AdvancedIncSubtensor1(metaclass=StandIn, made=_RowsChanged):
    """An array with the elements at positions along the first dimension changed.

    It also stands for the operator before a function is compiled: see `AdvancedSubtensor1`.
    """

    @staticmethod
    def make(inplace: bool = False, set_instead_of_inc: bool = False) -> _RowsChanged:
        return _RowsChanged(inplace=inplace, set_instead_of_inc=set_instead_of_inc)

    @staticmethod
    def means(op: object) -> bool:
        return isinstance(op, AdvancedIncSubtensor) and _along_first(op.idx_list)


def _along_first(indices: tuple) -> bool:
    """Return whether positions are given along the first dimension only."""
    return indices[0] == 0 and all(index == slice(None) for index in indices[1:])


advanced_subtensor1 = _RowsAtPositions()
advanced_inc_subtensor1 = _RowsChanged()
advanced_set_subtensor1 = _RowsChanged(set_instead_of_inc=True)

# Indexing with booleans is not a separate operator here.
AdvancedBooleanSubtensor = AdvancedSubtensor
AdvancedBooleanIncSubtensor = AdvancedIncSubtensor


def inc_subtensor(
    x: Variable,
    y: TensorLike,
    inplace: bool = False,
    set_instead_of_inc: bool = False,
    tolerate_inplace_aliasing: bool = False,
    ignore_duplicates: bool = False,
) -> Variable:
    """Return an array in which ``y`` is added to the part ``x``.

    Parameters
    ----------
    x : Variable
        The part, an array that was indexed.
    y : array_like or Variable
        What is added.
    inplace : bool
        For rewrites only: they do it where possible.
    set_instead_of_inc : bool
        Whether ``y`` takes the part's place instead.
    tolerate_inplace_aliasing : bool
        Whether ``y`` may be another part of the same array, one that does not overlap.
    ignore_duplicates : bool
        Whether an element that is indexed several times is changed once.
    """
    y = _of_length_one_where(x, y)
    if not set_instead_of_inc:
        y = _as_unsigned_where(x, y)
    result = _of_pytensor.inc_subtensor(
        x,
        y,
        inplace,
        set_instead_of_inc,
        tolerate_inplace_aliasing,
        ignore_duplicates,
    )
    if tolerate_inplace_aliasing:
        _make_hashable(result, x)
    return with_rows_repeated(result)


def set_subtensor(
    x: Variable, y: TensorLike, inplace: bool = False, tolerate_inplace_aliasing: bool = False
) -> Variable:
    """Return an array in which ``y`` takes the place of the part ``x``; see `inc_subtensor`."""
    return inc_subtensor(x, y, inplace, True, tolerate_inplace_aliasing)


def _of_length_one_where(part: Variable, y: TensorLike) -> Variable:
    """Declare that ``y`` has length 1 where the part does; the function checks it when it runs."""
    y = as_tensor_variable(y)
    wanted = part.type.broadcastable[::-1]
    known = y.type.broadcastable[::-1]
    new = [d for d, (one, is_one) in enumerate(zip(wanted, known, strict=False)) if one > is_one]
    if not new:
        return y
    return only_result(Rebroadcast(*((y.type.ndim - 1 - d, True) for d in new))(y))


def _as_unsigned_where(part: Variable, y: Variable) -> Variable:
    """Signed increments of unsigned integers as such, which wrap around alike.

    NumPy, which adds where nothing is compiled, refuses them, a plain ``1`` among them.
    """
    dtype = np.dtype(part.type.dtype)
    if (dtype.kind, np.dtype(y.type.dtype).kind) != ("u", "i"):
        return y
    # PyTensor 3.0 refuses to cast a negative number that it knows
    if isinstance(y, Constant):
        return as_tensor_variable(y.data.astype(dtype))
    return known_tensor(y).astype(dtype.name)


def _make_hashable(result: Variable, part: Variable) -> None:
    """Make tuples of lists in the new operations' attributes, which PyTensor leaves there."""
    for variable in ancestors([result], blockers=[part]):
        op = getattr(variable.owner, "op", None)
        if isinstance(op, IncSubtensor):
            op.destroyhandler_tolerate_aliased = tuple(
                tuple(pair) for pair in op.destroyhandler_tolerate_aliased
            )
