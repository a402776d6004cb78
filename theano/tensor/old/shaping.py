"""Functions on shapes whose Theano 1.0 signature differs from PyTensor's."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.raise_op import Assert
from pytensor.tensor import TensorLike
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.type import integer_dtypes
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.operations import axes
from theano.support.views_as_lists import as_list
from theano.tensor.as_tensor import as_tensor_variable


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
        An unknown keyword, an axis given twice, or tensors of different numbers of dimensions.

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
    tensors = tuple(as_list(given) for given in tensors)
    if not tensors or (isinstance(tensors[0], list | tuple) and not tensors[0]):
        raise ValueError("stack: expected at least one tensor, got none")
    axis = kwargs.get("axis", 0)
    if isinstance(tensors[0], list | tuple):
        if len(tensors) > 2 or (len(tensors) == 2 and "axis" in kwargs):
            raise TypeError("stack: expected a sequence of tensors and one axis")
        axis = tensors[1] if len(tensors) == 2 else axis
        tensors = tuple(tensors[0])
    elif isinstance(tensors[0], Variable) and len(tensors) == 1 and tensors[0].type.ndim:
        raise TypeError("stack: expected a sequence of tensors, got one tensor")
    else:
        warnings.warn(
            "stack(*tensors) is deprecated, use stack(tensors, axis=0) instead.",
            DeprecationWarning,
            stacklevel=2,
        )
    tensors = tuple(map(as_tensor_variable, tensors))
    with _ranks_named("stack", tensors):
        return pt.stack(tensors, axis=axis)


def flatten(x: TensorLike, ndim: int | None = None, outdim: int | None = None) -> TensorVariable:
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
    x = pt.as_tensor_variable(x)
    if wanted == x.ndim:
        return pt.reshape(x, (*x.shape[:-1], -1))
    return pt.flatten(x, wanted)


def reshape(x: TensorLike, newshape: Any, ndim: int | None = None) -> TensorVariable:
    """Give `x` another shape; `ndim` is needed when `newshape` has an unknown length."""
    return pt.reshape(x, newshape, ndim=ndim)


def tile(x: TensorLike, reps: Any, ndim: int | None = None) -> TensorVariable:
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
        `ndim` is smaller than ``x.ndim`` or the number of items in `reps`, or is not given for a vector of
        unknown length.
    AssertionError
        When the function runs: `ndim` is smaller than the number of items in the vector.
    """
    _check_counts(reps)
    x = pt.as_tensor_variable(x)
    if ndim is not None and ndim < x.ndim:
        raise ValueError(f"tile: expected ndim of at least {x.ndim} for {x.type}, got {ndim}")
    if ndim is None and isinstance(reps, Variable) and reps.type.ndim == 1:
        ndim = max(pt.get_vector_length(reps), x.ndim)
    if ndim is None:
        return pt.tile(x, reps)
    if isinstance(reps, Variable) and reps.type.ndim == 1:
        count = known_tensor(reps).shape[0]
        checked = Assert(f"tile: expected at most ndim={ndim} numbers")(reps, pt.le(count, ndim))
        every = pt.join(0, pt.ones(ndim - count, dtype=reps.type.dtype), checked)
        return pt.tile(x, [every[axis] for axis in range(ndim)])
    counts = list(reps) if isinstance(reps, Sequence) else [reps]
    if len(counts) > ndim:
        raise ValueError(f"tile: expected ndim >= len(reps), got ndim={ndim}, reps={reps}")
    return pt.tile(x, [1] * (ndim - len(counts)) + counts)


def _check_counts(reps: Any) -> None:
    """Raise ValueError unless `reps` is an integer, a vector of them, or a sequence of them."""
    in_sequence = isinstance(reps, list | tuple)
    for count in reps if in_sequence else [reps]:
        kind = pt.as_tensor_variable(count).type
        if kind.dtype not in integer_dtypes or kind.ndim > (0 if in_sequence else 1):
            raise ValueError(f"tile: expected integers as reps, got {count} of {kind}")


def transpose(x: TensorLike, axes: Sequence[int] | None = None) -> TensorVariable:
    """Put the dimensions of `x` in another order, the reverse one by default."""
    x = pt.as_tensor_variable(x)
    order = tuple(range(x.ndim))[::-1] if axes is None else tuple(axes)
    result = known_tensor(DimShuffle(input_ndim=x.ndim, new_order=order)(x))
    if x.name and axes is None:
        result.name = f"{x.name}.T"
    return known_tensor(result)


def concatenate(tensor_list: Sequence[Any], axis: object = 0) -> TensorVariable:
    """Join tensors along an axis, which may be a variable.

    Raises
    ------
    TypeError
        The tensors are not in a tuple or a list, or have different numbers of dimensions.
    """
    tensor_list = as_list(tensor_list)
    if not isinstance(tensor_list, tuple | list):
        raise TypeError(
            "concatenate: The 'tensors' argument must be a tuple or a list, make sure you did not "
            f"forget () or [] around them, got {tensor_list}"
        )
    tensors = tuple(map(as_tensor_variable, tensor_list))
    with _ranks_named("concatenate", tensors):
        return axes.join(axis, *tensors)


def join(axis: object, *tensors_list: object) -> TensorVariable:
    """Join tensors along an axis, which may be a variable.

    Raises
    ------
    TypeError
        The tensors have different numbers of dimensions.
    """
    tensors = tuple(map(as_tensor_variable, tensors_list))
    with _ranks_named("join", tensors):
        return axes.join(axis, *tensors)


@contextmanager
def _ranks_named(operation: str, tensors: Sequence[TensorVariable]) -> Iterator[None]:
    """Raise a TypeError that names the first tensor of another rank than the first of all."""
    try:
        yield
    except TypeError as error:
        ranks = [tensor.ndim for tensor in tensors]
        place = next((k for k, rank in enumerate(ranks) if rank != ranks[0]), 0)
        if not place:
            raise
        raise TypeError(
            f"{operation}: expected tensors of the same number of dimensions, but tensors[0]"
            f" ({tensors[0]}) has {ranks[0]}, and tensors[{place}] ({tensors[place]}) has"
            f" {ranks[place]}"
        ) from error


def split(x: TensorLike, splits_size: object, n_splits: int, axis: object = 0):
    """Cut `x` along `axis` into `n_splits` parts, whose lengths are `splits_size`."""
    parts = axes.split(x, splits_size, n_splits=n_splits, axis=axis)
    if isinstance(parts, Variable):
        return parts
    return parts[0] if len(parts) == 1 else parts
