"""The windows of images as rows of a matrix, and back."""

from __future__ import annotations

from typing import Any

from theano.link.xla.lowering.table import lowers
from theano.tensor.nnet.neighbours_operators import Images2Neibs, Images2NeibsGrad


def _places(op: Any, shape: object, numbers: Any) -> tuple[Any, Any, Any]:
    """Return the windows along both dimensions, what is put around, and the indices of all elements."""
    along = op.windows(shape, *numbers)
    border = [0 if op.wraps else one.border for one in along]
    rows, columns = (one.positions(op.wraps) for one in along)
    index = (slice(None), slice(None), rows[:, None, :, None], columns[None, :, None, :])
    return along, border, index


@lowers(Images2Neibs, concrete=(1, 2))
def windows_as_rows(op, node, inputs, context):
    """Return a row for each window of each image."""
    import jax.numpy as jnp

    images, *numbers = inputs
    along, border, index = _places(op, images.shape, numbers)
    padded = jnp.pad(jnp.asarray(images), [(0, 0), (0, 0), *((b, b) for b in border)])
    count = images.shape[0] * images.shape[1] * along[0].count * along[1].count
    return padded[index].reshape(count, along[0].size * along[1].size)


@lowers(Images2NeibsGrad, concrete=(2, 3))
def rows_added_to_windows(op, node, inputs, context):
    """Images of zeros, to whose windows rows are added."""
    import jax.numpy as jnp

    images, rows, *numbers = inputs
    along, border, index = _places(op, images.shape, numbers)
    given = jnp.asarray(rows).reshape(op.check_rows(images.shape, rows, along))
    lengths = [one.length + 2 * b for one, b in zip(along, border, strict=True)]
    result: Any = jnp.zeros((*images.shape[:2], *lengths), given.dtype).at[index].add(given)
    inner = (slice(b, b + one.length) for one, b in zip(along, border, strict=True))
    return result[(..., *inner)]
