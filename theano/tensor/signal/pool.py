"""The greatest, the mean or the sum of the elements in each window of images."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.basic import Constant, Variable
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.variable import TensorVariable

from theano.tensor.signal.windows import pad_last, window_positions

__all__ = ["Pool", "pool_2d", "pool_3d"]

_MODES = ("max", "sum", "average_inc_pad", "average_exc_pad")


def _count(length: Any, size: Any, stride: Any, ignore_border: bool) -> Any:
    """Return how many windows there are along a dimension whose padded length is given."""
    if ignore_border:
        return (length - size) // stride + 1
    if all(isinstance(n, int) for n in (length, size, stride)):
        return -(-length // stride) if stride >= size else max(0, -(-(length - size) // stride)) + 1
    apart = (length + stride - 1) // stride
    overlapping = pt.maximum(0, (length - size + stride - 1) // stride) + 1
    return pt.switch(pt.ge(stride, size), apart, overlapping)


def _inside(counts: Any, size: Any, stride: Any, first: Any, stop: Any) -> TensorVariable:
    """Return, for each window, how many of its elements lie from `first` up to `stop`."""
    start = pt.arange(counts) * stride
    return pt.minimum(start + size, stop) - pt.maximum(start, first)


@dataclass(frozen=True)
class Pool:
    """Pooling over the last dimensions, when called with images and the windows' shape.

    Parameters
    ----------
    ignore_border : bool
        Whether to leave out windows that reach over the border.
    mode : {'max', 'sum', 'average_inc_pad', 'average_exc_pad'}
    ndim : int
        How many of the last dimensions are pooled.
    """

    ignore_border: bool = False
    mode: str = "max"
    ndim: int = 2

    def __post_init__(self):
        if self.mode not in _MODES:
            raise ValueError(f"Pool: expected a mode of {_MODES}, got {self.mode!r}")

    @staticmethod
    def out_shape(
        imgshape: Sequence[Any],
        ws: Sequence[Any],
        ignore_border: bool = False,
        stride: Sequence[Any] | None = None,
        pad: Sequence[Any] | None = None,
        ndim: int = 2,
    ) -> list:
        """Return the shape of the result for images of shape `imgshape`."""
        ws, stride, pad = _numbers(ws, stride, pad, ndim)
        lengths = imgshape[-ndim:]
        return [
            *imgshape[:-ndim],
            *(
                _count(lengths[axis] + 2 * pad[axis], ws[axis], stride[axis], ignore_border)
                for axis in range(ndim)
            ),
        ]

    def __call__(
        self,
        x: Any,
        ws: Sequence[Any],
        stride: Sequence[Any] | None = None,
        pad: Sequence[Any] | None = None,
    ) -> TensorVariable:
        """Pool the last dimensions of `x` in windows of shape `ws`."""
        x = pt.as_tensor_variable(x)
        rank = self.ndim
        ws, stride, pad = _numbers(ws, stride, pad, rank)
        pad = self._checked(x, ws, pad)
        lead = x.ndim - rank
        lengths = [x.shape[lead + axis] for axis in range(rank)]
        padded = [length + 2 * around for length, around in zip(lengths, pad, strict=True)]
        counts = [
            _count(padded[axis], ws[axis], stride[axis], self.ignore_border) for axis in range(rank)
        ]
        # Windows may end beyond the image: the array is made as long as the last one needs.
        needed = [
            pt.maximum((counts[axis] - 1) * stride[axis] + ws[axis], padded[axis])
            for axis in range(rank)
        ]
        after = [needed[axis] - lengths[axis] - pad[axis] for axis in range(rank)]
        canvas = pad_last(x, pad, after, fill=-math.inf if self.mode == "max" else 0)
        positions = window_positions(needed, counts, ws, stride, (1,) * rank)
        outer = [x.shape[axis] for axis in range(lead)]
        cells = canvas.reshape((*outer, -1)) if lead else canvas.flatten()
        elements = cells.dimshuffle(lead, *range(lead))[positions.flatten()]
        elements = elements.reshape((positions.shape[0], positions.shape[1], *outer))
        pooled = elements.max(axis=1) if self.mode == "max" else elements.sum(axis=1)
        pooled = pooled.dimshuffle(*range(1, lead + 1), 0).reshape((*outer, *counts))
        if self.mode in ("max", "sum"):
            return pooled
        return pooled / self._elements(counts, ws, stride, pad, lengths).astype(pooled.dtype)

    def _checked(self, x, ws, pad) -> tuple:
        """Return what is put around; a symbolic one is checked when the function runs."""
        if x.ndim < self.ndim:
            raise TypeError(f"Pool: expected at least {self.ndim} dimensions, got {x.type}")
        if not x.dtype.startswith("float"):
            raise TypeError(f"Pool: expected floats, got {x.type}")
        known = [(n, size) for n, size in zip(pad, ws, strict=True) if isinstance(n, int)]
        if any(n for n, _ in known) and not self.ignore_border:
            raise NotImplementedError("Pool: padding works only with ignore_border=True")
        if any(isinstance(size, int) and n >= size for n, size in known):
            raise NotImplementedError(f"Pool: expected a padding below ws={ws}, got {pad}")
        if self.ignore_border:
            return pad
        zero = CheckAndRaise(ValueError, "padding must be zero when ignore border is False")
        return tuple(n if isinstance(n, int) else zero(n, pt.eq(n, 0)) for n in pad)

    def _elements(self, counts, ws, stride, pad, lengths) -> TensorVariable:
        """Return how many elements of each window count for its mean."""
        elements = pt.constant(1)
        for axis in range(self.ndim):
            first, stop = pad[axis], pad[axis] + lengths[axis]
            if self.mode == "average_inc_pad":
                first, stop = 0, stop + pad[axis]
            inside = _inside(counts[axis], ws[axis], stride[axis], first, stop)
            elements = pt.shape_padright(elements) * inside
        return elements


def _numbers(ws: Any, stride: Any, pad: Any, rank: int) -> list[tuple]:
    """Return the window's shape, the distance of windows and what is put around, by dimension."""
    window = _by_dimension("ws", ws, rank)
    apart = window if stride is None else _by_dimension("stride", stride, rank)
    return [window, apart, _by_dimension("pad", 0 if pad is None else pad, rank)]


def _by_dimension(name: str, value: Any, rank: int) -> tuple:
    """Return a number or a symbolic one for each dimension."""
    if isinstance(value, int | np.integer):
        return (int(value),) * rank
    if isinstance(value, Variable) or isinstance(value, np.ndarray):
        vector = pt.as_tensor_variable(value)
        if vector.ndim != 1:
            raise AssertionError(
                f"Pool: {name} must be a vector of {rank} items, got {vector.type}"
            )
        if not isinstance(vector, Constant):
            fits = CheckAndRaise(ValueError, f"{name} must be a vector of size {rank}")
            vector = fits(vector, pt.eq(vector.shape[0], rank))
            value = [vector[axis] for axis in range(rank)]
        else:
            value = list(vector.data)
    if len(value) != rank:
        raise ValueError(f"Pool: expected {rank} items in {name}, got {value}")
    return tuple(_number(item) for item in value)


def _number(item: Any) -> Any:
    """Return a known length as an int, and a symbolic one as it is."""
    if isinstance(item, Constant):
        item = item.data
    if isinstance(item, Variable):
        if item.type.dtype not in pt.type.integer_dtypes:
            raise TypeError("Pool downsample parameters must be ints.")
        return item
    if not np.issubdtype(np.asarray(item).dtype, np.integer):
        raise TypeError("Pool downsample parameters must be ints.")
    return int(item)


def _pool(input, ws, ignore_border, stride, pad, mode, ds, st, padding, ndim: int):
    ws = ws if ds is None else ds
    stride = stride if st is None else st
    pad = pad if padding is None else padding
    if ws is None:
        raise ValueError(f"pool_{ndim}d: expected ws, the shape of a window")
    if ignore_border is None:
        warnings.warn(
            f"pool_{ndim}d: ignore_border is not given; False is taken, as Theano did",
            stacklevel=3,
        )
        ignore_border = False
    return Pool(bool(ignore_border), mode, ndim)(input, ws, stride, pad)


def pool_2d(
    input: Any,
    ws: Any = None,
    ignore_border: bool | None = None,
    stride: Any = None,
    pad: Any = (0, 0),
    mode: str = "max",
    ds: Any = None,
    st: Any = None,
    padding: Any = None,
) -> TensorVariable:
    """Pool the last two dimensions of `input`.

    Parameters
    ----------
    input : float tensor of at least 2 dimensions
    ws : pair of int, or symbolic vector
        The shape of a window; `stride` and `pad` may be symbolic, too.
    ignore_border : bool
        Whether to leave out windows that reach over the border. False, with a warning, if
        it is not given.
    stride : pair of int, optional
        The distance from one window to the next; `ws` if it is not given.
    pad : pair of int
        How many rows and columns to put around: each side of an image.
    mode : {'max', 'sum', 'average_inc_pad', 'average_exc_pad'}
        What is returned for a window; a mean may include or exclude what was put around.
    ds, st, padding
        Older names of `ws`, `stride` and `pad`.

    Returns
    -------
    TensorVariable

    Raises
    ------
    ValueError
        An unknown mode, or no window.
    NotImplementedError
        A padding with ``ignore_border=False``, or as large as a window.

    Examples
    --------
    >>> import numpy, theano.tensor as T
    >>> from theano.tensor.signal.pool import pool_2d
    >>> image = T.constant(numpy.arange(16.0).reshape((4, 4)))
    >>> pool_2d(image, (2, 2), ignore_border=True).eval().tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """
    return _pool(input, ws, ignore_border, stride, pad, mode, ds, st, padding, 2)


def pool_3d(
    input: Any,
    ws: Any = None,
    ignore_border: bool | None = None,
    stride: Any = None,
    pad: Any = (0, 0, 0),
    mode: str = "max",
    ds: Any = None,
    st: Any = None,
    padding: Any = None,
) -> TensorVariable:
    """Pool the last three dimensions of `input`: see `pool_2d`."""
    return _pool(input, ws, ignore_border, stride, pad, mode, ds, st, padding, 3)
