"""The windows of images as rows of a matrix, and back, as operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor import TensorLike
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.support.data_classes import dataclass

__all__ = ["BORDERS", "Images2Neibs", "Images2NeibsGrad", "WindowsAlong"]


@dataclass(frozen=True)
class Border:
    """The rule of a mode at the borders.

    Attributes
    ----------
    around
        How much is put on each side of the image, for a window's extent.
    exact
        Whether the last window must end where the image does.
    wraps
        Whether what is put around is the other side of the image, and not zeros.
    """

    around: Callable[[Any], Any]
    exact: bool = False
    wraps: bool = False


BORDERS = {
    "valid": Border(lambda size: 0, exact=True),
    "half": Border(lambda size: size // 2, exact=True),
    "full": Border(lambda size: size - 1, exact=True),
    "wrap_centered": Border(lambda size: size // 2, wraps=True),
    "ignore_borders": Border(lambda size: 0),
}


@dataclass(frozen=True)
class WindowsAlong:
    """The windows along a dimension of an image.

    Attributes
    ----------
    length, size, step
        The elements of the image and of a window, and the distance of windows.
    border
        How many elements are put on each side.
    count
        How many windows there are.
    """

    length: int
    size: int
    step: int
    border: int
    count: int

    @classmethod
    def counted(cls, mode: str, axis: int, length: int, size: int, step: int) -> WindowsAlong:
        """Check the numbers of a mode, and count the windows.

        Raises
        ------
        ValueError
            A window or a step that is not positive.
        TypeError
            A window of even size that is to be centred, one that is larger than the image, or
            windows that do not end where the image does.
        """
        if size <= 0 or step <= 0:
            raise ValueError(
                "Images2Neibs: neib_shape and neib_step must be positive, got "
                f"{size} and {step} along dimension {axis}"
            )
        kind = BORDERS[mode]
        if kind.wraps and size % 2 == 0:
            raise TypeError(
                f"Images2Neibs: mode {mode} needs windows of odd shapes, got {size} along "
                f"dimension {axis}"
            )
        if mode != "ignore_borders" and length < size:
            raise TypeError(
                f"Images2Neibs: a window is larger than the image along dimension {axis}: "
                f"{size} and {length}"
            )
        border = kind.around(size)
        left = length + 2 * border - size
        if kind.exact and left % step:
            raise TypeError(
                f"Images2Neibs: neib_shape {size} and neib_step {step} are not consistent with "
                f"an image of length {length} along dimension {axis} in mode {mode}"
            )
        return cls(length, size, step, border, max(0, 1 + left // step))

    def positions(self, wraps: bool) -> np.ndarray:
        """Return the position of each element of each window.

        Positions are those of an image with its borders, or, where it wraps, without.
        """
        first = np.arange(self.count)[:, None] * self.step
        positions = first + np.arange(self.size)
        return (positions - self.border) % self.length if wraps else positions


class _BetweenImagesAndRows(Op):
    """The base of both: images first, the windows' shape and distance last.

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

    def __init__(self, mode: str = "valid"):
        if mode not in BORDERS:
            raise NotImplementedError(
                f"Images2Neibs: expected a mode of {[*BORDERS]}, got {mode!r}"
            )
        self.mode = mode

    def __str__(self):
        return f"{type(self).__name__}{{{self.mode}}}"

    def _operands(self, ten4: TensorLike, neib_shape: Any, neib_step: Any) -> list[Any]:
        neib_step = neib_shape if neib_step is None else neib_step
        operands = [pt.as_tensor_variable(value) for value in (ten4, neib_shape, neib_step)]
        for name, variable, ndim in zip(
            ("ten4", "neib_shape", "neib_step"), operands, (4, 1, 1), strict=True
        ):
            if variable.ndim != ndim:
                raise AssertionError(
                    f"Images2Neibs: expected {name} of {ndim} dimensions, got {variable.type}"
                )
        return operands

    def windows(self, shape: Any, neib_shape: Any, neib_step: Any) -> list[WindowsAlong]:
        """Return the windows along the last two dimensions of images of a known shape.

        Raises
        ------
        ValueError, TypeError
            See `WindowsAlong.counted`.
        """
        for name, vector in (("neib_shape", neib_shape), ("neib_step", neib_step)):
            if len(vector) != 2:
                raise ValueError(f"Images2Neibs: expected two numbers in {name}, got {vector}")
        return [
            WindowsAlong.counted(
                self.mode,
                axis + 2,
                int(shape[axis + 2]),
                int(neib_shape[axis]),
                int(neib_step[axis]),
            )
            for axis in range(2)
        ]

    @property
    def wraps(self) -> bool:
        """Return whether windows go on at the other side of the image."""
        return BORDERS[self.mode].wraps


class Images2Neibs(_BetweenImagesAndRows):
    """Make each window of each image a row of a matrix: image by image, along their rows."""

    def make_node(self, ten4, neib_shape, neib_step=None):
        operands = self._operands(ten4, neib_shape, neib_step)
        return Apply(self, operands, [TensorType(operands[0].dtype, shape=(None, None))()])

    def perform(self, node, inputs, output_storage):
        images, *numbers = inputs
        along = self.windows(images.shape, *numbers)
        rows, columns = (one.positions(self.wraps) for one in along)
        if not self.wraps:
            around = [(0, 0), (0, 0), *((one.border, one.border) for one in along)]
            images = np.pad(images, around)
        windows = images[:, :, rows[:, None, :, None], columns[None, :, None, :]]
        output_storage[0][0] = windows.reshape(-1, along[0].size * along[1].size)

    @shape_rule
    def infer_shape(self, node, shapes):
        counts: list[Any] = list(shapes[0][:2])
        sizes = []
        for axis in range(2):
            size, step = (vector[axis].astype("int64") for vector in node.inputs[1:])
            left = shapes[0][axis + 2] + 2 * BORDERS[self.mode].around(size) - size
            counts.append(pt.maximum(1 + left // step, 0))
            sizes.append(size)
        windows, *more = counts
        for count in more:
            windows = windows * count
        return [(windows, sizes[0] * sizes[1])]

    def connection_pattern(self, node):
        """Return that the rows depend smoothly on the images alone."""
        return [[True], [False], [False]]

    def pullback(self, inputs, outputs, cotangents):
        images, *numbers = inputs
        gradient = Images2NeibsGrad(self.mode)(images, cotangents[0], *numbers)
        return [gradient, disconnected_type(), disconnected_type()]

    def pushforward(self, inputs, outputs, tangents):
        if isinstance(tangents[0].type, DisconnectedType):
            return [disconnected_type()]
        return [self(tangents[0], *inputs[1:])]


class Images2NeibsGrad(_BetweenImagesAndRows):
    """Add the rows of a matrix to the windows of images that are zero, of the shape of others."""

    # Results are as large as the shapes of the operands say, whatever is in the operands.
    sized_by_operands = True

    def make_node(self, ten4, rows, neib_shape, neib_step=None):
        images, *numbers = self._operands(ten4, neib_shape, neib_step)
        rows = pt.as_tensor_variable(rows)
        if rows.ndim != 2:
            raise AssertionError(f"Images2NeibsGrad: expected a matrix of rows, got {rows.type}")
        return Apply(self, [images, rows, *numbers], [images.type()])

    def check_rows(self, shape: Any, rows: Any, along: list[WindowsAlong]) -> tuple[int, ...]:
        """Return the shape of rows by image, window and element; ValueError if it is another."""
        counts, sizes = [one.count for one in along], [one.size for one in along]
        expected = (int(shape[0]) * int(shape[1]) * counts[0] * counts[1], sizes[0] * sizes[1])
        if tuple(rows.shape) != expected:
            raise ValueError(
                f"Images2NeibsGrad: expected rows of shape {expected}, got {tuple(rows.shape)}"
            )
        return (int(shape[0]), int(shape[1]), *counts, *sizes)

    def perform(self, node, inputs, output_storage):
        images, rows, *numbers = inputs
        along = self.windows(images.shape, *numbers)
        given = rows.reshape(self.check_rows(images.shape, rows, along))
        border = [0 if self.wraps else one.border for one in along]
        lengths = [one.length + 2 * b for one, b in zip(along, border, strict=True)]
        result = np.zeros((*images.shape[:2], *lengths), dtype=images.dtype)
        at, alongside = (one.positions(self.wraps) for one in along)
        # an element of all windows at a time: these lie at different positions
        for i in range(along[0].size):
            for j in range(along[1].size):
                result[:, :, at[:, i][:, None], alongside[:, j]] += given[..., i, j]
        inner = (slice(b, b + one.length) for one, b in zip(along, border, strict=True))
        output_storage[0][0] = result[(..., *inner)]

    @shape_rule
    def infer_shape(self, node, shapes):
        return [shapes[0]]

    def connection_pattern(self, node):
        """Return that the images depend smoothly on the rows alone."""
        return [[False], [True], [False], [False]]

    def pullback(self, inputs, outputs, cotangents):
        rows = Images2Neibs(self.mode)(cotangents[0], *inputs[2:])
        return [disconnected_type(), rows, disconnected_type(), disconnected_type()]

    def pushforward(self, inputs, outputs, tangents):
        if isinstance(tangents[1].type, DisconnectedType):
            return [disconnected_type()]
        return [self(inputs[0], tangents[1], *inputs[2:])]
