"""Convolutions and their gradients as operators that no engine knows: rewrites turn them into some.

The rewrites are in `theano.tensor.nnet.abstract_conv.rewrites`. In a mode without them, NumPy
computes what the operators say.
"""

from collections.abc import Sequence
from typing import Any

import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import get_underlying_scalar_constant_value
from pytensor.tensor.type import discrete_dtypes
from pytensor.tensor.variable import TensorVariable

from theano.tensor.nnet.abstract_conv.shapes import assert_shape
from theano.tensor.nnet.correlation.filtering import ByFilters, ByImages, Filtering, Forward
from theano.tensor.nnet.correlation.operators import (
    BaseCorr3dMM,
    BaseCorrMM,
)

__all__ = [
    "AbstractConv",
    "AbstractConv2d",
    "AbstractConv2d_gradInputs",
    "AbstractConv2d_gradWeights",
    "AbstractConv3d",
    "AbstractConv3d_gradInputs",
    "AbstractConv3d_gradWeights",
    "AbstractConv_gradInputs",
    "AbstractConv_gradWeights",
    "BaseAbstractConv",
]

_CORRELATIONS = {2: BaseCorrMM.directions, 3: BaseCorr3dMM.directions}


class BaseAbstractConv(Filtering):
    """A convolution, or one of its gradients.

    Parameters
    ----------
    convdim : {2, 3}
        How many dimensions windows have.
    imshp, kshp : tuple of int, constants or None, optional
        The shapes of images and filters as far as they are known. They are checked if the flag
        ``conv.assert_shape`` is set.
    border_mode, subsample, filter_flip, filter_dilation, num_groups, unshared
        As for `theano.tensor.nnet.conv2d`, with as many numbers as windows have dimensions.

    Raises
    ------
    ValueError
        An option that is not one of those above.
    NotImplementedError
        Filters in three dimensions that are not shared.
    """

    __props__ = (
        "convdim",
        "border_mode",
        "subsample",
        "filter_flip",
        "imshp",
        "kshp",
        "filter_dilation",
        "num_groups",
        "unshared",
    )

    def __init__(
        self,
        convdim: int,
        imshp: object = None,
        kshp: object = None,
        border_mode: object = "valid",
        subsample: Sequence[int] | None = None,
        filter_flip: bool = True,
        filter_dilation: Sequence[int] | None = None,
        num_groups: int = 1,
        unshared: bool = False,
    ):
        name = type(self).__name__
        if convdim not in _CORRELATIONS:
            raise ValueError(f"{name}: expected a convdim of 2 or 3, got {convdim}")
        if unshared and convdim != 2:
            raise NotImplementedError(
                f"{name}: filters that are not shared have two dimensions, not {convdim}"
            )
        self.rank = self.convdim = convdim
        ones = (1,) * convdim
        self._set_options(
            border_mode,
            ones if subsample is None else subsample,
            ones if filter_dilation is None else filter_dilation,
            num_groups,
            unshared,
        )
        self.border_mode = _as_written(self.border_mode)
        self.filter_flip = filter_flip
        self.imshp = _known_shape(imshp, 2 + convdim, f"{name}: imshp")
        self.kshp = _known_shape(kshp, self.filter_rank, f"{name}: kshp")

    def borders(self, extents: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Return the zeros before and after each dimension, for filters of these dilated extents."""
        return self.correlation().borders(extents)

    def of_any_batch(self) -> "Filtering":
        """Return the operator with the same options for any number of images."""
        return self.sibling(self.direction, imshp=(None, *self.imshp[1:]))

    def correlation(self) -> Filtering:
        """Return the operator that does the same with filters that are turned around, if these are."""
        options = {
            "border_mode": self.border_mode,
            "subsample": self.subsample,
            "filter_dilation": self.filter_dilation,
            "num_groups": self.num_groups,
        }
        if self.unshared:
            options["unshared"] = True
        return _CORRELATIONS[self.rank][self.direction](**options)

    def turned(self, filters: Any) -> Any:
        """Return filters, or their gradient, as the correlation has them."""
        if not self.filter_flip:
            return filters
        return filters[(..., *(slice(None, None, -1),) * self.rank)]

    _turned = turned

    def _known(self, output: Sequence[int | None]) -> list[int | None]:
        """Return which lengths are 1, as in Theano: gradients then have the types of their variables."""
        return [n if n == 1 else None for n in output]

    def _shape_inputs(self, shape: Any, needed: bool) -> list[TensorVariable]:
        """Return what a node has of a `shape` that is given: a vector of integers."""
        shape = pt.as_tensor_variable(shape)
        if shape.ndim != 1 or shape.dtype not in discrete_dtypes:
            raise TypeError(
                f"{type(self).__name__}: expected a vector of integers as shape, got {shape.type}"
            )
        return [shape]

    def _lengths(self, shape_inputs: Sequence[Any]) -> list[Any]:
        """Return the lengths that are given by the inputs of a node after its operands."""
        return [shape[axis] for shape in shape_inputs for axis in range(self.rank)]

    def _images(self, img: TensorLike) -> Any:
        """Images, checked to have the declared shape."""
        message = f"{self._mismatch} image does not match given imshp."
        return assert_shape(pt.as_tensor_variable(img), self.imshp, message)

    def _filters(self, kern: TensorLike) -> Any:
        """Return filters, checked to have the declared shape."""
        message = f"{self._mismatch} filters does not match given kshp."
        return assert_shape(pt.as_tensor_variable(kern), self.kshp, message)

    @property
    def _mismatch(self) -> str:
        return f"{type(self).__name__} shape mismatch: shape of"


def _as_written(border_mode: Any) -> Any:
    """Return a border mode as Theano has it: numbers for equal sides, a name where there is nothing."""
    if isinstance(border_mode, str):
        return border_mode
    sides = [before if before == after else (before, after) for before, after in border_mode]
    return tuple(sides) if any(sides) else "valid"


def _known_shape(shape: Any, rank: int, name: str) -> tuple[int | None, ...]:
    """Return a declared shape, as integers and None."""
    if shape is None:
        return (None,) * rank
    if isinstance(shape, Variable) or len(shape) != rank:
        raise ValueError(f"{name} should be a tuple of {rank} integers, constants or None: {shape}")
    return tuple(_static_length(length, name) for length in shape)


def _static_length(length: object, name: str) -> int | None:
    if length is None:
        return None
    value = get_underlying_scalar_constant_value(
        length, only_process_constants=True, raise_not_constant=False
    )
    if isinstance(value, Variable):
        raise ValueError(f"{name} should be of integers, constants or None, got {length}")
    return int(value)


class AbstractConv(BaseAbstractConv, Forward):
    """Convolve images with filters."""

    def make_node(self, img, kern):
        """Apply it to images (B, C, *lengths) and filters (F, C / groups, *sizes)."""
        return super().make_node(self._images(img), self._filters(kern))


class AbstractConv_gradWeights(BaseAbstractConv, ByFilters):
    """The gradient of `AbstractConv` by the filters."""

    def make_node(self, img, topgrad, shape, add_assert_shape=True):
        """Apply it to images, the gradient by the result, and the sizes of the filters."""
        img = self._images(img) if add_assert_shape else img
        return super().make_node(img, topgrad, shape)


class AbstractConv_gradInputs(BaseAbstractConv, ByImages):
    """The gradient of `AbstractConv` by the images."""

    def make_node(self, kern, topgrad, shape, add_assert_shape=True):
        """Apply it to filters, the gradient by the result, and the lengths of the images."""
        kern = self._filters(kern) if add_assert_shape else kern
        return super().make_node(kern, topgrad, shape)


BaseAbstractConv.directions = {
    "forward": AbstractConv,
    "weights": AbstractConv_gradWeights,
    "inputs": AbstractConv_gradInputs,
}


class _Convolution2d(BaseAbstractConv):
    """A convolution in two dimensions."""

    fixed = ("convdim",)

    def __init__(
        self,
        imshp: object = None,
        kshp: object = None,
        border_mode: object = "valid",
        subsample: Sequence[int] = (1, 1),
        filter_flip: bool = True,
        filter_dilation: Sequence[int] = (1, 1),
        num_groups: int = 1,
        unshared: bool = False,
    ):
        super().__init__(
            2,
            imshp,
            kshp,
            border_mode,
            subsample,
            filter_flip,
            filter_dilation,
            num_groups,
            unshared,
        )


class AbstractConv2d(_Convolution2d, AbstractConv):
    """Convolve images (B, C, H, W) with filters (F, C / groups, KH, KW): see `conv2d`."""


class AbstractConv2d_gradWeights(_Convolution2d, AbstractConv_gradWeights):
    """The gradient of `AbstractConv2d` by the filters."""


class AbstractConv2d_gradInputs(_Convolution2d, AbstractConv_gradInputs):
    """The gradient of `AbstractConv2d` by the images."""


_Convolution2d.directions = {
    "forward": AbstractConv2d,
    "weights": AbstractConv2d_gradWeights,
    "inputs": AbstractConv2d_gradInputs,
}


class _Convolution3d(BaseAbstractConv):
    """A convolution in three dimensions."""

    fixed = ("convdim", "unshared")

    def __init__(
        self,
        imshp: object = None,
        kshp: object = None,
        border_mode: object = "valid",
        subsample: Sequence[int] = (1, 1, 1),
        filter_flip: bool = True,
        filter_dilation: Sequence[int] = (1, 1, 1),
        num_groups: int = 1,
    ):
        super().__init__(
            3, imshp, kshp, border_mode, subsample, filter_flip, filter_dilation, num_groups
        )


class AbstractConv3d(_Convolution3d, AbstractConv):
    """Convolve volumes (B, C, D, H, W) with filters (F, C / groups, KD, KH, KW): see `conv3d`."""


class AbstractConv3d_gradWeights(_Convolution3d, AbstractConv_gradWeights):
    """The gradient of `AbstractConv3d` by the filters."""


class AbstractConv3d_gradInputs(_Convolution3d, AbstractConv_gradInputs):
    """The gradient of `AbstractConv3d` by the volumes."""


_Convolution3d.directions = {
    "forward": AbstractConv3d,
    "weights": AbstractConv3d_gradWeights,
    "inputs": AbstractConv3d_gradInputs,
}
