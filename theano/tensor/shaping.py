"""Functions on shapes whose Theano 1.0 signature differs from PyTensor's."""

from collections.abc import Sequence
from typing import Any

import pytensor.tensor as pt
from pytensor.compile.ops import ViewOp
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Apply, Variable
from pytensor.tensor.variable import TensorVariable


def stack(*tensors: Any, **kwargs: Any) -> TensorVariable:
    """Join tensors along a new axis.

    Parameters
    ----------
    *tensors
        A sequence of tensors, then optionally the axis; or, in Theano's older form, the
        tensors themselves, which are joined along axis 0.
    **kwargs
        `tensors` and `axis` may be given by name.

    Returns
    -------
    TensorVariable
        Of one dimension more than each of the tensors.

    Raises
    ------
    ValueError
        There is nothing to stack.
    TypeError
        An unknown keyword, or an axis given twice.

    Examples
    --------
    >>> import theano.tensor as T
    >>> T.stack([T.scalar(), T.scalar()]).ndim, T.stack(T.vector(), T.vector()).ndim
    (1, 2)
    """
    unknown = kwargs.keys() - {"tensors", "axis"}
    if unknown:
        raise TypeError(f"stack: expected the keywords 'tensors' and 'axis', got {sorted(unknown)}")
    if "tensors" in kwargs:
        tensors = (kwargs["tensors"], *tensors)
    if not tensors or (isinstance(tensors[0], list | tuple) and not tensors[0]):
        raise ValueError("stack: expected at least one tensor, got none")
    axis = kwargs.get("axis", 0)
    if isinstance(tensors[0], list | tuple):
        if len(tensors) > 2 or (len(tensors) == 2 and "axis" in kwargs):
            raise TypeError("stack: expected a sequence of tensors and one axis")
        tensors, axis = tensors[0], tensors[1] if len(tensors) == 2 else axis
    elif isinstance(tensors[0], Variable) and len(tensors) == 1 and tensors[0].ndim:
        raise TypeError("stack: expected a sequence of tensors, got one tensor")
    return pt.stack([pt.as_tensor_variable(tensor) for tensor in tensors], axis=axis)


def flatten(x: Any, ndim: int | None = None, outdim: int | None = None) -> TensorVariable:
    """Reshape `x` to `ndim` dimensions, keeping the first ``ndim - 1`` of them.

    Parameters
    ----------
    x : tensor
    ndim : int, optional
        The number of dimensions of the result; 1 if it is not given.
    outdim : int, optional
        Theano's older name of `ndim`.

    Returns
    -------
    TensorVariable

    Raises
    ------
    ValueError
        Both `ndim` and `outdim` are given, or the number is not between 1 and ``x.ndim``.
    """
    if ndim is not None and outdim is not None:
        raise ValueError("flatten: expected ndim or outdim, got both")
    wanted = ndim if ndim is not None else outdim if outdim is not None else 1
    return pt.flatten(x, wanted)


def reshape(x: Any, newshape: Any, ndim: int | None = None) -> TensorVariable:
    """Give `x` another shape; `ndim` is needed when `newshape` has an unknown length."""
    return pt.reshape(x, newshape, ndim=ndim)


def tile(x: Any, reps: Any, ndim: int | None = None) -> TensorVariable:
    """Repeat `x` along each dimension.

    Parameters
    ----------
    x : tensor
    reps : int, sequence of ints, or symbolic vector
        How often, for each dimension, the last ones first.
    ndim : int, optional
        The number of dimensions of the result. Needed where `reps` is a symbolic vector of
        unknown length.

    Returns
    -------
    TensorVariable

    Raises
    ------
    ValueError
        `ndim` is smaller than the number of items in `reps`.
    """
    if ndim is None:
        return pt.tile(x, reps)
    if isinstance(reps, Variable) and reps.ndim == 1:
        return pt.tile(x, [reps[axis] for axis in range(ndim)])
    counts = list(reps) if isinstance(reps, Sequence) else [reps]
    if len(counts) > ndim:
        raise ValueError(f"tile: expected ndim >= len(reps), got ndim={ndim}, reps={reps}")
    return pt.tile(x, [1] * (ndim - len(counts)) + counts)


def split(x: Any, splits_size: Any, n_splits: int, axis: int = 0):
    """Cut `x` along `axis` into `n_splits` parts, whose lengths are `splits_size`."""
    parts = pt.split(x, splits_size, n_splits=n_splits, axis=axis)
    return parts[0] if len(parts) == 1 else parts


class Unbroadcast(ViewOp):
    """The identity, whose result's type does not say that `axes` have length 1."""

    __props__ = ("axes",)

    def __init__(self, axes: Sequence[int]):
        self.axes = tuple(axes)

    def make_node(self, x):
        shape = [None if axis in self.axes else size for axis, size in enumerate(x.type.shape)]
        return Apply(self, [x], [x.type.clone(shape=shape)()])

    def pullback(self, inputs, outputs, cotangents):
        return [
            cotangent
            if isinstance(cotangent.type, DisconnectedType)
            else addbroadcast(cotangent, *self.axes)
            for cotangent in cotangents
        ]

    def pushforward(self, inputs, outputs, tangents):
        return [
            tangent
            if isinstance(tangent.type, DisconnectedType)
            else unbroadcast(tangent, *self.axes)
            for tangent in tangents
        ]


def addbroadcast(x: Any, *axes: int) -> TensorVariable:
    """Declare that `axes` of `x` have length 1, so that they broadcast.

    Raises
    ------
    AssertionError
        When the function runs: an axis has another length.
    """
    x = pt.as_tensor_variable(x)
    new = [axis for axis in axes if not x.broadcastable[axis]]
    return pt.specify_broadcastable(x, *new) if new else x


def unbroadcast(x: Any, *axes: int) -> TensorVariable:
    """Forget that `axes` of `x` have length 1, so that they no longer broadcast."""
    x = pt.as_tensor_variable(x)
    pattern = list(x.broadcastable)
    for axis in axes:
        pattern[axis] = False
    return patternbroadcast(x, pattern)


def patternbroadcast(x: Any, broadcastable: Sequence[bool]) -> TensorVariable:
    """Give `x` the broadcastable pattern: declare length 1 where true, forget it where false.

    Raises
    ------
    ValueError
        The pattern has another number of dimensions than `x`.
    """
    x = pt.as_tensor_variable(x)
    if len(broadcastable) != x.ndim:
        raise ValueError(
            f"patternbroadcast: expected {x.ndim} items for {x.type}, got {tuple(broadcastable)}"
        )
    pairs = enumerate(zip(x.broadcastable, broadcastable, strict=True))
    forgotten = tuple(axis for axis, (known, wanted) in pairs if known and not wanted)
    if forgotten:
        x = Unbroadcast(forgotten)(x)
    return addbroadcast(x, *(axis for axis, wanted in enumerate(broadcastable) if wanted))
