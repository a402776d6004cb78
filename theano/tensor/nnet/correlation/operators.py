"""Correlations of batches of images with filters, in two and three dimensions, and their gradients.

An image has shape (B, C, *lengths), filters (F, C / groups, *sizes), and the result (B, F, *counts).
Filters that are not shared have shape (F, *counts, C / groups, *sizes): one for each window. The
filters are not turned around, as they are in a convolution.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.scalar.basic import upcast
from pytensor.tensor.basic import get_underlying_scalar_constant_value
from pytensor.tensor.type import TensorType, discrete_dtypes
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_base.graphs.shapes import shape_rule
from theano.tensor.nnet.correlation import geometry
from theano.tensor.nnet.correlation.in_numpy import (
    Windows,
    correlate,
    gradient_of_filters,
    gradient_of_image,
)
from theano.tensor.nnet.correlation.shapes import Shapes

__all__ = [
    "BaseCorr3dMM",
    "BaseCorrMM",
    "Corr3dMM",
    "Corr3dMM_gradInputs",
    "Corr3dMM_gradWeights",
    "CorrMM",
    "CorrMM_gradInputs",
    "CorrMM_gradWeights",
    "Correlation",
]


class Correlation(Op):
    """A correlation, or one of its two gradients, which are linear in both of their operands.

    Parameters
    ----------
    border_mode : {'valid', 'full', 'half'}, int, or tuple of int and pairs of int
        How many zeros are put around an image: none, one less than a filter's extent, half of it,
        or a number; for each dimension, or before and after each.
    subsample : tuple of int
        The distance from one window to the next.
    filter_dilation : tuple of int
        The distance of neighbours in a window.
    num_groups : int
        How many groups of channels are correlated on their own.
    unshared : bool
        Whether each window has filters of its own.

    Raises
    ------
    ValueError
        An option that is not one of those above.

    Attributes
    ----------
    rank : int
        How many dimensions windows have, 2 or 3.
    direction : {'forward', 'weights', 'inputs'}
        Whether it is the correlation, or its gradient by the filters or by the images.
    """

    rank: ClassVar[int]
    direction: ClassVar[str]
    # the operator of each direction with the same rank
    directions: ClassVar[dict[str, type["Correlation"]]]
    border_mode: geometry.BorderMode

    def __init__(
        self,
        border_mode: Any,
        subsample: Any,
        filter_dilation: Any,
        num_groups: int,
        unshared: bool,
    ):
        name = type(self).__name__
        self.border_mode = geometry.checked_border_mode(border_mode, self.rank, name)
        self.subsample = geometry.checked_steps(subsample, self.rank, "subsample", name)
        self.filter_dilation = geometry.checked_steps(
            filter_dilation, self.rank, "filter_dilation", name
        )
        if num_groups < 1:
            raise ValueError(f"{name}: expected num_groups of at least 1, got {num_groups}")
        self.num_groups = int(num_groups)
        self.unshared = bool(unshared)

    def borders(self, extents: Sequence[Any]) -> list[tuple[Any, Any]]:
        """The zeros before and after each dimension, for filters of these dilated extents."""
        return geometry.borders(self.border_mode, extents)

    def sibling(self, direction: str) -> "Correlation":
        """The operator of another direction with the same options."""
        options = {name: getattr(self, name) for name in self.__props__}
        return self.directions[direction](**options)

    @property
    def filter_rank(self) -> int:
        """How many dimensions filters have."""
        return 2 + self.rank * (2 if self.unshared else 1)

    def _operands(self, **operands: tuple[Any, int]) -> list[TensorVariable]:
        """Operands by their names, with the rank that each must have, in one dtype."""
        tensors = {name: pt.as_tensor_variable(value) for name, (value, _) in operands.items()}
        for name, (_, rank) in operands.items():
            if tensors[name].ndim != rank:
                raise TypeError(
                    f"{type(self).__name__}: expected {name} of {rank} dimensions, "
                    f"got {tensors[name].type}"
                )
        dtype = upcast(*(tensor.dtype for tensor in tensors.values()))
        return [tensor.astype(dtype) for tensor in tensors.values()]

    def _lengths(self, shape: Any, needed: bool) -> list[TensorVariable]:
        """The lengths in `shape` as integer scalars; none where they need not be given."""
        name = type(self).__name__
        if shape is None:
            if needed:
                raise ValueError(
                    f"{name}: expected shape to be given, as it does not follow from the operands "
                    f"with subsample {self.subsample} and border_mode {self.border_mode!r}"
                )
            return []
        lengths = [pt.as_tensor_variable(shape[axis]) for axis in range(self.rank)]
        for length in lengths:
            if length.ndim or length.dtype not in discrete_dtypes:
                raise TypeError(f"{name}: expected integer scalars in shape, got {length.type}")
        return [length.astype("int64") for length in lengths]

    def _shapes(self, inputs: Sequence[Any], shapes: Sequence[Sequence[Any]]) -> Shapes:
        """All shapes that take part, for inputs whose first two have these shapes."""
        return Shapes.of(self, shapes[0], shapes[1], inputs[2:])

    def _made(self, inputs: Sequence[TensorVariable]) -> Apply:
        known = Shapes.of(
            self,
            *(variable.type.shape for variable in inputs[:2]),
            [_known_integer(length) for length in inputs[2:]],
        )
        # where no window fits, the error comes when the shapes are checked
        lengths = [None if n is not None and n < 0 else n for n in known.output]
        output = TensorType(inputs[0].dtype, shape=lengths)()
        return Apply(self, list(inputs), [output])

    @shape_rule
    def infer_shape(self, node, shapes):
        """Return the shape of the output, from those of the operands."""
        return [self._shapes(node.inputs, shapes).output]

    def connection_pattern(self, node):
        """Return that only the operands have gradients, not the lengths."""
        return [[True], [True], *[[False]] * len(node.inputs[2:])]

    def pushforward(self, inputs, outputs, tangents):
        """Return the tangent: the output is linear in either operand."""
        first, second, *lengths = inputs
        shape = lengths or None
        terms = [
            self._apply(*operands, shape)
            for operands, tangent in (
                ((tangents[0], second), tangents[0]),
                ((first, tangents[1]), tangents[1]),
            )
            if not isinstance(tangent.type, DisconnectedType)
        ]
        return [pt.add(*terms) if len(terms) > 1 else terms[0] if terms else disconnected_type()]

    def _apply(self, first: Any, second: Any, shape: Any) -> TensorVariable:
        return self(first, second) if shape is None else self(first, second, shape)

    def _windows(self, inputs: Sequence[np.ndarray]) -> tuple[Windows, Shapes]:
        shapes = self._shapes(
            [None, None, *(int(length) for length in inputs[2:])],
            [operand.shape for operand in inputs[:2]],
        )
        shapes.check()
        return shapes.windows(), shapes


def _known_integer(length: TensorVariable) -> int | None:
    """The value of a scalar, if it is a constant."""
    value = get_underlying_scalar_constant_value(length, raise_not_constant=False)
    return None if isinstance(value, Variable) else int(value)


def lengths_of(x: TensorVariable, rank: int) -> list[Any]:
    """The last `rank` lengths of a tensor: integers as far as its type says them."""
    first = x.ndim - rank
    known = x.type.shape[first:]
    return [x.shape[first + axis] if n is None else n for axis, n in enumerate(known)]


class _Forward(Correlation):
    """A correlation of images with filters."""

    direction = "forward"
    # the result is as large as the shapes of the operands say, whatever is in them
    sized_by_operands = True

    def make_node(self, img, kern):
        """Apply it to images (B, C, *lengths) and filters (F, C / groups, *sizes)."""
        return self._made(self._operands(img=(img, 2 + self.rank), kern=(kern, self.filter_rank)))

    def perform(self, node, inputs, output_storage):
        windows, _ = self._windows(inputs)
        output_storage[0][0] = np.ascontiguousarray(correlate(windows, *inputs))

    def pullback(self, inputs, outputs, cotangents):
        """Return the gradients of the images and of the filters."""
        image, filters = inputs
        (topgrad,) = cotangents
        of_image, of_filters = self.sibling("inputs"), self.sibling("weights")
        return [
            of_image(filters, topgrad, lengths_of(image, self.rank)),
            of_filters(image, topgrad, lengths_of(filters, self.rank)),
        ]


class _GradientOfFilters(Correlation):
    """The gradient of a correlation by the filters."""

    direction = "weights"

    def make_node(self, img, topgrad, shape=None):
        """Apply it to images, the gradient by the result, and the sizes of the filters.

        The sizes may be left out where windows are next to one another and `border_mode` is not
        ``half``.
        """
        rank = 2 + self.rank
        operands = self._operands(img=(img, rank), topgrad=(topgrad, rank))
        needed = any(step > 1 for step in self.subsample) or self.border_mode == "half"
        return self._made([*operands, *self._lengths(shape, needed)])

    def perform(self, node, inputs, output_storage):
        windows, _ = self._windows(inputs)
        gradient = gradient_of_filters(windows, *inputs[:2])
        output_storage[0][0] = np.ascontiguousarray(gradient)

    def pullback(self, inputs, outputs, cotangents):
        """Return the gradients of the images and of the gradient by the result."""
        image, topgrad, *lengths = inputs
        (filters,) = cotangents
        of_image = self.sibling("inputs")(filters, topgrad, lengths_of(image, self.rank))
        of_topgrad = self.sibling("forward")(image, filters)
        return [of_image, of_topgrad, *[disconnected_type() for _ in lengths]]


class _GradientOfImages(Correlation):
    """The gradient of a correlation by the images."""

    direction = "inputs"

    def make_node(self, kern, topgrad, shape=None):
        """Apply it to filters, the gradient by the result, and the lengths of the images.

        The lengths may be left out where windows are next to one another.
        """
        operands = self._operands(kern=(kern, self.filter_rank), topgrad=(topgrad, 2 + self.rank))
        needed = any(step > 1 for step in self.subsample)
        return self._made([*operands, *self._lengths(shape, needed)])

    def perform(self, node, inputs, output_storage):
        windows, shapes = self._windows(inputs)
        gradient = gradient_of_image(windows, *inputs[:2], shapes.image)
        output_storage[0][0] = np.ascontiguousarray(gradient)

    def pullback(self, inputs, outputs, cotangents):
        """Return the gradients of the filters and of the gradient by the result."""
        filters, topgrad, *lengths = inputs
        (image,) = cotangents
        of_filters = self.sibling("weights")(image, topgrad, lengths_of(filters, self.rank))
        of_topgrad = self.sibling("forward")(image, filters)
        return [of_filters, of_topgrad, *[disconnected_type() for _ in lengths]]


class BaseCorrMM(Correlation):
    """A correlation in two dimensions; ``openmp`` is taken as Theano took it: engines use threads."""

    rank = 2
    __props__ = ("border_mode", "subsample", "filter_dilation", "num_groups", "unshared")

    def __init__(
        self,
        border_mode: Any = "valid",
        subsample: Sequence[int] = (1, 1),
        filter_dilation: Sequence[int] = (1, 1),
        num_groups: int = 1,
        unshared: bool = False,
        openmp: bool | None = None,
    ):
        super().__init__(border_mode, subsample, filter_dilation, num_groups, unshared)


class CorrMM(BaseCorrMM, _Forward):
    """Correlate images (B, C, H, W) with filters (F, C / groups, KH, KW)."""


class CorrMM_gradWeights(BaseCorrMM, _GradientOfFilters):
    """The gradient of `CorrMM` by the filters."""


class CorrMM_gradInputs(BaseCorrMM, _GradientOfImages):
    """The gradient of `CorrMM` by the images."""


BaseCorrMM.directions = {
    "forward": CorrMM,
    "weights": CorrMM_gradWeights,
    "inputs": CorrMM_gradInputs,
}


class BaseCorr3dMM(Correlation):
    """A correlation in three dimensions; all windows share the filters."""

    rank = 3
    __props__ = ("border_mode", "subsample", "filter_dilation", "num_groups")

    def __init__(
        self,
        border_mode: Any = "valid",
        subsample: Sequence[int] = (1, 1, 1),
        filter_dilation: Sequence[int] = (1, 1, 1),
        openmp: bool | None = None,
        num_groups: int = 1,
    ):
        super().__init__(border_mode, subsample, filter_dilation, num_groups, unshared=False)


class Corr3dMM(BaseCorr3dMM, _Forward):
    """Correlate volumes (B, C, D, H, W) with filters (F, C / groups, KD, KH, KW)."""


class Corr3dMM_gradWeights(BaseCorr3dMM, _GradientOfFilters):
    """The gradient of `Corr3dMM` by the filters."""


class Corr3dMM_gradInputs(BaseCorr3dMM, _GradientOfImages):
    """The gradient of `Corr3dMM` by the volumes."""


BaseCorr3dMM.directions = {
    "forward": Corr3dMM,
    "weights": Corr3dMM_gradWeights,
    "inputs": Corr3dMM_gradInputs,
}
