"""Variables whose value lives between calls of the functions that use them."""

from collections.abc import Callable, Sequence
from typing import Any

from pytensor.compile.sharedvalue import SharedVariable, shared_constructor
from pytensor.compile.sharedvalue import shared as pytensor_shared
from pytensor.link.basic import Container
from pytensor.link.c.type import generic

__all__ = [
    "Container",
    "SharedVariable",
    "generic",
    "register_constructor",
    "shared",
    "shared_constructor",
]

# For the types of values that Theano holds and PyTensor refuses.
_constructors: dict[type, Callable[..., SharedVariable]] = {}


def register_constructor(kind: type, constructor: Callable[..., SharedVariable]) -> None:
    """Let `shared` make variables of values of type `kind` by `constructor`."""
    _constructors[kind] = constructor


def shared(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    broadcastable: Sequence[bool] | None = None,
    target: str | None = None,
    **kwargs: Any,
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
        Where the value lives: 'cpu'.
    **kwargs
        For the constructor of the value's type: ``borrow=True`` uses an array without a copy.

    Returns
    -------
    SharedVariable

    Raises
    ------
    TypeError
        When `value` is symbolic.
    ValueError
        When `target` is not there.

    Examples
    --------
    >>> import numpy as np
    >>> import theano
    >>> w = theano.shared(np.zeros((2, 3), dtype="float32"), name="w")
    >>> w.get_value().shape
    (2, 3)
    """
    if target not in (None, "cpu"):
        raise ValueError(f"shared: no target {target!r}; this version computes on 'cpu' only")
    if broadcastable:
        kwargs["shape"] = tuple(1 if one else None for one in broadcastable)
    constructor = _constructors.get(type(value), pytensor_shared)
    return constructor(value, name=name, strict=strict, allow_downcast=allow_downcast, **kwargs)
