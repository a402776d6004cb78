"""Correlations of images with filters and their gradients, as XLA's convolutions.

The gradients are other correlations (Dumoulin and Visin, A guide to convolution arithmetic for
deep learning, 2016, section 4): that by the images correlates the gradient of the result, with
zeros between its elements, and filters that are turned around; that by the filters correlates the
images with the gradient of the result, and batch and channels change places.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply

from theano.link.xla.context import Context
from theano.link.xla.lowering.table import lowers
from theano.tensor.nnet.correlation.in_numpy import Windows
from theano.tensor.nnet.correlation.operators import (
    Corr3dMM,
    Corr3dMM_gradInputs,
    Corr3dMM_gradWeights,
    CorrMM,
    CorrMM_gradInputs,
    CorrMM_gradWeights,
)


def _why_not(node: Apply) -> str | None:
    dtype = node.outputs[0].type.dtype
    return None if dtype.startswith("float") else f"a correlation of {dtype}: XLA's are of floats"


def _lengths(node: Apply) -> range:
    """Return the positions of the lengths that are given to a gradient."""
    return range(2, len(node.inputs))


@lowers(CorrMM, Corr3dMM, why_not=_why_not)
def forward(op, node, inputs, context):
    """Each window of each image times each filter."""
    return _computed(_correlated, _correlated_unshared, op, node, inputs, context)


@lowers(CorrMM_gradWeights, Corr3dMM_gradWeights, concrete=_lengths, why_not=_why_not)
def by_filters(op, node, inputs, context):
    """Return the gradient by the filters."""
    return _computed(_filters_gradient, _filters_gradient_unshared, op, node, inputs, context)


@lowers(CorrMM_gradInputs, Corr3dMM_gradInputs, concrete=_lengths, why_not=_why_not)
def by_images(op, node, inputs, context):
    """Return the gradient by the images."""
    return _computed(_image_gradient, _image_gradient_unshared, op, node, inputs, context)


def _computed(shared, unshared, op: Any, node: Apply, inputs: list[Any], context: Context) -> Any:
    """Return what one of two functions gives for operands whose shapes fit."""
    import jax.numpy as jnp

    dtype = node.outputs[0].type.dtype
    first, second = (jnp.asarray(operand, dtype=dtype) for operand in inputs[:2])
    shapes = op.fitting_shapes([first, second, *inputs[2:]])
    if 0 in (*first.shape, *second.shape):
        return jnp.zeros(shapes.output, dtype=dtype)
    compute = unshared if op.unshared else shared
    return compute(shapes.windows(), first, second, shapes.output, context)


def _rank(windows: Windows) -> int:
    return len(windows.sizes)


def _layout(rank: int, images: str, filters: str, results: str) -> tuple[str, str, str]:
    """Return the names of dimensions for XLA: the first two, and those of windows."""
    windows = "DHW"[-rank:]
    return images + windows, filters + windows, results + windows


def _covered(size: int, step: int) -> int:
    """Return the length from the first to the last of `size` elements that are `step` apart."""
    return (size - 1) * step + 1


def _correlated(windows: Windows, image: Any, filters: Any, shape: object, context: Context) -> Any:
    from jax import lax

    return lax.conv_general_dilated(
        image,
        filters,
        window_strides=windows.strides,
        padding=windows.borders,
        rhs_dilation=windows.dilations,
        dimension_numbers=_layout(_rank(windows), "NC", "OI", "NC"),
        feature_group_count=windows.groups,
        precision=context.precision,
    )


def _filters_gradient(
    windows: Windows, image: Any, topgrad: Any, shape: object, context: Context
) -> Any:
    """Sum over the batch; groups are groups of channels, which are the new batch."""
    from jax import lax

    padding = []
    for axis, (before, _) in enumerate(windows.borders):
        read = _covered(windows.counts[axis], windows.strides[axis])
        read += (windows.sizes[axis] - 1) * windows.dilations[axis]
        # rows that no window reaches are cut off
        padding.append((before, read - before - image.shape[2 + axis]))
    return lax.conv_general_dilated(
        image,
        topgrad,
        window_strides=windows.dilations,
        padding=padding,
        rhs_dilation=windows.strides,
        dimension_numbers=_layout(_rank(windows), "CN", "IO", "CN"),
        batch_group_count=windows.groups,
        precision=context.precision,
    )


def _image_gradient(
    windows: Windows, filters: Any, topgrad: Any, shape: Any, context: Context
) -> Any:
    """Zeros are put between the elements of `topgrad`, and around it."""
    from jax import lax

    rank, groups = _rank(windows), windows.groups
    # (F, c, *sizes) -> (groups, f, c, *sizes) -> (groups * c, f, *sizes), turned around
    turned = filters.reshape(groups, -1, *filters.shape[1:]).swapaxes(1, 2)
    turned = turned.reshape(-1, filters.shape[0] // groups, *windows.sizes)
    turned = turned[(..., *(slice(None, None, -1),) * rank)]
    padding = []
    for axis, (before, _) in enumerate(windows.borders):
        extent = _covered(windows.sizes[axis], windows.dilations[axis])
        given = _covered(windows.counts[axis], windows.strides[axis])
        first = extent - 1 - before
        last = shape[2 + axis] + extent - 1 - given - first
        padding.append((first, last + _taken_for_groups(windows, axis, first, last)))
    result = lax.conv_general_dilated(
        topgrad,
        turned,
        window_strides=(1,) * rank,
        padding=padding,
        lhs_dilation=windows.strides,
        rhs_dilation=windows.dilations,
        dimension_numbers=_layout(rank, "NC", "OI", "NC"),
        feature_group_count=groups,
        precision=context.precision,
    )
    return result[tuple(slice(length) for length in shape)]


def _taken_for_groups(windows: Windows, axis: int, first: int, last: int) -> bool:
    """Return whether XLA takes a dimension for groups, exchanges operands and aborts (jaxlib 0.12).

    It does so with two elements of a filter, as many zeros between those of the images plus one,
    and nothing around; with a row more, which is cut off again, it does not.
    """
    alone = windows.sizes[axis] == 2 == windows.strides[axis] and windows.dilations[axis] == 1
    return alone and first == 0 == last


def _correlated_unshared(
    windows: Windows, image: object, filters: object, shape: object, context: Context
) -> Any:
    import jax.numpy as jnp

    elements = _elements(windows, image, context)
    stack = _stack_of_filters(windows, filters)
    result = jnp.einsum("bgkp,gfpk->bgfp", elements, stack, precision=context.precision)
    return result.reshape(shape)


def _filters_gradient_unshared(
    windows: Windows, image: object, topgrad: Any, shape: object, context: Context
) -> Any:
    import jax.numpy as jnp

    elements = _elements(windows, image, context)
    given = topgrad.reshape(len(topgrad), windows.groups, -1, math.prod(windows.counts))
    result = jnp.einsum("bgkp,bgfp->gfpk", elements, given, precision=context.precision)
    return result.reshape(shape)


def _image_gradient_unshared(
    windows: Windows, filters: object, topgrad: Any, shape: Any, context: Context
) -> Any:
    import jax.numpy as jnp

    stack = _stack_of_filters(windows, filters)
    given = topgrad.reshape(len(topgrad), windows.groups, -1, math.prod(windows.counts))
    elements = jnp.einsum("bgfp,gfpk->bgkp", given, stack, precision=context.precision)
    elements = elements.reshape(len(topgrad), -1, *windows.counts)
    each, selecting = _each_element(windows, shape[1], topgrad.dtype)
    return _image_gradient(each, selecting, elements, shape, context)


def _stack_of_filters(windows: Windows, filters: Any) -> Any:
    """Return filters (F, *counts, c, *sizes) as (groups, f, places, elements)."""
    places = math.prod(windows.counts)
    return filters.reshape(windows.groups, len(filters) // windows.groups, places, -1)


def _elements(windows: Windows, image: Any, context: Context) -> Any:
    """Return the elements of all windows, as (B, groups, elements, places)."""
    each, selecting = _each_element(windows, image.shape[1], image.dtype)
    selected = _correlated(each, image, selecting, None, context)
    return selected.reshape(len(image), windows.groups, -1, math.prod(windows.counts))


def _each_element(windows: Windows, channels: int, dtype: Any) -> tuple[Windows, np.ndarray]:
    """Return the windows of single channels, and filters each of which selects one element of them."""
    count = math.prod(windows.sizes)
    each = Windows(
        windows.borders,
        windows.sizes,
        windows.counts,
        windows.strides,
        windows.dilations,
        channels,
        False,
    )
    selecting = np.eye(count, dtype=dtype).reshape(count, 1, *windows.sizes)
    return each, np.tile(selecting, (channels, 1, *(1,) * _rank(windows)))
