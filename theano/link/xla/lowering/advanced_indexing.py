"""Indexing by arrays of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Constant
from pytensor.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor

from theano.link.xla.context import CannotLower, Context, is_traced
from theano.link.xla.lowering.indexing import slice_bounds
from theano.link.xla.lowering.table import lowers
from theano.pytensor_internals.operations.tensor import (
    AdvancedIncSubtensor1,
    AdvancedSubtensor1,
    check_repeated_rows,
    indices_from_subtensor,
)


def _in_bounds(index: Any, n: int, axis: int, context: Context) -> Any:
    """Positions that count from the start, after a check that there are such elements."""
    import jax.numpy as jnp

    error = IndexError(f"index out of bounds: dimension {axis} has length {n}")
    if not is_traced(index):
        index = np.asarray(index)
        if index.size and not (-n <= index.min() and index.max() < n):
            raise IndexError(
                f"index {index.max() if index.max() >= n else index.min()} is out of bounds for "
                f"axis {axis} with size {n}"
            )
        return np.where(index < 0, index + n, index)
    index = index.astype("int64")
    if index.size:
        context.require(jnp.all((index >= -n) & (index < n)), error)
    return jnp.where(index < 0, index + n, index)


def _indices(shape: tuple[int, ...], given: Any, context: Context) -> tuple[Any, ...]:
    """Return indices as JAX takes them: checked, positive, masks as positions."""
    checked: list[Any] = []
    for index in given:
        if index is None:
            raise CannotLower("a new dimension among indices")
        if isinstance(index, slice):
            parts = (index.start, index.stop, index.step)
            if any(is_traced(part) for part in parts):
                raise CannotLower("a slice whose length is computed on the device")
            checked.append(slice(*(None if part is None else int(part) for part in parts)))
        elif np.result_type(index).kind == "b":
            checked.extend(_of_mask(index, shape, len(checked)))
        else:
            axis = len(checked)
            checked.append(_in_bounds(index, shape[axis], axis, context))
    return tuple(checked)


def _of_mask(mask: Any, shape: tuple[int, ...], axis: int) -> tuple[Any, ...]:
    if is_traced(mask):
        raise CannotLower("a mask whose number of true elements is computed on the device")
    covered = shape[axis : axis + mask.ndim]
    if covered != mask.shape:
        raise IndexError(
            f"boolean index did not match indexed array along axis {axis}; "
            f"its shape is {mask.shape}, of the array {covered}"
        )
    return mask.nonzero()


def _why_not(node) -> str | None:
    for variable in node.inputs[1:]:
        if getattr(variable.type, "dtype", None) == "bool" and not isinstance(variable, Constant):
            first = isinstance(node.op, AdvancedIncSubtensor) and variable is node.inputs[1]
            if not first:
                return "the length of what a mask selects is known only when it runs"
    return None


def _gather(x: object, indices: tuple[Any, ...]) -> Any:
    import jax.numpy as jnp

    return jnp.asarray(x).at[indices].get(mode="clip", wrap_negative_indices=False)


@lowers(AdvancedSubtensor1)
def rows(op, node, inputs, context):
    """Elements of the first dimension."""
    x, index = inputs
    return _gather(x, _indices(np.shape(x), (index,), context))


@lowers(AdvancedSubtensor, concrete=slice_bounds, why_not=_why_not)
def elements(op, node, inputs, context):
    """Return the elements at arrays of positions, numbers and slices."""
    x, *values = inputs
    return _gather(x, _indices(np.shape(x), indices_from_subtensor(values, op.idx_list), context))


@lowers(AdvancedIncSubtensor1)
def rows_replaced(op, node, inputs, context):
    """Return an array in which elements of the first dimension are set, or added to."""
    x, y, index = inputs
    check_repeated_rows(node, x, y, index)
    return _scattered(op, node, x, y, _indices(np.shape(x), (index,), context))


@lowers(AdvancedIncSubtensor, concrete=slice_bounds, why_not=_why_not)
def elements_replaced(op, node, inputs, context):
    """Return an array in which elements at arrays of positions are set, or added to."""
    x, y, *values = inputs
    indices = _indices(np.shape(x), indices_from_subtensor(values, op.idx_list), context)
    return _scattered(op, node, x, y, indices)


def _scattered(op, node, x: Any, y: object, indices: tuple[Any, ...]) -> Any:
    import jax.numpy as jnp

    dtype = node.outputs[0].type.dtype
    x, y = jnp.asarray(x, dtype=dtype), jnp.asarray(y, dtype=dtype)
    selected = _shape_of(x.shape, indices)
    own = (1,) * (len(selected) - y.ndim) + y.shape
    if y.ndim > len(selected) or any(m not in (1, n) for m, n in zip(own, selected, strict=True)):
        raise ValueError(
            f"{op}: could not broadcast a value of shape {y.shape} to the elements' shape {selected}"
        )
    adds = not op.set_instead_of_inc and not getattr(op, "ignore_duplicates", False)
    if adds and len(indices) == 1 and len(x) and not isinstance(indices[0], slice):
        return _rows_added(x, jnp.broadcast_to(y, selected), indices[0])
    at = x.at[indices]
    settings = {"mode": "clip", "wrap_negative_indices": False}
    if op.set_instead_of_inc:
        return at.set(y, **settings)
    if getattr(op, "ignore_duplicates", False):
        return at.set(at.get(**settings) + y, **settings)
    return at.add(y, **settings)


def _rows_added(x: Any, y: Any, rows: object) -> Any:
    """Return an array to whose rows others are added.

    It is the form to which XLA would bring it; there it would first copy what is added.
    """
    import jax.numpy as jnp
    from jax import lax

    rows = jnp.asarray(rows, "int32" if len(x) < 2**31 else "int64").reshape(-1, 1)
    numbers = lax.ScatterDimensionNumbers(tuple(range(1, x.ndim + 1)), (), (0,))
    return lax.scatter_add(x, rows, y.reshape(len(rows), 1, *x.shape[1:]), numbers, mode="clip")


def _shape_of(shape: tuple[int, ...], indices: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the shape of what is selected, without computing it."""
    import jax

    x = jax.ShapeDtypeStruct(shape, "int8")
    return jax.eval_shape(lambda a: a.at[indices].get(mode="clip"), x).shape
