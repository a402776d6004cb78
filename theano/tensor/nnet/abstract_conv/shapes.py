"""The shapes of convolutions: each from the others, and what checks them."""

from collections.abc import Callable, Sequence
from typing import Any

import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import get_underlying_scalar_constant_value

from theano.configparser import config
from theano.raise_op import Assert
from theano.tensor.nnet.correlation import geometry

__all__ = [
    "assert_conv_shape",
    "assert_shape",
    "border_mode_to_pad",
    "check_conv_gradinputs_shape",
    "declared_lengths",
    "get_conv_gradinputs_shape",
    "get_conv_gradinputs_shape_1axis",
    "get_conv_gradweights_shape",
    "get_conv_gradweights_shape_1axis",
    "get_conv_output_shape",
    "get_conv_shape_1axis",
]


def get_conv_shape_1axis(
    image_shape: object,
    kernel_shape: object,
    border_mode: object,
    subsample: int,
    dilation: int = 1,
) -> Any:
    """Return the length of a convolution's result along one dimension.

    Parameters
    ----------
    image_shape, kernel_shape : int, scalar, or None
        The lengths of the image and of a filter, None if they are not known.
    border_mode : {'valid', 'full', 'half'}, int, or pair of int
    subsample, dilation : int

    Returns
    -------
    int, scalar, or None
        None if it does not follow.

    Raises
    ------
    ValueError
        A padding is negative.

    Examples
    --------
    >>> get_conv_shape_1axis(12, 5, "half", 1, 2)
    12
    """
    if _unknown(image_shape, kernel_shape, border_mode, subsample, dilation):
        return None
    covered = geometry.extent(kernel_shape, dilation)
    return geometry.window_count(image_shape, covered, _border(border_mode, covered), subsample)


def get_conv_gradweights_shape_1axis(
    image_shape: object, top_shape: object, border_mode: object, subsample: int, dilation: int
) -> Any:
    """Return the size of filters along one dimension, from the lengths of images and results.

    The parameters are those of `get_conv_shape_1axis`. It is None with a stride, and with the
    border mode ``half``, where several sizes give the same results.
    """
    if _unknown(image_shape, top_shape, border_mode, subsample, dilation):
        return None
    if subsample != 1 or border_mode == "half":
        return None
    mode = border_mode if isinstance(border_mode, str) else (_border(border_mode, None),)
    return geometry.filter_size(image_shape, top_shape, mode, 0, dilation)


def get_conv_gradinputs_shape_1axis(
    kernel_shape: object, top_shape: object, border_mode: object, subsample: int, dilation: int
) -> Any:
    """Return the length of images along one dimension, from those of filters and results.

    The parameters are those of `get_conv_shape_1axis`. It is None with a stride.
    """
    if _unknown(kernel_shape, top_shape, border_mode, subsample, dilation) or subsample != 1:
        return None
    covered = geometry.extent(kernel_shape, dilation)
    return geometry.image_length(top_shape, covered, _border(border_mode, covered), subsample)


def get_conv_output_shape(
    image_shape: Sequence[Any],
    kernel_shape: Sequence[Any],
    border_mode: object,
    subsample: Sequence[int],
    filter_dilation: Sequence[int] | None = None,
) -> tuple:
    """Return the shape of a convolution's result.

    Parameters
    ----------
    image_shape : sequence of int, scalars or None
        Batch, channels, and the lengths of the images.
    kernel_shape : sequence of int, scalars or None
        Filters, channels, and the lengths of a filter; where filters are not shared, the lengths
        of the result before the channels.
    border_mode, subsample, filter_dilation
        As for `conv2d`.

    Returns
    -------
    tuple
        With None for each length that is not known.

    Examples
    --------
    >>> get_conv_output_shape((3, 2, 12, 9), (4, 2, 5, 6), "valid", (1, 2), (2, 1))
    (3, 4, 4, 2)
    """
    rank = len(image_shape) - 2
    lengths = _along_axes(
        get_conv_shape_1axis,
        image_shape[2:],
        kernel_shape[-rank:],
        border_mode,
        subsample,
        filter_dilation,
    )
    return image_shape[0], kernel_shape[0], *lengths


def get_conv_gradweights_shape(
    image_shape: Sequence[Any],
    top_shape: Sequence[Any],
    border_mode: object,
    subsample: Sequence[int],
    filter_dilation: Sequence[int] | None = None,
    num_groups: int = 1,
    unshared: bool = False,
) -> tuple:
    """Return the shape of a convolution's filters, from those of images and results.

    The parameters are those of `get_conv_output_shape`, with the shape of the result.

    Returns
    -------
    tuple
        With None for each length that does not follow. As in Theano, what stands in place of
        the filters follows from the channels of the result, and in that of the channels from those
        of the images.
    """
    filters, channels = top_shape[1], image_shape[1]
    if num_groups > 1 and channels is not None:
        channels = channels // num_groups
    sizes = _along_axes(
        get_conv_gradweights_shape_1axis,
        image_shape[2:],
        top_shape[2:],
        border_mode,
        subsample,
        filter_dilation,
    )
    return filters, *(top_shape[2:] if unshared else ()), channels, *sizes


def get_conv_gradinputs_shape(
    kernel_shape: Sequence[Any],
    top_shape: Sequence[Any],
    border_mode: object,
    subsample: Sequence[int],
    filter_dilation: Sequence[int] | None = None,
    num_groups: int = 1,
) -> tuple:
    """Return the shape of a convolution's images, from those of filters and results.

    The parameters are those of `get_conv_output_shape`, with the shape of the result.

    Returns
    -------
    tuple
        With None for each length that does not follow.
    """
    rank = len(top_shape) - 2
    channels = kernel_shape[-rank - 1]
    if num_groups > 1 and channels is not None:
        channels = channels * num_groups
    lengths = _along_axes(
        get_conv_gradinputs_shape_1axis,
        kernel_shape[-rank:],
        top_shape[2:],
        border_mode,
        subsample,
        filter_dilation,
    )
    return top_shape[0], channels, *lengths


def check_conv_gradinputs_shape(
    image_shape: Sequence[Any],
    kernel_shape: Sequence[Any],
    output_shape: Sequence[Any],
    border_mode: object,
    subsample: Sequence[int],
    filter_dilation: Sequence[int] | None = None,
) -> bool:
    """Return whether a convolution of these images and filters may have results of that shape.

    Lengths that are None or not constant may be any.
    """
    rank = len(image_shape) - 2
    given = (kernel_shape, output_shape)
    if any(len(shape) != rank + 2 for shape in given) or len(subsample) != rank:
        return False
    if filter_dilation is not None and len(filter_dilation) != rank:
        return False
    computed = get_conv_output_shape(
        image_shape, kernel_shape, border_mode, subsample, filter_dilation
    )
    pairs = zip(map(_constant, output_shape), map(_constant, computed), strict=True)
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


def assert_conv_shape(shape: Sequence[Any]) -> tuple:
    """Return a shape whose lengths are checked to be those of images, filters or results.

    Parameters
    ----------
    shape : sequence of int or scalars
        The first two may be 0, the others at least 1.

    Returns
    -------
    tuple
        Constants as they are, scalars checked when the function runs: AssertionError.

    Raises
    ------
    ValueError
        A constant is too small.
    """
    checked = []
    for axis, length in enumerate(shape):
        least = 0 if axis < 2 else 1
        says = f"The convolution would produce an invalid shape (dim[{axis}]"
        constant = _constant(length)
        if constant is None:
            check = Assert(f"{says} < {least})")
            length = check(length, pt.ge(length, least))
        elif constant < least:
            raise ValueError(f"{says}: {constant} < {least})")
        checked.append(length)
    return tuple(checked)


def assert_shape(x: TensorLike, expected_shape: Any, msg: str = "Unexpected shape.") -> Any:
    """Return a tensor, checked to have a shape if the flag ``conv.assert_shape`` is set.

    Parameters
    ----------
    x : tensor
    expected_shape : sequence of int, scalars or None, or None
    msg : str
        What the AssertionError says that ends a call with another shape.
    """
    if expected_shape is None or not config.conv.assert_shape:
        return x
    conditions = declared_lengths(x, expected_shape).values()
    return Assert(msg)(x, *conditions) if conditions else x


def declared_lengths(x: Any, declared: Sequence[Any]) -> dict[int, Any]:
    """Return, for each dimension whose length is not None in `declared`, whether `x` has this length.

    Examples
    --------
    >>> import theano.tensor as T
    >>> {axis: bool(has.eval()) for axis, has in declared_lengths(T.zeros((2, 3)), (None, 4)).items()}
    {1: False}
    """
    return {
        axis: pt.eq(x.shape[axis], length)
        for axis, length in enumerate(declared)
        if length is not None
    }


def border_mode_to_pad(mode: object, convdim: int, kshp: Sequence[Any]) -> tuple:
    """Return the zeros before and after each dimension.

    Parameters
    ----------
    mode : {'valid', 'full', 'half'}, int, or tuple of int and pairs of int
    convdim : int
        How many dimensions there are.
    kshp : sequence of int or scalars
        The dilated lengths of a filter.

    Returns
    -------
    tuple of pairs

    Raises
    ------
    ValueError
        `mode` is none of the above.
    """
    mode = geometry.checked_border_mode(mode, convdim, "border_mode_to_pad")
    return tuple(geometry.borders(mode, kshp))


def _along_axes(
    function: Callable,
    first: Sequence[Any],
    second: Sequence[Any],
    border_mode: object,
    subsample: Sequence[int],
    filter_dilation: Sequence[int] | None,
) -> list:
    """Return a function of lengths and options, for each dimension."""
    rank = len(subsample)
    dilations = [1] * rank if filter_dilation is None else filter_dilation
    modes = border_mode if isinstance(border_mode, tuple) else [border_mode] * rank
    return list(map(function, first, second, modes, subsample, dilations))


def _border(border_mode: object, covered: object) -> tuple[Any, Any]:
    """Return the zeros before and after a dimension."""
    if isinstance(border_mode, str):
        return geometry.borders(border_mode, [covered])[0]
    before, after = border_mode if isinstance(border_mode, tuple) else (border_mode, border_mode)
    for side in (before, after):
        if not isinstance(side, Variable) and side < 0:
            raise ValueError(f"border_mode must be >= 0, got {border_mode}")
    return before, after


def _unknown(*values: object) -> bool:
    return any(value is None for value in values)


def _constant(length: object) -> int | None:
    """Return a length as a number, None if it is not a constant."""
    if length is None:
        return None
    value = get_underlying_scalar_constant_value(length, raise_not_constant=False)
    return None if isinstance(value, Variable) else int(value)
