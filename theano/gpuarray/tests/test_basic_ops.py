"""Helpers for values on devices, which programs take from Theano's test of this name."""

from typing import Any

import numpy as np

from theano.compile import function
from theano.configdefaults import config
from theano.gpuarray.device_arrays import on_device
from theano.gpuarray.tests.config import mode_with_gpu, mode_without_gpu, test_ctx_name
from theano.gpuarray.type import get_context, gpuarray_shared_constructor
from theano.tensor.sharedvar import tensor_constructor
from theano.tests import unittest_tools as utt

__all__ = [
    "fake_shared",
    "inplace_func",
    "mode_with_gpu",
    "mode_without_gpu",
    "rand",
    "rand_gpuarray",
    "rng",
    "test_ctx_name",
]

rng = np.random.RandomState(seed=utt.fetch_seed())


def inplace_func(inputs: Any, outputs: Any, mode: Any = None, **options: Any) -> Any:
    """Compile a graph that may hold operations in place, for a device if no mode is given."""
    return function(inputs, outputs, mode=mode or mode_with_gpu, accept_inplace=True, **options)


def fake_shared(value: object, name: str | None = None, **options: Any) -> Any:
    """Make a shared variable on the device, or on the host where its type has no place there."""
    try:
        return gpuarray_shared_constructor(value, name=name, **options)
    except TypeError:
        return tensor_constructor(np.asarray(value), name=name, **options)


def rand(*shape: int) -> np.ndarray:
    """Draw numbers between -1 and 1, as floatX."""
    return (rng.rand(*shape) * 2 - 1).astype(config.floatX)


def rand_gpuarray(*shape: int, dtype: str | None = None) -> Any:
    """Draw numbers between -1 and 1 on the device."""
    drawn = (rng.rand(*shape) * 2 - 1).astype(dtype or config.floatX)
    return on_device(drawn, get_context(test_ctx_name).device)
