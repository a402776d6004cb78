"""Variables whose value lives between calls of the functions that use them."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pytensor.compile.ops import ViewOp
from pytensor.compile.sharedvalue import SharedVariable, shared_constructor
from pytensor.compile.sharedvalue import shared as pytensor_shared
from pytensor.graph.basic import Apply
from pytensor.tensor.sharedvar import TensorSharedVariable as PyTensorSharedVariable

from theano.compile.calls.locks import lock_of, reading, writing
from theano.gof.instances import including_instances_of
from theano.link.background import wait_for_background
from theano.link.device_cells import bring_home, copy_on_device, is_on_device, on_host
from theano.pytensor_internals.functions.c_code import generic
from theano.pytensor_internals.functions.compiling import default_update_of, set_default_update
from theano.pytensor_internals.functions.linking import Container
from theano.support.formatting.values import described

__all__ = [
    "Container",
    "SharedVariable",
    "TensorSharedVariable",
    "generic",
    "register_constructor",
    "shared",
    "shared_constructor",
]


@including_instances_of(PyTensorSharedVariable)
class TensorSharedVariable(PyTensorSharedVariable):
    """A tensor whose value lives between calls of functions; `shared` makes it.

    Where functions run on a device, the value stays there from call to call.
    """

    # What lets an engine leave the value on its device
    keeps_device_values = True

    def get_value(self, borrow=False, return_internal_type=False):
        """Return the value.

        Parameters
        ----------
        borrow : bool
            Whether NumPy's array may be the variable's own memory; of a value on a device, a copy
            is returned in any case.
        return_internal_type : bool
            Whether to return a value that is on a device as the device's array, a ``jax.Array``.

        Returns
        -------
        array
        """
        wait_for_background()
        with lock_of(reading(self.container.storage)):
            value = self.container.storage[0]
            if not is_on_device(value):
                return super().get_value(borrow, return_internal_type)
            return copy_on_device(value) if return_internal_type else on_host(value)

    def set_value(self, new_value, borrow=False):
        """Replace the value, in all functions that use the variable.

        Parameters
        ----------
        new_value : array
            NumPy's or a device's; it is converted to the variable's type.
        borrow : bool
            Whether NumPy's array may become the variable's own memory.

        Raises
        ------
        TypeError
            If the value has another number of dimensions, or a dtype that loses precision.
        """
        if is_on_device(new_value):
            new_value, borrow = on_host(new_value), True
        new_value = new_value if borrow else copy.deepcopy(new_value)
        wait_for_background()
        try:
            with lock_of(writing(self.container.storage)):
                super().set_value(new_value, borrow=True)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"shared variable {self.name or 'without a name'}: expected {self.type}, got"
                f" {described(new_value)}. {_advice(error.args[0], self.type, new_value)}"
            ) from None

    def zero(self, borrow=False):
        """Replace the value by zeros of the same shape; with `borrow` in the same memory."""
        with lock_of(writing(self.container.storage)):
            bring_home([self.container.storage])
            super().zero(borrow)

    def __getstate__(self):
        # what is pickled can be read where there is no such device
        with lock_of(writing(self.container.storage)):
            bring_home([self.container.storage])
            return super().__getstate__()

    @property
    def default_update(self):
        """Return what the functions that use the variable replace its value by, unless they are given updates."""
        return default_update_of(self)

    @default_update.setter
    def default_update(self, value):
        if value is not None:
            value = self.type.filter_variable(value, allow_convert=True)
            if not self.type.is_super(value.type):
                raise TypeError(f"default_update: expected {self.type}, got {value.type}")
            if value.type != self.type:
                # PyTensor takes the variable's own type only, though this one says more
                value = Apply(ViewOp(), [value], [self.type()]).outputs[0]
        set_default_update(self, value)

    @default_update.deleter
    def default_update(self):
        set_default_update(self, None)


def _advice(reason: str, expected: Any, value: Any) -> str:
    """Return why a value is refused, with what helps here where PyTensor speaks of function inputs."""
    reason, of_inputs, _ = reason.partition(" If you do not mind this loss")
    if not of_inputs:
        return reason
    if np.iscomplexobj(value):
        return f"{reason} Store value.real, or make the shared variable one of {value.dtype}."
    return f"{reason} If you do not mind this loss, store value.astype({expected.dtype!r})."


# For the types of values that Theano holds and PyTensor refuses.
_constructors: dict[type, Callable[..., SharedVariable]] = {}


def register_constructor(kind: type, constructor: Callable[..., SharedVariable]) -> None:
    """Let `shared` make variables of values of type `kind` by `constructor`."""
    _constructors[kind] = constructor


# What makes variables on other targets than the processor, as a function that loads it.
_of_targets: list[Callable[[], Callable[..., SharedVariable]]] = []


def register_targets(constructor: Callable[[], Callable[..., SharedVariable]]) -> None:
    """Let `shared` make variables on targets by what `constructor` returns when it is needed."""
    _of_targets[:] = [constructor]


def shared(
    value: object,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    broadcastable: Sequence[bool] | None = None,
    target: str | None = None,
    **kwargs: object,
) -> Any:
    """Make a variable with a value that functions read and update.

    Parameters
    ----------
    value : array, number or anything
        The first value; an array or a number gives a tensor of its dtype and dimensions.
    name : str, optional
        Name of the variable.
    strict : bool, optional
        Whether values set later must have exactly the variable's type.
    allow_downcast : bool, optional
        Whether values set later may lose precision.
    broadcastable : sequence of bool, optional
        For an array, which dimensions always have length 1; by default none.
    target : str, optional
        Where the value lives: 'cpu', or the name of a context, a device's.
    **kwargs
        For the constructor of the value's type: ``borrow=True`` uses an array without a copy.

    Returns
    -------
    SharedVariable

    Raises
    ------
    TypeError
        When `value` is symbolic.
    ContextNotDefined
        When no device is mapped to `target`.

    Examples
    --------
    >>> import numpy as np
    >>> import theano
    >>> w = theano.shared(np.zeros((2, 3), dtype="float32"), name="w")
    >>> w.get_value().shape
    (2, 3)
    """
    if target not in (None, "cpu"):
        value = np.asarray(value) if isinstance(value, int | float | np.generic) else value
        return _of_targets[0]()(
            value,
            name,
            strict,
            allow_downcast,
            broadcastable=broadcastable,
            target=target,
            **kwargs,
        )
    if broadcastable:
        kwargs["shape"] = tuple(1 if one else None for one in broadcastable)
    constructor = _constructors.get(type(value), pytensor_shared)
    made = constructor(value, name=name, strict=strict, allow_downcast=allow_downcast, **kwargs)
    if type(made) is not PyTensorSharedVariable:
        return made
    # With a container, PyTensor takes neither a value nor whether it is strict.
    no_value: Any = None
    variable = TensorSharedVariable(made.type, no_value, no_value, None, made.container, made.name)
    variable.tag, variable.auto_name = made.tag, made.auto_name
    return variable
