"""Theano 1.0's `theano.gpuarray`: variables and computation on named devices.

The engine is `theano.link.xla`. The flags `device`, `contexts` and `init_gpu_device` say which
devices there are; they are mapped when this package is imported.
"""

from collections.abc import Hashable
from typing import Any

from pytensor.tensor import TensorLike
from pytensor.tensor.basic import register_transfer

from theano.gpuarray import dnn, lowering
from theano.gpuarray.basic_ops import (
    GpuAllocEmpty,
    GpuFromHost,
    GpuToGpu,
    HostFromGpu,
    as_gpuarray_variable,
    host_from_gpu,
)
from theano.gpuarray.contexts import list_contexts
from theano.gpuarray.devices import devices, init_dev, start_from_flags, use
from theano.gpuarray.type import (
    ContextNotDefined,
    GpuArrayConstant,
    GpuArraySharedVariable,
    GpuArrayType,
    GpuArrayVariable,
    get_context,
    gpuarray_shared_constructor,
    reg_context,
)
from theano.support.lazy_names import lazy_names

__all__ = [
    "ContextNotDefined",
    "GpuAllocEmpty",
    "GpuArrayConstant",
    "GpuArraySharedVariable",
    "GpuArrayType",
    "GpuArrayVariable",
    "GpuFromHost",
    "GpuToGpu",
    "HostFromGpu",
    "as_gpuarray_variable",
    "dnn",
    "get_context",
    "gpuarray_shared_constructor",
    "host_from_gpu",
    "init_dev",
    "list_contexts",
    "lowering",
    "pygpu_activated",
    "reg_context",
    "transfer",
    "use",
]


def transfer(x: TensorLike, target: Hashable) -> Any:
    """Return `x` on the device of a context: what ``x.transfer(target)`` calls.

    Parameters
    ----------
    x : Variable
    target : str
        Name of the context.

    Returns
    -------
    GpuArrayVariable

    Raises
    ------
    ContextNotDefined
        When no device is mapped to the name.
    """
    return as_gpuarray_variable(x, target)


# Only what the user transfers to a target that PyTensor does not know comes here.
register_transfer(transfer)
start_from_flags()


_LAZY = {
    "blas": ".blas",
    "ctc": ".ctc",
    "fft": ".fft",
    "linalg": ".linalg",
    "neighbours": ".neighbours",
    "nnet": ".nnet",
    "opt": ".opt",
    "pool": ".pool",
    "tests": ".tests",
}
_find, __dir__ = lazy_names(__name__, _LAZY)


def __getattr__(name: str) -> Any:
    # Whether a device is in use, by the name that programs ask for
    return bool(devices) if name == "pygpu_activated" else _find(name)
