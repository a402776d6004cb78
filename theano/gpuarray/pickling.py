"""Reading the arrays of devices that Theano pickled."""

import warnings
from collections.abc import Hashable
from typing import Any

import numpy as np

from theano.configdefaults import config
from theano.gpuarray.contexts import get_context
from theano.gpuarray.device_arrays import on_device

__all__ = ["GpuArray_unpickler"]


def GpuArray_unpickler(npa: np.ndarray, ctx_name: Hashable) -> Any:
    """Return a pickled array on the device of the context that it was on.

    Parameters
    ----------
    npa : array
        The elements.
    ctx_name : str or None
        Name of the context.

    Returns
    -------
    array
        On the host where the flag `experimental.unpickle_gpu_on_cpu` is set.

    Raises
    ------
    ContextNotDefined
        When no device is mapped to the name.
    """
    if config.experimental.unpickle_gpu_on_cpu:
        warnings.warn(
            "config.experimental.unpickle_gpu_on_cpu is set to True. Unpickling GpuArray as "
            "numpy.ndarray",
            stacklevel=2,
        )
        return npa
    return on_device(npa, get_context(ctx_name).device)
