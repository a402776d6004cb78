"""Rows of elements from the windows of images, and back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytensor.tensor as pt
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_base.operations.tensor import TensorSymbolicOp
from theano.tensor.signal.windows import pad_last, window_positions

__all__ = ["Images2Neibs", "images2neibs", "neibs2images"]

_positive = CheckAndRaise(ValueError, "Images2Neibs: neib_shape and neib_step must be positive")
_odd = CheckAndRaise(TypeError, "Images2Neibs: mode wrap_centered needs windows of odd shapes")
_inside = CheckAndRaise(TypeError, "Images2Neibs: a window is larger than the image")
_consistent = CheckAndRaise(
    TypeError, "Images2Neibs: neib_shape and neib_step are not consistent with the image's shape"
)
_four_lengths = CheckAndRaise(ValueError, "neibs2images: expected a shape of four lengths")


@dataclass(frozen=True)
class _Borders:
    """What a mode does at the borders.

    Attributes
    ----------
    around
        How much is put on each side of the image, for a window's extent.
    exact
        Whether the last window must end where the image does.
    """

    around: Callable[[Any], Any]
    exact: bool = True


_MODES = {
    "valid": _Borders(lambda extent: 0),
    "half": _Borders(lambda extent: extent // 2),
    "full": _Borders(lambda extent: extent - 1),
    "wrap_centered": _Borders(lambda extent: extent // 2, exact=False),
    "ignore_borders": _Borders(lambda extent: 0, exact=False),
}


class Images2Neibs(TensorSymbolicOp):
    """Make each window of each image a row of a matrix.

    Parameters
    ----------
    mode : {'valid', 'half', 'full', 'wrap_centered', 'ignore_borders'}
        ``'valid'``: windows lie in the image, the last one at its border. ``'half'`` and
        ``'full'``: so they do after zeros are put around it, half a window wide or a window
        less one element. ``'wrap_centered'``: windows are centred on elements and go on at the
        other side. ``'ignore_borders'``: as ``'valid'``, leaving out elements at the border.

    Raises
    ------
    NotImplementedError
        Another mode.
    """

    __props__ = ("mode",)

    def __init__(self, mode: str = "valid", **kwargs: Any):
        if mode not in _MODES:
            raise NotImplementedError(f"Images2Neibs: expected a mode of {[*_MODES]}, got {mode!r}")
        # inline: an engine may have no program for one part of it, such as a check
        super().__init__(mode=mode, **{"inline": True, **kwargs})

    def __call__(self, ten4: Any, neib_shape: Any, neib_step: Any = None):
        ten4, neib_shape = pt.as_tensor_variable(ten4), pt.as_tensor_variable(neib_shape)
        neib_step = neib_shape if neib_step is None else pt.as_tensor_variable(neib_step)
        for name, value, ndim in (("ten4", ten4, 4), ("neib_shape", neib_shape, 1)):
            if value.ndim != ndim:
                raise TypeError(f"Images2Neibs: expected {name} of {ndim} dimensions: {value.type}")
        return super().__call__(ten4, neib_shape, neib_step)

    def build_inner_graph(self, ten4, neib_shape, neib_step):
        borders = _MODES[self.mode]
        sizes = [_positive(neib_shape[axis], neib_shape[axis] > 0) for axis in range(2)]
        steps = [_positive(neib_step[axis], neib_step[axis] > 0) for axis in range(2)]
        canvas = self._with_borders(ten4, sizes, [borders.around(size) for size in sizes])
        lengths = [canvas.shape[2], canvas.shape[3]]
        counts = []
        for length, size, step in zip(lengths, sizes, steps, strict=True):
            left = length - size
            if borders.exact:
                left = _consistent(left, pt.ge(left, 0) & pt.eq(left % step, 0))
            counts.append(1 + left // step)
        positions = window_positions(lengths, counts, sizes, steps, (1, 1))
        cells = canvas.reshape((ten4.shape[0], ten4.shape[1], -1)).dimshuffle(2, 0, 1)
        chosen = cells[positions.flatten()]
        windows, elements = positions.shape[0], positions.shape[1]
        chosen = chosen.reshape((windows, elements, ten4.shape[0], ten4.shape[1]))
        return [chosen.dimshuffle(2, 3, 0, 1).reshape((-1, elements))]

    def _with_borders(self, ten4, sizes: list, around: list) -> TensorVariable:
        if self.mode in ("valid", "ignore_borders"):
            return ten4
        fits = pt.ge(ten4.shape[2], sizes[0]) & pt.ge(ten4.shape[3], sizes[1])
        ten4 = _inside(ten4, fits)
        if self.mode != "wrap_centered":
            return pad_last(ten4, around, around)
        for axis, (size, border) in enumerate(zip(sizes, around, strict=True), start=2):
            size, length = _odd(size, pt.eq(size % 2, 1)), ten4.shape[axis]
            ten4 = ten4.take((pt.arange(length + size - 1) - border) % length, axis=axis)
        return ten4


def images2neibs(
    ten4: Any, neib_shape: Any, neib_step: Any = None, mode: str = "valid"
) -> TensorVariable:
    """Make each window of each image a row of a matrix.

    Parameters
    ----------
    ten4 : tensor of shape (images, channels, rows, columns)
    neib_shape : pair of int, or integer vector
        The shape of a window.
    neib_step : pair of int, or integer vector, optional
        The distance from one window to the next; `neib_shape` if it is not given.
    mode : str
        What happens at the borders: see `Images2Neibs`.

    Returns
    -------
    matrix
        A row for each window: image by image, channel by channel, along the rows.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> image = T.constant(numpy.arange(16).reshape((1, 1, 4, 4)))
    >>> T.nnet.neighbours.images2neibs(image, (2, 2)).eval()[0].tolist()
    [0, 1, 4, 5]
    """
    return Images2Neibs(mode)(ten4, neib_shape, neib_step)


def neibs2images(
    neibs: Any, neib_shape: Any, original_shape: Any, mode: str = "valid"
) -> TensorVariable:
    """Put windows that lie side by side, as `images2neibs` returns them, together again.

    Parameters
    ----------
    neibs : matrix
        A row for each window.
    neib_shape : pair of int, or integer vector
        The shape of a window.
    original_shape : four int, or integer vector
        The shape of the images.
    mode : {'valid', 'ignore_borders'}
        Zeros stand where ``'ignore_borders'`` left something out.

    Returns
    -------
    tensor of shape `original_shape`

    Raises
    ------
    NotImplementedError
        Another mode.
    """
    if mode not in ("valid", "ignore_borders"):
        raise NotImplementedError(f"neibs2images: expected mode valid or ignore_borders: {mode!r}")
    neibs, neib_shape = pt.as_tensor_variable(neibs), pt.as_tensor_variable(neib_shape)
    given = pt.as_tensor_variable(original_shape)
    given = _four_lengths(given, pt.eq(given.shape[0], 4))
    shape = [given[axis] for axis in range(4)]
    # A row of windows is a row of images as wide as a window: its columns are taken in turn.
    turned = pt.stack([shape[-1] // neib_shape[1], neib_shape[1]])
    rows = images2neibs(neibs.dimshuffle("x", "x", 0, 1), turned, mode=mode)
    if mode == "valid":
        return rows.reshape(shape)
    covered = [shape[axis + 2] // neib_shape[axis] * neib_shape[axis] for axis in range(2)]
    after = [shape[axis + 2] - covered[axis] for axis in range(2)]
    return pad_last(rows.reshape([*shape[:2], *covered]), (0, 0), after)
