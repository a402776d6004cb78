"""Images filtered by windows: the base of correlations and convolutions, and of their gradients.

An image has shape (B, C, *lengths), filters (F, C / groups, *sizes), and the result (B, F, *counts).
Filters that are not shared have shape (F, *counts, C / groups, *sizes): one for each window.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytensor.tensor as pt
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.scalar.basic import upcast
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import get_underlying_scalar_constant_value
from pytensor.tensor.type import TensorType, discrete_dtypes
from pytensor.tensor.variable import TensorVariable

from theano.pytensor_internals.graphs.annotations import known_tensor
from theano.pytensor_internals.graphs.shapes import shape_rule
from theano.tensor.nnet.correlation import geometry
from theano.tensor.nnet.correlation.in_numpy import (
    correlate,
    gradient_of_filters,
    gradient_of_image,
)
from theano.tensor.nnet.correlation.shapes import Shapes

__all__ = ["ByFilters", "ByImages", "Filtering", "Forward"]


class Filtering(Op):
    """Images filtered by windows, or one of the gradients; linear in both of its operands.

    Attributes
    ----------
    rank : int
        How many dimensions windows have, 2 or 3.
    direction : {'forward', 'weights', 'inputs'}
        Whether it is the result, or its gradient by the filters or by the images.
    border_mode : {'valid', 'full', 'half'}, or tuple of pairs of int
        How many zeros are put around an image: none, one less than a filter's extent, half of it,
        or so many before and after each dimension.
    subsample, filter_dilation : tuple of int
        The distance from one window to the next, and of neighbours in a window.
    num_groups : int
        How many groups of channels are filtered on their own.
    unshared : bool
        Whether each window has its own filters.
    """

    __props__: tuple[str, ...]
    rank: int
    direction: ClassVar[str]
    # the operator of each direction that has the same options
    directions: ClassVar[dict[str, type["Filtering"]]]
    # properties that are not options but what the class is for
    fixed: ClassVar[tuple[str, ...]] = ()

    def _set_options(
        self,
        border_mode: object,
        subsample: object,
        filter_dilation: object,
        num_groups: int,
        unshared: bool,
    ) -> None:
        """Check the options, and keep them."""
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

    def applied(self, first: object, second: object, shape_inputs: Sequence[Any]) -> TensorVariable:
        """Return the result for other operands, with what a node has of a shape that is given."""
        return known_tensor(
            self(first, second, *([self._lengths(shape_inputs)] if shape_inputs else []))
        )

    def of_any_batch(self) -> "Filtering":
        """Return the operator with the same options for any number of images."""
        return self

    def borders(self, extents: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Return the zeros before and after each dimension, for filters of these dilated extents."""
        return geometry.borders(self.border_mode, extents)

    def sibling(self, direction: str, **changed: object) -> "Filtering":
        """Return the operator of another direction with the same options, but for those that change."""
        names = set(self.__props__).difference(self.fixed)
        options = {name: getattr(self, name) for name in names}
        return self.directions[direction](**options | changed)

    @property
    def filter_rank(self) -> int:
        """Return how many dimensions filters have."""
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

    def _shape_inputs(self, shape: Any, needed: bool) -> list[TensorVariable]:
        """Return what a node has of a `shape` that is given: the lengths as integer scalars."""
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

    def _lengths(self, shape_inputs: Sequence[Any]) -> list[Any]:
        """Return the lengths that are given by the inputs of a node after its operands."""
        return list(shape_inputs)

    def _turned(self, filters: TensorLike) -> Any:
        """Return the filters as they are multiplied with windows."""
        return filters

    def _known(self, output: Sequence[int | None]) -> list[int | None]:
        """Return what the type of the output says of a shape, as far as it is known."""
        # where no window fits, the error comes when the shapes are checked
        return [None if n is not None and n < 0 else n for n in output]

    def _made(self, inputs: Sequence[TensorVariable]) -> Apply:
        known = Shapes.of(
            self,
            inputs[0].type.shape,
            inputs[1].type.shape,
            [_known_integer(length) for length in self._lengths(inputs[2:])],
        )
        output = TensorType(inputs[0].dtype, shape=self._known(known.output))()
        return Apply(self, list(inputs), [output])

    @shape_rule
    def infer_shape(self, node, shapes):
        """Return the shape of the output, from those of the operands."""
        return [Shapes.of(self, *shapes[:2], self._lengths(node.inputs[2:])).output]

    def connection_pattern(self, node):
        """Return that only the operands have gradients, not the lengths."""
        return [[True], [True], *[[False]] * len(node.inputs[2:])]

    def pushforward(self, inputs, outputs, tangents):
        """Return the tangent: the output is linear in either operand."""
        first, second, *shape = inputs
        terms = [
            self.applied(*operands, shape)
            for operands, tangent in (
                ((tangents[0], second), tangents[0]),
                ((first, tangents[1]), tangents[1]),
            )
            if not isinstance(tangent.type, DisconnectedType)
        ]
        return [pt.add(*terms) if len(terms) > 1 else terms[0] if terms else disconnected_type()]

    def fitting_shapes(self, inputs: Sequence[Any]) -> Shapes:
        """Return the shapes of all that takes part, for arrays as inputs; ValueError if they do not fit."""
        lengths = [int(length) for length in self._lengths(inputs[2:])]
        shapes = Shapes.of(self, inputs[0].shape, inputs[1].shape, lengths)
        shapes.check()
        return shapes


def _known_integer(length: TensorVariable) -> int | None:
    """Return the value of a scalar, if it is a constant."""
    value = get_underlying_scalar_constant_value(length, raise_not_constant=False)
    return None if isinstance(value, Variable) else int(value)


def _lengths_of(x: TensorVariable, rank: int) -> list[Any]:
    """Return the last `rank` lengths of a tensor: integers as far as its type says them."""
    first = x.ndim - rank
    known = x.type.shape[first:]
    return [x.shape[first + axis] if n is None else n for axis, n in enumerate(known)]


class Forward(Filtering):
    """The result for images and filters."""

    direction = "forward"

    def make_node(self, img, kern):
        """Apply it to images (B, C, *lengths) and filters (F, C / groups, *sizes)."""
        return self._made(self._operands(img=(img, 2 + self.rank), kern=(kern, self.filter_rank)))

    def perform(self, node, inputs, output_storage):
        image, filters = inputs
        windows = self.fitting_shapes(inputs).windows()
        result = correlate(windows, image, self._turned(filters))
        output_storage[0][0] = np.ascontiguousarray(result)

    def pullback(self, inputs, outputs, cotangents):
        """Return the gradients of the images and of the filters."""
        image, filters = inputs
        (topgrad,) = cotangents
        by_images, by_filters = self.sibling("inputs"), self.sibling("weights")
        return [
            by_images(filters, topgrad, _lengths_of(image, self.rank)),
            by_filters(image, topgrad, _lengths_of(filters, self.rank)),
        ]


class ByFilters(Filtering):
    """The gradient by the filters."""

    direction = "weights"

    def make_node(self, img, topgrad, shape=None):
        """Apply it to images, the gradient by the result, and the sizes of the filters.

        The sizes may be left out where windows are next to one another and `border_mode` is not
        ``half``.
        """
        rank = 2 + self.rank
        operands = self._operands(img=(img, rank), topgrad=(topgrad, rank))
        needed = any(step > 1 for step in self.subsample) or self.border_mode == "half"
        return self._made([*operands, *self._shape_inputs(shape, needed)])

    def perform(self, node, inputs, output_storage):
        windows = self.fitting_shapes(inputs).windows()
        filters = self._turned(gradient_of_filters(windows, *inputs[:2]))
        output_storage[0][0] = np.ascontiguousarray(filters)

    def pullback(self, inputs, outputs, cotangents):
        """Return the gradients of the images and of the gradient by the result."""
        image, topgrad, *shape = inputs
        (filters,) = cotangents
        of_image = self.sibling("inputs")(filters, topgrad, _lengths_of(image, self.rank))
        of_topgrad = self.sibling("forward")(image, filters)
        return [
            of_image,
            of_topgrad,
            *[disconnected_type() for _ in shape],
        ]


class ByImages(Filtering):
    """The gradient by the images."""

    direction = "inputs"

    def make_node(self, kern, topgrad, shape=None):
        """Apply it to filters, the gradient by the result, and the lengths of the images.

        The lengths may be left out where windows are next to one another.
        """
        operands = self._operands(kern=(kern, self.filter_rank), topgrad=(topgrad, 2 + self.rank))
        needed = any(step > 1 for step in self.subsample)
        return self._made([*operands, *self._shape_inputs(shape, needed)])

    def perform(self, node, inputs, output_storage):
        filters, topgrad = inputs[:2]
        shapes = self.fitting_shapes(inputs)
        image = gradient_of_image(shapes.windows(), self._turned(filters), topgrad, shapes.image)
        output_storage[0][0] = np.ascontiguousarray(image)

    def pullback(self, inputs, outputs, cotangents):
        """Return the gradients of the filters and of the gradient by the result."""
        filters, topgrad, *shape = inputs
        (image,) = cotangents
        of_filters = self.sibling("weights")(image, topgrad, _lengths_of(filters, self.rank))
        of_topgrad = self.sibling("forward")(image, filters)
        return [
            of_filters,
            of_topgrad,
            *[disconnected_type() for _ in shape],
        ]
