"""Pooling, its gradients and its tangents, as Theano's operators.

All work over the last dimensions, and have the windows' shape, their distance and what is put
around as vectors among their operands.
"""

from __future__ import annotations

from typing import Any

import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.tensor.signal.pooling import in_numpy
from theano.tensor.signal.pooling.arguments import (
    check_padding,
    checked_mode,
    items_of,
    known_counts,
    window_variables,
)
from theano.tensor.signal.pooling.geometry import Windows, shape_of_windows
from theano.tensor.signal.pooling.older_names import out_shape

__all__ = [
    "AveragePoolGrad",
    "DownsampleFactorMaxGradGrad",
    "MaxPoolGrad",
    "MaxPoolRop",
    "Pool",
    "PoolGrad",
]


class OverWindows(Op):
    """The base of operators over windows: arrays first, then ws, stride and pad.

    Parameters
    ----------
    ignore_border : bool
        Whether to leave out windows that reach over the border.
    mode : {'max', 'sum', 'average_inc_pad', 'average_exc_pad'}
    ndim : int
        How many of the last dimensions the windows have.
    """

    __props__: tuple[str, ...] = ("ignore_border", "mode", "ndim")
    # how many arrays come before ws, stride and pad
    arrays = 1

    def __init__(self, ignore_border: bool = False, mode: str = "max", ndim: int = 2):
        self.ignore_border = bool(ignore_border)
        self.mode = checked_mode(type(self).__name__, mode)
        self.ndim = ndim

    def _operands(self, arrays: Any, ws: object, stride: Any, pad: object) -> tuple[list, list]:
        name = type(self).__name__
        variables = [pt.as_tensor_variable(array) for array in arrays]
        for variable in variables:
            if variable.ndim < self.ndim or variable.ndim != variables[0].ndim:
                raise TypeError(
                    f"{name}: expected arrays of one number of dimensions, at least {self.ndim}, "
                    f"got {[one.type for one in variables]}"
                )
        return variables, window_variables(name, ws, stride, pad, self.ndim)

    def _pooled_type(self, x: TensorVariable, vectors: list, dtype: str) -> TensorType:
        counts = known_counts(
            type(self).__name__,
            x,
            vectors,
            self.ndim,
            ignore_border=self.ignore_border,
            may_be_empty=self.windows_may_be_empty,
        )
        return TensorType(dtype, shape=(*x.type.shape[: x.ndim - self.ndim], *counts))

    def windows(self, inputs: Any) -> Windows:
        """Return where the windows lie, given the values of all operands.

        Raises
        ------
        ValueError
            Numbers that are no windows, or another array whose shape does not fit.
        """
        x, vectors = inputs[0], inputs[self.arrays :]
        sizes, steps, pads = vectors
        return Windows.over(
            type(self).__name__,
            x.shape[x.ndim - self.ndim :],
            sizes,
            steps,
            pads,
            ignore_border=self.ignore_border,
            may_be_empty=self.windows_may_be_empty,
        )

    @property
    def windows_may_be_empty(self) -> bool:
        """Return whether what is computed is known for a window of which no element is in the image."""
        return self.mode in ("sum", "average_inc_pad")

    def check_pooled(self, what: str, pooled: Any, x: Any, windows: Windows) -> None:
        """Raise ValueError unless an array has a number for each window of `x`."""
        shape = (*x.shape[: x.ndim - self.ndim], *windows.counts)
        if pooled.shape != shape:
            raise ValueError(
                f"{type(self).__name__}: expected {what} of shape {shape}, got {pooled.shape}"
            )

    def check_alongside(self, values: Any, x: Any) -> None:
        """Raise ValueError unless `values` has the shape of `x`."""
        if values.shape != x.shape:
            raise ValueError(
                f"{type(self).__name__}: expected values of shape {x.shape}, got {values.shape}"
            )

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        """Return that the result depends smoothly on the arrays alone."""
        return [[position < self.arrays] for position in range(len(node.inputs))]

    def _gradients(self, *gradients: object) -> list[Any]:
        return [*gradients, *(disconnected_type() for _ in range(3))]


def _is_connected(variable: Variable) -> bool:
    return not isinstance(variable.type, DisconnectedType)


class Pool(OverWindows):
    """The greatest element, the sum or the mean of each window.

    Parameters
    ----------
    ignore_border : bool
        Whether to leave out windows that reach over the border.
    mode : {'max', 'sum', 'average_inc_pad', 'average_exc_pad'}
        A mean may include or exclude what was put around; the others exclude it.
    ndim : int
        How many of the last dimensions are pooled.
    openmp : bool, optional
        Given by Theano programs; the engines decide on threads themselves.

    Raises
    ------
    ValueError
        Another mode.
    """

    out_shape = staticmethod(out_shape)

    def __init__(
        self,
        ignore_border: bool = False,
        mode: str = "max",
        ndim: int = 2,
        openmp: bool | None = None,
    ):
        super().__init__(ignore_border, mode, ndim)

    def make_node(self, x, ws, stride=None, pad=None):
        check_padding("Pool", ws, pad, self.ignore_border)
        [x], vectors = self._operands([x], ws, stride, pad)
        return Apply(self, [x, *vectors], [self._pooled_type(x, vectors, x.dtype)()])

    def perform(self, node, inputs, output_storage):
        x, windows = inputs[0], self.windows(inputs)
        if self.mode == "max":
            result = in_numpy.maximum(x, windows)
        elif self.mode == "sum":
            result = in_numpy.total(x, windows)
        else:
            result = in_numpy.mean(x, windows, self.mode == "average_inc_pad")
        output_storage[0][0] = result

    @shape_rule
    def infer_shape(self, node, shapes):
        numbers = [items_of(vector, self.ndim) for vector in node.inputs[1:]]
        return [tuple(shape_of_windows(shapes[0], *numbers, self.ignore_border))]

    def pullback(self, inputs, outputs, cotangents):
        x, *vectors = inputs
        if self.mode == "max":
            gradient = MaxPoolGrad(self.ignore_border, self.ndim)
            return self._gradients(gradient(x, outputs[0], cotangents[0], *vectors))
        average = AveragePoolGrad(self.ignore_border, self.mode, self.ndim)
        return self._gradients(average(x, cotangents[0], *vectors))

    def pushforward(self, inputs, outputs, tangents):
        x, *vectors = inputs
        if not _is_connected(tangents[0]):
            return [disconnected_type()]
        if self.mode != "max":
            return [self(tangents[0], *vectors)]
        selected = DownsampleFactorMaxGradGrad(self.ignore_border, self.mode, self.ndim)
        return [selected(x, outputs[0], tangents[0], *vectors)]


class PoolGrad(OverWindows):
    """The base of the gradients of pooling, which have the shape of the first array."""

    # Results are as large as the shapes of the operands say, whatever is in the operands.
    sized_by_operands = True
    out_shape = staticmethod(out_shape)

    def __init__(
        self, ignore_border: bool, mode: str = "max", ndim: int = 2, openmp: bool | None = None
    ):
        super().__init__(ignore_border, mode, ndim)

    @shape_rule
    def infer_shape(self, node, shapes):
        return [shapes[0]]


class MaxPoolGrad(PoolGrad):
    """The gradient of the greatest elements: each goes to all elements that are equal to it.

    It is given the images, the greatest elements, and the gradient with respect to these.
    """

    arrays = 3

    def __init__(self, ignore_border: bool, ndim: int = 2, openmp: bool | None = None):
        super().__init__(ignore_border, "max", ndim)

    def make_node(self, x, maxout, gz, ws, stride=None, pad=None):
        arrays, vectors = self._operands([x, maxout, gz], ws, stride, pad)
        return Apply(self, [*arrays, *vectors], [arrays[0].type()])

    def perform(self, node, inputs, output_storage):
        x, maxout, gz = inputs[:3]
        windows = self.windows(inputs)
        self.check_pooled("maxout", maxout, x, windows)
        self.check_pooled("gz", gz, x, windows)
        output_storage[0][0] = in_numpy.to_greatest(x, maxout, gz, windows)

    def pullback(self, inputs, outputs, cotangents):
        x, maxout, _, *vectors = inputs
        selected = DownsampleFactorMaxGradGrad(self.ignore_border, ndim=self.ndim)
        of_gz = selected(x, maxout, cotangents[0], *vectors)
        return self._gradients(pt.zeros_like(x), pt.zeros_like(maxout), of_gz)

    def pushforward(self, inputs, outputs, tangents):
        if not _is_connected(tangents[2]):
            return [pt.zeros_like(inputs[0])]
        return [self(inputs[0], inputs[1], tangents[2], *inputs[3:])]


class AveragePoolGrad(PoolGrad):
    """The gradient of sums or means, from the images and the gradient with respect to these."""

    arrays = 2

    def __init__(self, ignore_border: bool, mode: str = "average_inc_pad", ndim: int = 2):
        if mode == "max":
            raise AssertionError("AveragePoolGrad: expected a sum or an average, got mode 'max'")
        super().__init__(ignore_border, mode, ndim)

    def make_node(self, x, gz, ws, stride=None, pad=None, dummy=None):
        arrays, vectors = self._operands([x, gz], ws, stride, pad)
        return Apply(self, [*arrays, *vectors], [arrays[0].type()])

    def perform(self, node, inputs, output_storage):
        x, gz = inputs[:2]
        windows = self.windows(inputs)
        self.check_pooled("gz", gz, x, windows)
        if self.mode != "sum":
            counted = windows.counted(with_padding=self.mode == "average_inc_pad")
            gz = gz / counted.astype(gz.dtype if gz.dtype.kind == "f" else "float64")
        output_storage[0][0] = in_numpy.to_all(x, gz, windows)

    def pullback(self, inputs, outputs, cotangents):
        x, _, *vectors = inputs
        of_gz = Pool(self.ignore_border, self.mode, self.ndim)(cotangents[0], *vectors)
        return self._gradients(pt.zeros_like(x), of_gz)

    def pushforward(self, inputs, outputs, tangents):
        if not _is_connected(tangents[1]):
            return [pt.zeros_like(inputs[0])]
        return [self(inputs[0], tangents[1], *inputs[2:])]


class DownsampleFactorMaxGradGrad(OverWindows):
    """The sum, for each window, of values at the elements that are equal to its greatest.

    It is given the images, the greatest elements, and the values, which are as many as the
    images' elements: the gradient of `MaxPoolGrad`, and the tangent of `Pool`.
    """

    arrays = 3
    # Results are as large as the shapes of the operands say, whatever is in the operands.
    sized_by_operands = True

    def __init__(
        self, ignore_border: bool, mode: str = "max", ndim: int = 2, openmp: bool | None = None
    ):
        if mode != "max":
            raise AssertionError(f"DownsampleFactorMaxGradGrad: expected mode 'max', got {mode!r}")
        super().__init__(ignore_border, mode, ndim)

    def make_node(self, x, maxout, gz, ws, stride=None, pad=None):
        check_padding("DownsampleFactorMaxGradGrad", ws, pad, self.ignore_border)
        arrays, vectors = self._operands([x, maxout, gz], ws, stride, pad)
        kind = TensorType(arrays[0].dtype, shape=arrays[1].type.shape)
        return Apply(self, [*arrays, *vectors], [kind()])

    def perform(self, node, inputs, output_storage):
        x, maxout, values = inputs[:3]
        windows = self.windows(inputs)
        self.check_pooled("maxout", maxout, x, windows)
        self.check_alongside(values, x)
        output_storage[0][0] = in_numpy.of_greatest(x, maxout, values, windows)

    @shape_rule
    def infer_shape(self, node, shapes):
        return [shapes[1]]

    def pullback(self, inputs, outputs, cotangents):
        x, maxout, _, *vectors = inputs
        of_values = MaxPoolGrad(self.ignore_border, self.ndim)(x, maxout, cotangents[0], *vectors)
        return self._gradients(pt.zeros_like(x), pt.zeros_like(maxout), of_values)

    def pushforward(self, inputs, outputs, tangents):
        if not _is_connected(tangents[2]):
            return [pt.zeros_like(inputs[1])]
        return [self(inputs[0], inputs[1], tangents[2], *inputs[3:])]


class MaxPoolRop(OverWindows):
    """The value at the first of the greatest elements of each window.

    It is given the images, and the values, which are as many as the images' elements.
    """

    arrays = 2

    def __init__(
        self,
        ignore_border: bool = False,
        mode: str = "max",
        ndim: int = 2,
        openmp: bool | None = None,
    ):
        if mode != "max":
            raise AssertionError(f"MaxPoolRop: expected mode 'max', got {mode!r}")
        super().__init__(ignore_border, mode, ndim)

    def make_node(self, x, eval_point, ws, stride=None, pad=None):
        check_padding("MaxPoolRop", ws, pad, self.ignore_border)
        [x, values], vectors = self._operands([x, eval_point], ws, stride, pad)
        return Apply(self, [x, values, *vectors], [self._pooled_type(x, vectors, values.dtype)()])

    def perform(self, node, inputs, output_storage):
        x, values = inputs[:2]
        self.check_alongside(values, x)
        output_storage[0][0] = in_numpy.at_first_greatest(x, values, self.windows(inputs))

    @shape_rule
    def infer_shape(self, node, shapes):
        numbers = [items_of(vector, self.ndim) for vector in node.inputs[2:]]
        return [tuple(shape_of_windows(shapes[0], *numbers, self.ignore_border))]
