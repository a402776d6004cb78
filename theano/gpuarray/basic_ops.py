"""Moving values between the host and devices within a graph."""

from collections import deque
from collections.abc import Hashable
from typing import Any

import numpy as np
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.tensor import TensorLike
from pytensor.tensor.type import TensorType

import theano.tensor as T
from theano.gpuarray.contexts import ContextNotDefined, get_context
from theano.gpuarray.cuda_kernels import CGpuKernelBase, GpuKernelBase, Kernel
from theano.gpuarray.device_arrays import on_device
from theano.gpuarray.type import GpuArrayConstant, GpuArrayType
from theano.pytensor_internals.graphs.shapes import shape_rule

__all__ = [
    "CGpuKernelBase",
    "GpuAllocEmpty",
    "GpuFromHost",
    "GpuKernelBase",
    "GpuToGpu",
    "HostFromGpu",
    "Kernel",
    "as_gpuarray_variable",
    "gpu_contiguous",
    "gpu_from_host",
    "host_from_gpu",
    "infer_context_name",
]


class _Transfer(Op):
    """Moves a value; its elements stay as they are."""

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return input_shapes

    def connection_pattern(self, node):
        return [[True]]

    def do_constant_folding(self, fgraph, node):
        # the result is on a device, or taken from it when the function runs
        return False

    def pushforward(self, inputs, outputs, tangents):
        return [_as_type_of(t, v) for t, v in zip(tangents, outputs, strict=True)]

    def pullback(self, inputs, outputs, cotangents):
        return [_as_type_of(c, v) for c, v in zip(cotangents, inputs, strict=True)]


def _as_type_of(derivative: Variable, variable: Variable) -> Any:
    """Move a derivative to where the variable is that it belongs to."""
    if isinstance(derivative.type, DisconnectedType):
        return disconnected_type()
    if isinstance(variable.type, GpuArrayType):
        return as_gpuarray_variable(derivative, variable.type.context_name)
    return T.as_tensor_variable(derivative)


class HostFromGpu(_Transfer):
    """Takes a value from a device to the host."""

    __props__ = ()

    def make_node(self, x):
        if not isinstance(x.type, GpuArrayType):
            raise TypeError(f"HostFromGpu: a variable on a device is needed; got {x.type}")
        return Apply(self, [x], [x.type.on_host()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.array(inputs[0])


class _ToContext(_Transfer):
    """Takes a value to the device of a context."""

    __props__ = ("context_name",)
    source: type
    needed: str

    def __init__(self, context_name: Hashable):
        self.context_name = context_name

    def make_node(self, x):
        if not isinstance(x.type, self.source):
            raise TypeError(f"{type(self).__name__}: {self.needed} is needed; got {x.type}")
        return Apply(self, [x], [GpuArrayType(x.dtype, x.type.shape, self.context_name)()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = on_device(inputs[0], get_context(self.context_name).device)


class GpuFromHost(_ToContext):
    """Takes a value from the host to the device of a context.

    Parameters
    ----------
    context_name : str or None
    """

    source, needed = TensorType, "a tensor"


class GpuToGpu(_ToContext):
    """Takes a value from one device to that of a context.

    Parameters
    ----------
    context_name : str or None
    """

    source, needed = GpuArrayType, "a variable on a device"


host_from_gpu = HostFromGpu()


def gpu_from_host(context_name: Hashable) -> GpuFromHost:
    """Return the operator that takes values from the host to a context."""
    return GpuFromHost(context_name)


def as_gpuarray_variable(x: Any, context_name: Hashable) -> Any:
    """Return `x` as a variable on the device of a context.

    Parameters
    ----------
    x : Variable, array or number
        A variable is moved; what it was moved from before is used, where that is there already.
    context_name : str or None
        Name of the context.

    Returns
    -------
    GpuArrayVariable or GpuArrayConstant

    Raises
    ------
    ContextNotDefined
        When no device is mapped to the name.
    TypeError
        When `x` cannot be on a device.
    """
    get_context(context_name)
    if not isinstance(x, Variable):
        array = x if hasattr(x, "devices") else np.asarray(x)
        shape = tuple(1 if length == 1 else None for length in array.shape)
        kind = GpuArrayType(str(array.dtype), shape, context_name)
        return GpuArrayConstant(kind, kind.filter(array))
    source: Any = x
    while True:
        if isinstance(source.type, GpuArrayType) and source.type.context_name == context_name:
            return source
        if source.owner is None or not isinstance(source.owner.op, _Transfer):
            break
        source = source.owner.inputs[0]
    if isinstance(x.owner and x.owner.op, HostFromGpu):
        x = x.owner.inputs[0]
    if isinstance(x.type, GpuArrayType):
        return GpuToGpu(context_name)(x)
    return GpuFromHost(context_name)(T.as_tensor_variable(x))


# Variables on devices have methods that move them.
GpuArrayType.host_from_gpu = host_from_gpu
GpuArrayType.as_gpuarray_variable = staticmethod(as_gpuarray_variable)


def infer_context_name(*variables: Any) -> Hashable:
    """Return the name of the context in which variables are, or else the default context's.

    Parameters
    ----------
    *variables : Variable
        The first one that is on a device, or computed from it alone, decides.

    Returns
    -------
    str or None

    Raises
    ------
    ValueError
        When none is on a device and there is no default context.
    """
    pending = deque(variables)
    while pending:
        variable = pending.popleft()
        if isinstance(variable.type, GpuArrayType):
            return variable.type.context_name
        if hasattr(variable.tag, "context_name"):
            return variable.tag.context_name
        if variable.owner is not None and len(variable.owner.inputs) == 1:
            pending.extend(variable.owner.inputs)
    try:
        get_context(None)
    except ContextNotDefined as error:
        raise ValueError("Could not infer context from inputs") from error
    return None


def gpu_contiguous(x: TensorLike) -> Any:
    """Return `x` on its device; arrays there always lie in one piece.

    Parameters
    ----------
    x : Variable

    Returns
    -------
    GpuArrayVariable
    """
    return as_gpuarray_variable(x, infer_context_name(x))


class GpuAllocEmpty(Op):
    """Makes an array on a device whose elements may be anything; here they are 0.

    Parameters
    ----------
    dtype : str
    context_name : str or None
    """

    __props__ = ("dtype", "context_name")

    def __init__(self, dtype: str, context_name: Hashable):
        self.dtype, self.context_name = str(dtype), context_name

    def make_node(self, *lengths):
        lengths = [T.as_tensor_variable(length) for length in lengths]
        if any(length.ndim or not length.dtype.startswith(("int", "uint")) for length in lengths):
            raise TypeError("GpuAllocEmpty: each length should be an integer scalar")
        return Apply(
            self, lengths, [GpuArrayType(self.dtype, (None,) * len(lengths), self.context_name)()]
        )

    def perform(self, node, inputs, output_storage):
        shape = tuple(int(length) for length in inputs)
        output_storage[0][0] = node.outputs[0].type.value_zeros(shape)

    @shape_rule
    def infer_shape(self, node, input_shapes):
        return [node.inputs]

    def connection_pattern(self, node):
        return [[False] for _ in node.inputs]

    def do_constant_folding(self, fgraph, node):
        return False
