"""Correlations of batches of images with filters, in two and three dimensions, and their gradients.

An image has shape (B, C, *lengths), filters (F, C / groups, *sizes), and the result (B, F, *counts).
Filters that are not shared have shape (F, *counts, C / groups, *sizes): one for each window. The
filters are not turned around, as they are in a convolution.
"""

from collections.abc import Sequence

from theano.tensor.nnet.correlation.filtering import ByFilters, ByImages, Filtering, Forward

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


class Correlation(Filtering):
    """A correlation, or one of its two gradients.

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
        Whether each window has its own filters.
    openmp : bool, optional
        Taken for Theano's sake: whether threads share the work is the engine's to say.

    Raises
    ------
    ValueError
        An option that is not one of those above.
    """


class BaseCorrMM(Correlation):
    """A correlation in two dimensions."""

    rank = 2
    __props__ = ("border_mode", "subsample", "filter_dilation", "num_groups", "unshared")

    def __init__(
        self,
        border_mode: object = "valid",
        subsample: Sequence[int] = (1, 1),
        filter_dilation: Sequence[int] = (1, 1),
        num_groups: int = 1,
        unshared: bool = False,
        openmp: bool | None = None,
    ):
        self._set_options(border_mode, subsample, filter_dilation, num_groups, unshared)


class CorrMM(BaseCorrMM, Forward):
    """Correlate images (B, C, H, W) with filters (F, C / groups, KH, KW)."""


class CorrMM_gradWeights(BaseCorrMM, ByFilters):
    """The gradient of `CorrMM` by the filters."""


class CorrMM_gradInputs(BaseCorrMM, ByImages):
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
        border_mode: object = "valid",
        subsample: Sequence[int] = (1, 1, 1),
        filter_dilation: Sequence[int] = (1, 1, 1),
        openmp: bool | None = None,
        num_groups: int = 1,
    ):
        self._set_options(border_mode, subsample, filter_dilation, num_groups, unshared=False)


class Corr3dMM(BaseCorr3dMM, Forward):
    """Correlate volumes (B, C, D, H, W) with filters (F, C / groups, KD, KH, KW)."""


class Corr3dMM_gradWeights(BaseCorr3dMM, ByFilters):
    """The gradient of `Corr3dMM` by the filters."""


class Corr3dMM_gradInputs(BaseCorr3dMM, ByImages):
    """The gradient of `Corr3dMM` by the volumes."""


BaseCorr3dMM.directions = {
    "forward": Corr3dMM,
    "weights": Corr3dMM_gradWeights,
    "inputs": Corr3dMM_gradInputs,
}
