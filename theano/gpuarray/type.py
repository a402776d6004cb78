"""Variables whose values a device holds."""

import copy
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.type import HasDataType, HasShape, Type
from pytensor.tensor import as_tensor_variable as pytensor_as_tensor_variable
from pytensor.tensor.type import TensorType
from pytensor.tensor.variable import TensorConstantSignature

from theano.compile.calls.locks import lock_of, reading, writing
from theano.compile.sharedvalue import SharedVariable
from theano.gpuarray.contexts import (
    Context,
    ContextNotDefined,
    _unreg_context,
    get_context,
    list_contexts,
    reg_context,
)
from theano.gpuarray.device_arrays import on_device
from theano.gpuarray.pickling import GpuArray_unpickler
from theano.pytensor_internals.operations.tensor import TensorOperators, as_tensor_variable_of_class

__all__ = [
    "ContextNotDefined",
    "GpuArrayConstant",
    "GpuArraySharedVariable",
    "GpuArrayType",
    "GpuArrayVariable",
    "GpuArray_unpickler",
    "_unreg_context",
    "get_context",
    "gpu_supported",
    "gpuarray_shared_constructor",
    "list_contexts",
    "move_to_gpu",
    "on_device",
    "reg_context",
]


class GpuArrayType(Type, HasDataType, HasShape):
    """The type of arrays that a device holds.

    Parameters
    ----------
    dtype : str
        Type of the elements.
    broadcastable : sequence of bool, or of int or None
        For each dimension whether its length is always 1; or its length, or None.
    context_name : str, optional
        Where the values are; None is the context of the flag `device`.
    name : str, optional
        A name for printing.

    Raises
    ------
    ContextNotDefined
        When no device is mapped to the name.
    TypeError
        When devices do not hold the dtype.
    """

    # What takes a variable to the host and to a device: set where these operators are defined.
    host_from_gpu: ClassVar[Any]
    as_gpuarray_variable: ClassVar[Callable]

    __props__ = ("dtype", "shape", "context_name")

    def __init__(self, dtype, broadcastable, context_name=None, name=None):
        get_context(context_name)
        # what is known of tensors' dtypes and shapes holds here, too
        same = TensorType(dtype, tuple(broadcastable))
        if not gpu_supported(same):
            raise TypeError(f"Unsupported dtype for {type(self).__name__}: {same.dtype}")
        self.dtype, self.numpy_dtype = same.dtype, same.numpy_dtype
        self.shape, self.broadcastable, self.ndim = same.shape, same.broadcastable, same.ndim
        self.context_name = context_name
        self.name = name

    @property
    def context(self) -> Context:
        """The context of the values."""
        return get_context(self.context_name)

    @property
    def device(self) -> Any:
        """The device of JAX that holds the values."""
        return self.context.device

    @property
    def on_host(self) -> TensorType:
        """The type of the same arrays on the host."""
        return TensorType(self.dtype, self.shape)

    def clone(self, dtype=None, broadcastable=None, shape=None, **kwargs) -> "GpuArrayType":
        """Return the type with another dtype or shape, of the same context."""
        shape = next((s for s in (shape, broadcastable) if s is not None), self.shape)
        return type(self)(dtype or self.dtype, shape, self.context_name, self.name)

    def filter(self, data, strict=False, allow_downcast=None):
        """Return a value as this type's arrays are, or raise TypeError."""
        if not _is_on_device(data):
            if strict:
                raise TypeError(f"{self} expected an array on a device (got {type(data)})")
            data = self.on_host.filter(data, strict=False, allow_downcast=allow_downcast)
            # what the caller changes later must not change the value
            return on_device(np.array(data), self.device)
        if data.dtype != self.numpy_dtype:
            return self.filter(np.asarray(data), strict, allow_downcast)
        if data.ndim != self.ndim or any(
            want not in (None, length) for want, length in zip(self.shape, data.shape, strict=False)
        ):
            raise TypeError(f"{self} expected the shape {self.shape}, got {data.shape}")
        if data.devices() == {self.device}:
            return data
        if strict:
            raise TypeError(f"{self} expected an array on {self.device}, got {data.devices()}")
        return on_device(data, self.device)

    def filter_variable(self, other, allow_convert=True):
        """Return a variable of this type for a variable or a value, moved here if needed."""
        if not isinstance(other, Variable):
            return self.constant_type(type=self, data=self.filter(other))
        if other.type == self:
            return other
        kind: Any = other.type
        if not isinstance(kind, TensorType | GpuArrayType):
            raise TypeError(f"Incompatible types: {self} and {kind}")
        if (kind.dtype, kind.ndim) != (self.dtype, self.ndim):
            raise TypeError(
                f"Incompatible types: {self.dtype} with {self.ndim} dimensions and "
                f"{kind.dtype} with {kind.ndim}"
            )
        if kind.shape != self.shape:
            if not allow_convert:
                raise TypeError(f"Incompatible shapes: {self.shape} and {kind.shape}")
            other = self.on_host.filter_variable(pytensor_as_tensor_variable(other))
        moved = self.as_gpuarray_variable(other, self.context_name)
        if moved.type != self:
            moved = self.as_gpuarray_variable(_with_shape_of(self, moved), self.context_name)
        return moved

    def convert_variable(self, var):
        """Return a variable of this type for one of a narrower or wider shape, or None."""
        same_place = isinstance(var.type, GpuArrayType) and (
            var.type.context_name == self.context_name
        )
        return self.filter_variable(var) if same_place else None

    def is_super(self, otype):
        """Return whether values of another type are values of this one."""
        return (
            isinstance(otype, GpuArrayType)
            and otype.context_name == self.context_name
            and self.on_host.is_super(otype.on_host)
        )

    def value_zeros(self, shape):
        """Return zeros on the device."""
        return on_device(np.zeros(shape, self.dtype), self.device)

    @staticmethod
    def values_eq(a, b, force_same_dtype=True):
        """Return whether two arrays have the same shape and elements."""
        return TensorType.values_eq(np.asarray(a), np.asarray(b), force_same_dtype)

    @staticmethod
    def values_eq_approx(
        a, b, allow_remove_inf=False, allow_remove_nan=False, rtol=None, atol=None
    ):
        """Return whether two arrays have the same shape and nearly the same elements."""
        return TensorType.values_eq_approx(
            np.asarray(a), np.asarray(b), allow_remove_inf, allow_remove_nan, rtol, atol
        )

    @staticmethod
    def may_share_memory(a, b):
        """Return whether two values may be the same memory: never is one part of another."""
        return a is b

    def __repr__(self) -> str:
        if self.name:
            return self.name
        return f"GpuArrayType<{self.context_name}>({self.dtype}, {self.shape})"

    __str__ = __repr__


def _with_shape_of(kind: GpuArrayType, variable: Variable) -> Variable:
    """Return the variable, on the host, with no more known of its shape than the type says."""
    host = kind.host_from_gpu.make_node(variable)
    host.outputs[0].type = kind.on_host
    return host.outputs[0]


def _is_on_device(value: object) -> bool:
    from theano.link.xla.context import is_traced

    return is_traced(value)


def gpu_supported(data: Any) -> bool:
    """Return whether devices hold arrays of the dtype of `data`; they do not hold complex ones.

    Parameters
    ----------
    data : array or Variable
        What has a dtype.

    Returns
    -------
    bool
    """
    return not str(data.dtype).startswith("complex")


def move_to_gpu(data: Any) -> bool:
    """Return whether data goes to a device by itself: not if it is complex or a scalar.

    Parameters
    ----------
    data : array or Variable
        What has a dtype and a number of dimensions.

    Returns
    -------
    bool
    """
    return gpu_supported(data) and data.ndim > 0


class _Operators(TensorOperators):
    """Methods of tensors, on the variable as the host sees it."""

    def _as_TensorVariable(self):
        return self.type.host_from_gpu(self)

    def _as_GpuArrayVariable(self, context_name):
        return self.type.as_gpuarray_variable(self, context_name)


class GpuArrayVariable(_Operators, Variable):
    """A variable whose values a device holds; it has the operations of tensors."""


class GpuArrayConstant(_Operators, Constant):
    """A constant that a device holds."""

    def signature(self):
        """Return what constants of equal values have in common."""
        return TensorConstantSignature((self.type, np.asarray(self.data)))


class GpuArraySharedVariable(_Operators, SharedVariable):
    """A variable with a value that a device holds and that functions read and update."""

    def get_value(self, borrow=False, return_internal_type=False):
        """Return the value.

        Parameters
        ----------
        borrow : bool
            Whether the device's array may be the variable's own.
        return_internal_type : bool
            Whether to return the device's array, a ``jax.Array``, and not NumPy's.

        Returns
        -------
        array
        """
        with lock_of(reading(self.container.storage)):
            value = self.container.value
            if not return_internal_type:
                return np.array(value)
            return value if borrow else copy.deepcopy(value)

    def set_value(self, new_value, borrow=False):
        """Replace the value.

        Parameters
        ----------
        new_value : array
            NumPy's or the device's.
        borrow : bool
            Whether a device's array may become the variable's own.
        """
        new_value = new_value if borrow else copy.deepcopy(new_value)
        with lock_of(writing(self.container.storage)):
            self.container.value = new_value


GpuArrayType.variable_type = GpuArrayVariable
GpuArrayType.constant_type = GpuArrayConstant


def _as_tensor(x, name, ndim, **kwargs):
    return pytensor_as_tensor_variable(x._as_TensorVariable(), name, ndim, **kwargs)


for _kind in (GpuArrayVariable, GpuArrayConstant, GpuArraySharedVariable):
    as_tensor_variable_of_class.register(_kind, _as_tensor)


class _NotGiven:
    """The default of an argument for which None has a meaning."""


notset = _NotGiven()


def gpuarray_shared_constructor(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
    broadcastable: object = None,
    target: Any = notset,
) -> GpuArraySharedVariable:
    """Make a variable with a value that a device holds.

    Parameters
    ----------
    value : array
        The first value.
    name : str, optional
        Name of the variable.
    strict : bool, optional
        Whether values set later must be on the device already.
    allow_downcast : bool, optional
        Whether values set later may lose precision.
    borrow : bool, optional
        Whether a device's array may become the variable's own.
    broadcastable : sequence of bool, optional
        Which dimensions always have length 1; by default none.
    target : str, optional
        Name of the context; by default the one of the flag `device`. Only if it is named does
        a scalar go to the device.

    Returns
    -------
    GpuArraySharedVariable

    Raises
    ------
    TypeError
        When the value is no array, or is not one that devices hold, or there is no default
        context and none was named.
    ContextNotDefined
        When no device is mapped to `target`.
    """
    if target == "cpu":
        raise TypeError("gpuarray_shared_constructor: the target 'cpu' is not a device's")
    if not isinstance(value, np.ndarray) and not hasattr(value, "devices"):
        raise TypeError(f"gpuarray_shared_constructor: an array is needed; got {type(value)}")
    if isinstance(target, _NotGiven):
        target = None
        if not gpu_supported(value):
            raise TypeError(f"devices do not hold arrays of {value.dtype}")
        if not move_to_gpu(value):
            raise TypeError("a scalar goes to a device only if `target` names its context")
    try:
        get_context(target)
    except ContextNotDefined as error:
        # a constructor that is not for this value says so by a TypeError
        if target is None:
            raise TypeError("No default context and no context specified") from error
        raise
    if broadcastable is None:
        broadcastable = (False,) * value.ndim
    kind = GpuArrayType(str(value.dtype), broadcastable, context_name=target)
    given = kind.filter(value if borrow else copy.deepcopy(value), allow_downcast=allow_downcast)
    return GpuArraySharedVariable(
        type=kind, value=given, name=name, strict=strict, allow_downcast=allow_downcast
    )
