"""Join and Split as Theano's are called: with the axis among the arguments of a call."""

from __future__ import annotations

from typing import Any

from pytensor.graph.op import Op
from pytensor.tensor import basic

from theano.pytensor_internals.since_3_3.computed_axes import JoinAlong, SplitAlong, is_computed


def join(axis: object, *tensors: object) -> Any:
    """Return the tensors joined along an axis, which may be computed; a tensor alone as it is."""
    if len(tensors) > 1 and is_computed(axis):
        return JoinAlong()(axis, *tensors)
    return basic.join(axis, *tensors)


def split(x: object, splits_size: Any, *, n_splits: int | None = None, axis: object = 0) -> Any:
    """Return the parts of a tensor along an axis, which may be computed."""
    if not is_computed(axis):
        return basic.split(x, splits_size, n_splits=n_splits, axis=axis)
    count = basic.get_vector_length(splits_size) if n_splits is None else n_splits
    return SplitAlong(count)(x, axis, splits_size)


class _Made(type(Op)):  # type: ignore[misc]
    """The class of a class whose instances are those of the operators that it makes, too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, other: type) -> bool:
        made = vars(cls).get("made", ())
        return super().__subclasscheck__(other) or not set(made).isdisjoint(other.__mro__)


class Join(JoinAlong, metaclass=_Made):
    """Joins tensors along an axis: ``Join()(axis, *tensors)``.

    Parameters
    ----------
    view : int
        Taken as Theano's is; whether a result shares memory with a tensor is the engine's choice.
    """

    __props__ = ()
    made = (basic.Join, JoinAlong)

    def __init__(self, view: int = -1):
        self.view = view

    def __call__(self, axis, *tensors, **kwargs):
        """Return the tensors joined, by an operator that holds the axis."""
        return join(axis, *tensors)

    def make_node(self, axis, *tensors):
        """Return the node that joins the tensors."""
        return self(axis, *tensors).owner

    def __str__(self) -> str:
        return "Join"


class Split(SplitAlong, metaclass=_Made):
    """Splits a tensor along an axis: ``Split(2)(tensor, axis, lengths)``.

    Parameters
    ----------
    len_splits : int
        How many parts there are.
    """

    __props__ = ("len_splits",)
    made = (basic.Split, SplitAlong)

    def __call__(self, tensor, axis, lengths, **kwargs):
        """Return the parts, by an operator that holds the axis."""
        return split(tensor, lengths, n_splits=self.len_splits, axis=axis)

    def make_node(self, tensor, axis, lengths):
        """Return the node that splits the tensor."""
        parts = self(tensor, axis, lengths)
        return (parts[0] if isinstance(parts, list | tuple) else parts).owner

    def __str__(self) -> str:
        return f"Split{{{self.len_splits}}}"
